// The graph to draw: rules between the parameters that they read and write, and closed groups of rules between the connections of
// those parameters.
import type { RuleStatus } from '../../model/reports/rule-status.ts';
import { keyOf, type RuleGroup, rulesIn } from './rule-groups.ts';

export type GraphNode =
  | { readonly kind: 'rule'; readonly id: string; readonly rule: string }
  | { readonly kind: 'group'; readonly id: string; readonly group: string }
  | { readonly kind: 'parameter'; readonly id: string; readonly address: string }
  | { readonly kind: 'connection'; readonly id: string; readonly connection: string };

/** A line from a source to a rule, or from a rule to a destination. `address` is its parameter; undefined: several. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly address: string | undefined;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Builds the graph. Groups with the ids in `open` are open; any other is one box. */
export function buildGraph(roots: readonly RuleGroup[], open: ReadonlySet<string>): Graph {
  const shown: { node: GraphNode; rules: readonly RuleStatus[] }[] = [];
  const visit = (group: RuleGroup) => {
    if (!open.has(group.id)) {
      shown.push({ node: { kind: 'group', id: `g ${group.id}`, group: group.id }, rules: rulesIn(group) });
      return;
    }
    for (const rule of group.rules)
      shown.push({ node: { kind: 'rule', id: `r ${keyOf(rule)}`, rule: keyOf(rule) }, rules: [rule] });
    group.groups.forEach(visit);
  };
  roots.forEach(visit);

  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  const end = (address: string, isClosed: boolean): GraphNode => {
    const connection = address.split('/', 1)[0]!;
    const node: GraphNode = isClosed
      ? { kind: 'connection', id: `c ${connection}`, connection }
      : { kind: 'parameter', id: `p ${address}`, address };
    if (!nodes.has(node.id)) nodes.set(node.id, node);
    return node;
  };
  const join = (from: GraphNode, to: GraphNode, address: string | undefined) => {
    edges.set(JSON.stringify([from.id, to.id]), { from: from.id, to: to.id, address });
  };
  for (const { node, rules } of shown) {
    const isClosed = node.kind === 'group';
    for (const address of rules.flatMap(({ from }) => from))
      join(end(address, isClosed), node, isClosed ? undefined : address);
    nodes.set(node.id, node);
    for (const address of rules.flatMap(({ to }) => to))
      join(node, end(address, isClosed), isClosed ? undefined : address);
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}
