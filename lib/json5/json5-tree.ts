// A JSON5 text as a tree of its values. Each value has its offsets, comments and comma, because an edit moves or removes all of these
// together. The text has already been parsed, so this grammar can be lenient.

import { type Path, type Token, tokensOf } from './positions.ts';
import { parseJson5 } from './read-json5.ts';

export type NodeKind = 'object' | 'list' | 'text' | 'number' | 'boolean' | 'null';

/** A value in a JSON5 text. Offsets count UTF-16 code units. `start` and `end` enclose the value without its key and comments. */
export interface Json5Node {
  readonly kind: NodeKind;
  readonly start: number;
  readonly end: number;
  /** The key of an object entry as data, and the range in which the key is written. Undefined for list items and the root. */
  readonly key: { readonly name: string; readonly start: number; readonly end: number } | undefined;
  /** The offset of the comma after the value; undefined if there is no comma. */
  readonly comma: number | undefined;
  readonly children: readonly Json5Node[];
}

type Building = { -readonly [Key in Exclude<keyof Json5Node, 'children'>]: Json5Node[Key] } & { children: Building[] };

/** Builds the tree of a text, which must be valid JSON5. */
export function readTree(text: string): Json5Node {
  const stack: Building[] = [];
  let root: Building | undefined;
  let key: Json5Node['key'];
  let last: Token | undefined;
  const add = (kind: NodeKind, { part, offset }: Token) => {
    const node: Building = { kind, start: offset, end: offset + part.length, key, comma: undefined, children: [] };
    key = undefined;
    root ??= node;
    stack.at(-1)?.children.push(node);
    return node;
  };
  /** Adds the last token as a value, unless it is followed by a colon and is thus a key. */
  const flush = () => {
    if (last !== undefined) add(kindOf(last.part), last);
    last = undefined;
  };
  for (const token of tokensOf(text)) {
    const { part, offset } = token;
    if (part === ':' && last !== undefined) {
      key = { name: keyName(last.part), start: last.offset, end: last.offset + last.part.length };
      last = undefined;
    } else if (part === '{' || part === '[') stack.push(add(part === '{' ? 'object' : 'list', token));
    else if (part === '}' || part === ']') {
      flush();
      stack.pop()!.end = offset + 1;
    } else if (part === ',') {
      flush();
      const before = stack.at(-1)?.children.at(-1);
      if (before !== undefined) before.comma = offset;
    } else last = token;
  }
  flush();
  return root!;
}

function kindOf(part: string): NodeKind {
  if (part[0] === '"' || part[0] === "'") return 'text';
  if (part === 'true' || part === 'false') return 'boolean';
  return part === 'null' ? 'null' : 'number';
}

function keyName(part: string): string {
  if (part.includes('\\')) return Object.keys(parseJson5(`{${part}:0}`) as object)[0]!;
  return part[0] === '"' || part[0] === "'" ? part.slice(1, -1) : part;
}

/** Returns the node at a path in the tree, or undefined if there is no such node. */
export function nodeAt(root: Json5Node, path: Path): Json5Node | undefined {
  let node: Json5Node | undefined = root;
  for (const part of path) node = node === undefined ? undefined : childOf(node, part);
  return node;
}

/** Returns the child of a node with a key or at an index, or undefined if there is no such child. */
export function childOf({ kind, children }: Json5Node, part: string | number): Json5Node | undefined {
  if (typeof part === 'number') return kind === 'list' ? children[part] : undefined;
  return kind === 'object' ? children.find(({ key }) => key?.name === part) : undefined;
}

/** Returns the data that a node represents. */
export function dataOf(text: string, { kind, start, end, children }: Json5Node): unknown {
  if (kind === 'list') return children.map((child) => dataOf(text, child));
  if (kind !== 'object') return parseJson5(text.slice(start, end));
  return Object.fromEntries(children.map((child) => [child.key!.name, dataOf(text, child)]));
}

/**
 * A child of an object or a list with everything that belongs to the child: the comments directly above it, the comma, and the comments
 * after the comma.
 */
