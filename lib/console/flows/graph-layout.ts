// The layout of the graph: sources on the left, destinations on the right, in columns (Sugiyama, Tagawa and Toda, 1981). Connected boxes
// are laid out together. Each box is assigned to a column, and a line that passes through columns occupies a place in each of these
// columns. The places in each column are ordered so that few lines cross, and then move towards their neighbours as far as the order
// permits.

import type { Graph, GraphEdge, GraphNode } from './flow-graph.ts';

export interface Box {
  readonly node: GraphNode;
  /** The horizontal centre of the box. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Line {
  readonly edge: GraphEdge;
  /** The SVG path for the line. */
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

/** The height of a rule that does more than copy, in pixels. Such a rule shows its name and what it does. */
const tallRule = 58;

function sizeOf(node: GraphNode): { readonly width: number; readonly height: number } {
  const size = sizes[node.kind];
  return node.kind === 'rule' && node.work !== '' ? { ...size, height: tallRule } : size;
}

/** Returns the layout of a graph. The layout of the largest graph that is drawn takes about ten milliseconds. */
export function layOut(graph: Graph): Drawing {
  const places = new Map(graph.nodes.map((node) => [node.id, newPlace(sizeOf(node))]));
  const joins = graph.edges.map((edge) => ({ edge, from: places.get(edge.from)!, to: places.get(edge.to)! }));
  for (const { from, to } of joins) {
    from.joined.push(to);
    to.joined.push(from);
  }
  turnCycles(joins);
  const waysOf = new Map<GraphEdge, readonly Place[]>();
  const groups = joinedPlaces([...places.values()]);
  for (const group of groups) assignColumns(group);
  for (const { edge, from, to } of joins) waysOf.set(edge, passColumns(from, to));

  const widths: number[] = [];
  for (const { column, width } of places.values()) widths[column] = Math.max(widths[column] ?? 0, width);
  const middles = widths.map((width, column) => {
    const left = widths.slice(0, column).reduce((sum, one) => sum + one + columnGap, margin);
    return left + width / 2;
  });
  let bottom = margin;
  for (const group of groups) bottom = stack(columnsOf(group), bottom) + boxGap;
  const boxOf = ({ column, y, width, height }: Place) => ({ x: middles[column]!, y, width, height });
  return {
    boxes: graph.nodes.map((node) => ({ node, ...boxOf(places.get(node.id)!) })),
    lines: joins.map(({ edge, from, to }) => ({
      edge,
      path: curve(boxOf(from), boxOf(to), waysOf.get(edge)!.map(boxOf)),
    })),
    width: widths.reduce((sum, width) => sum + width, 2 * margin + Math.max(0, widths.length - 1) * columnGap),
    height: groups.length === 0 ? 2 * margin : bottom - boxGap + margin,
  };
}

const margin = 24;
const columnGap = 80;
const boxGap = 14;
const lineGap = 8;
/** The number of passes over the columns, both for finding an order and for moving the places. */
const rounds = 8;

/** A box, or the place at which a line passes through a column. */
interface Place {
  readonly width: number;
  readonly height: number;
  /** The places that are connected to this place by any line. */
  readonly joined: Place[];
  /** The neighbours in the column on the left, through lines that are not reversed. */
  readonly before: Place[];
  /** The neighbours in the column on the right, through lines that are not reversed. */
  readonly after: Place[];
  column: number;
  /** The index of the place in its column, from the top. */
  order: number;
  /** The vertical centre of the place. */
  y: number;
}

function newPlace({ width, height }: { readonly width: number; readonly height: number }): Place {
  return { width, height, joined: [], before: [], after: [], column: 0, order: 0, y: 0 };
}

interface Join {
  readonly edge: GraphEdge;
  readonly from: Place;
  readonly to: Place;
}

/** Fills `before` and `after` so that no path along them leads back to its start: a line that would close such a path is reversed. */
function turnCycles(joins: readonly Join[]): void {
  const leading = new Map<Place, Place[]>();
  const entered = new Set<Place>();
  for (const { from, to } of joins) {
    if (!leading.has(from)) leading.set(from, []);
    leading.get(from)!.push(to);
    entered.add(to);
  }
  const done = new Set<Place>();
  const above = new Set<Place>();
  const visit = (place: Place) => {
    above.add(place);
    for (const next of leading.get(place) ?? []) {
      const [left, right] = above.has(next) ? [next, place] : [place, next];
      if (left !== right && !left.after.includes(right)) {
        left.after.push(right);
        right.before.push(left);
      }
      if (!above.has(next) && !done.has(next)) visit(next);
    }
    above.delete(place);
    done.add(place);
  };
  const starts = [...leading.keys()];
  for (const place of [...starts.filter((one) => !entered.has(one)), ...starts]) if (!done.has(place)) visit(place);
}

/** Returns the groups of places that are connected by lines, in the order of their first places. */
function joinedPlaces(places: readonly Place[]): readonly (readonly Place[])[] {
  const seen = new Set<Place>();
  return places.flatMap((first) => {
    if (seen.has(first)) return [];
    seen.add(first);
    const group = [first];
    for (const place of group)
      for (const next of place.joined)
        if (!seen.has(next)) {
          seen.add(next);
          group.push(next);
        }
    return [group];
  });
}

/**
 * Assigns a column to each place: to the right of all places that lead to it. A place with more successors than predecessors is directly
 * before its nearest successor.
 */
function assignColumns(group: readonly Place[]): void {
  const sorted: Place[] = [];
  const missing = new Map(group.map((place) => [place, place.before.length]));
  const next = group.filter(({ before }) => before.length === 0);
  for (const place of next) {
    sorted.push(place);
    for (const follower of place.after) {
      follower.column = Math.max(follower.column, place.column + 1);
      missing.set(follower, missing.get(follower)! - 1);
      if (missing.get(follower) === 0) next.push(follower);
    }
  }
  for (const place of sorted.reverse())
    if (place.after.length > place.before.length)
      place.column = Math.min(...place.after.map(({ column }) => column)) - 1;
}

/** Routes a line through the columns between two places. Returns its places in these columns, in the direction of the line. */
function passColumns(from: Place, to: Place): readonly Place[] {
  const [left, right] = from.column < to.column ? [from, to] : [to, from];
  const at = left.after.indexOf(right);
  const passed: Place[] = [];
  if (at < 0 || right.column - left.column < 2) return passed;
  const back = right.before.indexOf(left);
  left.after.splice(at, 1);
  right.before.splice(back, 1);
  let last = left;
  for (let column = left.column + 1; column <= right.column; column++) {
    const place = column === right.column ? right : { ...newPlace({ width: 0, height: lineGap - boxGap }), column };
    last.after.push(place);
    place.before.push(last);
    if (place !== right) passed.push(place);
    last = place;
  }
  return left === from ? passed : passed.reverse();
}

/** Returns the places of a group by column, including the places of lines, ordered so that few lines cross. */
function columnsOf(group: readonly Place[]): readonly (readonly Place[])[] {
  let columns: Place[][] = [];
  const seen = new Set<Place>();
  const add = (place: Place) => {
    if (seen.has(place)) return;
    seen.add(place);
    columns[place.column] ??= [];
    place.order = columns[place.column]!.push(place) - 1;
    [...place.after, ...place.before].forEach(add);
  };
  group.forEach(add);
  let best = columns;
  let fewest = crossings(columns);
  for (let round = 0; round < rounds && fewest > 0; round++) {
    const isForward = round % 2 === 0;
    columns = columns.map((column) => [...column]);
    for (const column of isForward ? columns : [...columns].reverse()) {
      const wanted = new Map(
        column.map((place) => [place, meanOf(isForward ? place.before : place.after, 'order') ?? place.order]),
      );
      column.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      for (const [order, place] of column.entries()) place.order = order;
    }
    const count = crossings(columns);
    if (count < fewest) [best, fewest] = [columns, count];
  }
  for (const column of best) for (const [order, place] of column.entries()) place.order = order;
  return best;
}

function meanOf(places: readonly Place[], key: 'order' | 'y'): number | undefined {
  return places.length === 0 ? undefined : places.reduce((sum, place) => sum + place[key], 0) / places.length;
}

function crossings(columns: readonly (readonly Place[])[]): number {
  let count = 0;
  for (const column of columns) {
    const ends = column.flatMap(({ after }) => after.map(({ order }) => order).sort((a, b) => a - b));
    for (const [index, end] of ends.entries()) for (let at = 0; at < index; at++) if (ends[at]! > end) count++;
  }
  return count;
}

/** Positions a group of places below `top`. Returns the bottom of the group. */
function stack(columns: readonly (readonly Place[])[], top: number): number {
  for (const column of columns)
    settle(
      column,
      column.map(() => 0),
    );
  for (let round = 0; round < 2 * rounds; round++) {
    const isForward = round % 2 === 0;
    for (const column of isForward ? columns : [...columns].reverse())
      settle(
        column,
        column.map((place) => meanOf(isForward ? place.before : place.after, 'y') ?? place.y),
      );
  }
  const all = columns.flat();
  const highest = Math.min(...all.map(({ y, height }) => y - height / 2));
  for (const place of all) place.y += top - highest;
  return Math.max(...all.map(({ y, height }) => y + height / 2));
}

/**
 * Moves the places in a column as close to their desired positions as their order and the gaps permit. Places that are in each other's way
 * share the distance.
 */
function settle(column: readonly Place[], wanted: readonly number[]): void {
  const blocks: { sum: number; count: number }[] = [];
  const offsets: number[] = [];
  for (const [index, { height }] of column.entries()) {
    const above = column[index - 1];
    offsets.push(above === undefined ? 0 : offsets[index - 1]! + (above.height + height) / 2 + boxGap);
    let block = { sum: wanted[index]! - offsets[index]!, count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  let index = 0;
  for (const { sum, count } of blocks)
    for (let left = count; left > 0; left--, index++) column[index]!.y = sum / count + offsets[index]!;
}

/**
 * Returns the SVG path of a line from the right side of one box to the left side of another box. The line is horizontal at each of its
 * points.
 */
function curve(
  from: Omit<Box, 'node'>,
  to: Omit<Box, 'node'>,
  bends: readonly { readonly x: number; readonly y: number }[],
): string {
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
