// The layout of the graph: sources on the left, destinations on the right. Only this view loads the layout library.
import { Graph as DagreGraph, layout } from '@dagrejs/dagre';
import type { Graph, GraphEdge, GraphNode } from './flow-graph.ts';

export interface Box {
  readonly node: GraphNode;
  /** The centre of the box. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Line {
  readonly edge: GraphEdge;
  /** The SVG path of the line. */
  readonly path: string;
}

export interface Drawing {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
}

const sizes: Readonly<Record<GraphNode['kind'], { readonly width: number; readonly height: number }>> = {
  rule: { width: 200, height: 44 },
  group: { width: 200, height: 56 },
  parameter: { width: 190, height: 50 },
  connection: { width: 150, height: 44 },
};

/** The height of a rule that does more than copy: its name, and what it does. */
const tallRule = 58;

function sizeOf(node: GraphNode): { readonly width: number; readonly height: number } {
  const size = sizes[node.kind];
  return node.kind === 'rule' && node.work !== '' ? { ...size, height: tallRule } : size;
}

/** Lays out a graph. The largest one that is drawn takes some hundred milliseconds. */
export function layOut(graph: Graph): Drawing {
  const dagre = new DagreGraph();
  dagre.setGraph({
    rankdir: 'LR',
    nodesep: 14,
    edgesep: 8,
    ranksep: 80,
    marginx: 24,
    marginy: 24,
    ranker: 'tight-tree',
  });
  for (const node of graph.nodes) dagre.setNode(node.id, { ...sizeOf(node) });
  for (const { from, to } of graph.edges) dagre.setEdge(from, to, {});
  layout(dagre);
  const { width = 0, height = 0 } = dagre.graph() as { width?: number; height?: number };
  return {
    boxes: graph.nodes.map((node) => ({ node, ...(dagre.node(node.id) as Omit<Box, 'node'>) })),
    lines: graph.edges.map((edge) => ({
      edge,
      path: curve(dagre.node(edge.from), dagre.node(edge.to), bendsOf(dagre.edge(edge.from, edge.to))),
    })),
    width: Number.isFinite(width) ? width : 0,
    height: Number.isFinite(height) ? height : 0,
  };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Returns the points at which a line bends around other boxes; none between adjacent columns. */
function bendsOf(edge: unknown): readonly Point[] {
  const { points } = edge as { points: readonly Point[] };
  return points.length > 3 ? points.slice(1, -1) : [];
}

/** Returns a path from the right side of a box to the left side of another. It is horizontal at each of its points. */
function curve(from: Omit<Box, 'node'>, to: Omit<Box, 'node'>, bends: readonly Point[]): string {
  let { x, y } = { x: from.x + from.width / 2, y: from.y };
  let path = `M${round(x)} ${round(y)}`;
  for (const next of [...bends, { x: to.x - to.width / 2, y: to.y }]) {
    const reach = Math.max(24, Math.abs(next.x - x) / 2);
    path += `C${round(x + reach)} ${round(y)} ${round(next.x - reach)} ${round(next.y)} ${round(next.x)} ${round(next.y)}`;
    ({ x, y } = next);
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