export interface Slot {
  readonly node: Json5Node;
  /** The offset of the first comment directly above the child or, without such comments, of the key or value. */
  readonly lead: number;
  /** The offset of the key, or of the value if the child is a list item. */
  readonly start: number;
  /** The offset after the comma and the comments that follow on the same line, or after the value if there is no comma. */
  readonly tail: number;
  /** Whether nothing else precedes the child on its first line. */
  readonly startsLine: boolean;
  /** Whether nothing else follows the child on its last line. */
  readonly endsLine: boolean;
}

/** Returns the slots for the children of a node, in order. */
export function slotsOf(text: string, { start, end, children }: Json5Node): Slot[] {
  let bound = start + 1;
  return children.map((node) => {
    const from = node.key?.start ?? node.start;
    const lead = leadOf(text, bound, from);
    const after = node.comma === undefined ? node.end : node.comma + 1;
    const tail = tailOf(text, after, end - 1);
    bound = tail;
    const startsLine = /(?:^|[\n\r\u2028\u2029])[^\S\n\r\u2028\u2029]*$/.test(text.slice(lineStart(text, lead), lead));
    return { node, lead, start: from, tail, startsLine: startsLine && lead > 0, endsLine: isLineEnd(text, tail) };
  });
}

/** Returns the offset of the first character in the line that contains an offset. */
export function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

/** Returns the offset after the end of the line that contains an offset. */
export function nextLine(text: string, offset: number): number {
  newline.lastIndex = offset;
  return newline.test(text) ? newline.lastIndex : text.length;
}

const newline = /\r\n|[\n\r\u2028\u2029]/g;

function isLineEnd(text: string, offset: number): boolean {
  endOfLine.lastIndex = offset;
  return endOfLine.test(text);
}

const endOfLine = /[^\S\n\r\u2028\u2029]*(?:[\n\r\u2028\u2029]|$)/y;

export interface Comment {
  readonly start: number;
  readonly end: number;
}

const spaceOrComment = /\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?(?:\*\/|$)/y;

/** Yields the comments after an offset in a text, up to the first token or to `end`. */
export function* commentsFrom(text: string, start: number, end: number): Generator<Comment, void, void> {
  let at = start;
  while (at < end) {
    spaceOrComment.lastIndex = at;
    const match = spaceOrComment.exec(text);
    if (match === null) return;
    const next = at + match[0].length;
    if (match[0][0] === '/') yield { start: at, end: next };
    at = next;
  }
}

/**
 * Returns the offset of the first comment that belongs to the item at `start`. Comments directly above the item, without a blank line in
 * between, belong to the item. Comments on the line of the previous bracket or comma belong to the item only if the item is also on that
 * line.
 */
function leadOf(text: string, bound: number, start: number): number {
  const comments = [...commentsFrom(text, bound, start)];
  let lead = start;
  for (let last = comments.length - 1; last >= 0; ) {
    let first = last;
    while (first > 0 && countLines(text, comments[first - 1]!.end, comments[first]!.start) === 0) first--;
    const isBehindBound = first === 0 && countLines(text, bound, comments[0]!.start) === 0;
    const most = isBehindBound ? 0 : 1;
    if (countLines(text, comments[last]!.end, isBehindBound ? start : lead) > most) break;
    lead = comments[first]!.start;
    last = first - 1;
  }
  return lead;
}

/** Returns the offset after the comments on the same line if the line ends after these comments, and `after` otherwise. */
function tailOf(text: string, after: number, close: number): number {
  let tail = after;
  for (const comment of commentsFrom(text, after, close)) {
    if (countLines(text, tail, comment.start) > 0) break;
    tail = comment.end;
  }
  if (tail === after) return after;
  const isLast = /^\s*$/.test(text.slice(tail, close));
  return isLast || isLineEnd(text, tail) ? tail : after;
}

/** Counts the line endings between two offsets in a text. */
export function countLines(text: string, start: number, end: number): number {
  return text.slice(start, end).match(/\r\n|[\n\r\u2028\u2029]/g)?.length ?? 0;
}
