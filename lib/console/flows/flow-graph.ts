// The graph to draw: rules between the parameters that they read and write, closed groups of rules between the connections to which these
// parameters belong, and connections between parameters that depend on each other, such as the start and the trigger of a timer.
import type { Way } from '../../model/reports/connection-status.ts';
import type { RuleStatus } from '../../model/reports/rule-status.ts';
import { keyOf, type RuleGroup, rulesIn } from './rule-groups.ts';

export type GraphNode =
  | { readonly kind: 'rule'; readonly id: string; readonly rule: string; readonly work: string }
  | { readonly kind: 'group'; readonly id: string; readonly group: string }
  | { readonly kind: 'parameter'; readonly id: string; readonly address: string }
  /**
   * A connection. `makes` identifies the parameters to which its way leads; undefined if the box stands for all parameters of the
   * connection.
   */
  | { readonly kind: 'connection'; readonly id: string; readonly connection: string; readonly makes?: string };

/**
 * A line from or to a rule, group or connection. `address` is the parameter whose values the line represents; undefined stands for several
 * parameters.
 */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly address: string | undefined;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Builds the graph of the rules in the given groups. Groups whose ids are in `open` are open; every other group is a single box. */
export function buildGraph(
  roots: readonly RuleGroup[],
  open: ReadonlySet<string>,
  ways: readonly Way[] = [],
  workOf: (rule: RuleStatus) => string = () => '',
): Graph {
  const shown: { node: GraphNode; rules: readonly RuleStatus[] }[] = [];
  const visit = (group: RuleGroup) => {
    if (!open.has(group.id)) {
      shown.push({ node: { kind: 'group', id: `g ${group.id}`, group: group.id }, rules: rulesIn(group) });
      return;
    }
    for (const rule of group.rules)
      shown.push({
        node: { kind: 'rule', id: `r ${keyOf(rule)}`, work: workOf(rule), rule: keyOf(rule) },
        rules: [rule],
      });
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
  addWays(ways, nodes, join, end);
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** Adds those ways to the graph that lead to parameters in the graph, together with boxes for the sources of these ways. */
function addWays(
  ways: readonly Way[],
  nodes: Map<string, GraphNode>,
  join: (from: GraphNode, to: GraphNode, address: string | undefined) => void,
  end: (address: string, isClosed: boolean) => GraphNode,
): void {
  const isDrawn = (address: string) => nodes.has(`p ${address}`);
  /**
   * The ways to draw, each with the parameters to which it leads. A way may lead to another way, so the search goes backwards from the
   * parameters in the graph.
   */
  const wanted: { way: Way; to: readonly string[] }[] = [];
  for (let found = true, rest = [...ways]; found; ) {
    const next = rest.filter(({ to }) => to.some(isDrawn));
    for (const way of next) {
      wanted.push({ way, to: way.to.filter(isDrawn) });
      for (const address of way.from) if (!address.startsWith(`${way.connection}/`)) end(address, false);
    }
    rest = rest.filter((way) => !next.includes(way));
    found = next.length > 0;
    if (found) continue;
    // the way ends here, for example at an alarm that nothing reads: the parameters that a connection computes only from its own parameters
    // are omitted
    const isInput = (way: Way) => (address: string) => isDrawn(address) && !address.startsWith(`${way.connection}/`);
    for (const way of rest) if (way.from.some(isInput(way))) wanted.push({ way, to: way.to.slice(0, 1) });
  }
  for (const { way, to } of wanted) {
    if (!way.from.some(isDrawn)) continue;
    const makes = to.map((address) => address.slice(way.connection.length + 1)).join(', ');
    const node: GraphNode = {
      kind: 'connection',
      id: `w ${way.connection} ${makes}`,
      connection: way.connection,
      makes,
    };
    nodes.set(node.id, node);
    for (const address of way.from) if (isDrawn(address)) join(end(address, false), node, address);
    for (const address of to) join(node, end(address, false), address);
  }
}
