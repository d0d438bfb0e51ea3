// Edits a JSON5 text as a person would: only the bytes affected by the edit change. Comments move together with their item, and a new item
// is formatted like its neighbours. Every edit is checked: afterwards, the text must parse to the intended data.

import { isDeepStrictEqual } from 'node:util';
import { HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import {
  childOf,
  commentsFrom,
  dataOf,
  type Json5Node,
  lineStart,
  nextLine,
  nodeAt,
  readTree,
  type Slot,
  slotsOf,
} from './json5-tree.ts';
import { formatPath, type Path, parsePath } from './positions.ts';
import { parseJson5 } from './read-json5.ts';
import { type Style, styleOf, write, writeKey } from './write-json5.ts';

/** One edit. `path` is the path of the changed item, or the place for an inserted or moved item; `text` is JSON5 as typed. */
export type EditOp = { readonly path: string } & (
  | { readonly set: unknown }
  | { readonly insert: unknown }
  | { readonly remove: true }
  | { readonly move: string }
  | { readonly text: string }
);

/** A part of a text that an edit replaces. */
export interface Splice {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
}

/** A text after edits. `splices` contains the replacements in the order of the edits, and `undoSplices` reverts them. */
export interface EditedText {
  readonly text: string;
  readonly splices: readonly Splice[];
}

/** Returns the usual order of the keys in the object at a path, in which new keys are inserted. */
export type KeyOrder = (path: Path) => readonly string[];

/** Applies edits to a text, one after another. Errors: `bad-request`, which names the path; `bad-json5` if a typed text does not parse. */
export function editJson5(text: string, ops: readonly EditOp[], orderOf: KeyOrder = () => []): EditedText {
  const edit = new Edit(text, orderOf);
  for (const op of ops) edit.do(op);
  return { text: edit.text, splices: edit.splices };
}

/** Returns the text as it was before the splices. */
export function undoSplices(text: string, splices: readonly Splice[]): string {
  let undone = text;
  for (const { at, removed, inserted } of splices.toReversed())
    undone = undone.slice(0, at) + removed + undone.slice(at + inserted.length);
  return undone;
}

/** An item removed from a text: the comments above the item, its value as written, and the comments after its comma. */
interface Piece {
  /** The lines of the comments above the item, without the item's indentation. */
  readonly above: readonly string[];
  readonly value: string;
  readonly behind: readonly string[];
  /** The indentation of the item's first line, which its further lines also have. */
  readonly indent: string;
  /** The offsets in `value` of the lines that may be indented differently, which are the lines that begin outside strings and comments. */
  readonly lines: readonly number[];
}

class Edit {
  text: string;
  readonly splices: Splice[] = [];
  readonly #orderOf: KeyOrder;
  /** The tree and the style of the text. The style is determined before the edits and does not change. */
  #known: { readonly root: Json5Node | undefined; readonly style: Style } | undefined;

  constructor(text: string, orderOf: KeyOrder) {
    this.text = text;
    this.#orderOf = orderOf;
  }

  do(op: EditOp): void {
    const path = readPath(op.path);
    const meant = meantData(parseJson5(this.text), path, op);
    if ('set' in op) this.#set(path, op.set);
    else if ('insert' in op) this.#insert(path, op.insert);
    else if ('remove' in op) this.#remove(path);
    else if ('move' in op) this.#move(path, readPath(op.move));
    else this.#type(path, op.text);
    if (!isDeepStrictEqual(parseOrFail(this.text, op.path), meant)) throw cannotEdit(op.path);
  }

  get #root(): Json5Node {
    return this.#parsed.root;
  }

  get #style(): Style {
    return this.#parsed.style;
  }

  get #parsed() {
    if (this.#known?.root === undefined) {
      const root = readTree(this.text);
      this.#known = { root, style: this.#known?.style ?? styleOf(this.text, root) };
    }
    return { ...this.#known, root: this.#known.root! };
  }

  #splice(start: number, end: number, inserted: string): void {
    const removed = this.text.slice(start, end);
    if (removed === inserted) return;
    this.splices.push({ at: start, removed, inserted });
    this.text = this.text.slice(0, start) + inserted + this.text.slice(end);
    this.#known = this.#known && { ...this.#known, root: undefined };
  }

  /** Changes the value at a path to another value. Within objects and lists, only the parts that differ are changed. */
  #set(path: Path, value: unknown): void {
    const node = nodeAt(this.#root, path);
    if (node === undefined) {
      this.#insert(path, value);
      return;
    }
    const before = dataOf(this.text, node);
    if (isDeepStrictEqual(before, value)) return;
    if (node.kind === 'object' && isJsonObject(value)) this.#setEntries(path, before as object, value);
    else if (node.kind === 'list' && Array.isArray(value) && value.length > 0 && node.children.length > 0)
      this.#setItems(path, before as readonly unknown[], value);
    else {
      const indent = indentAt(this.text, node.key?.start ?? node.start);
      const mark = node.kind === 'text' ? this.text[node.start] : undefined;
      const isOneLine = this.#isWithinOneLine(path);
      const width = columnOf(this.text, node.start);
      this.#splice(node.start, node.end, write(value, this.#style, { indent, mark, isOneLine, width }));
    }
  }

  #setEntries(path: Path, before: object, value: Readonly<Record<string, unknown>>): void {
    for (const key of Object.keys(before)) if (!Object.hasOwn(value, key)) this.#remove([...path, key]);
    let last: string | undefined;
    for (const [key, one] of Object.entries(value)) {
      if (Object.hasOwn(before, key)) this.#set([...path, key], one);
      else this.#insert([...path, key], one, last ?? '');
      last = key;
    }
  }

  #setItems(path: Path, before: readonly unknown[], value: readonly unknown[]): void {
    const least = Math.min(before.length, value.length);
    let same = 0;
    while (same < least && isDeepStrictEqual(before[same], value[same])) same++;
    let end = 0;
    while (end < least - same && isDeepStrictEqual(before.at(-1 - end), value.at(-1 - end))) end++;
    const changed = least - same - end;
    for (let at = same; at < same + changed; at++) this.#set([...path, at], value[at]);
    for (let at = before.length - end - 1; at >= same + changed; at--) this.#remove([...path, at]);
    for (let at = same + changed; at < value.length - end; at++) this.#insert([...path, at], value[at]);
  }

  /**
   * Inserts a value at a path. `behind` is the key after which a new key is inserted; an empty string means that the new key comes first.
   * If `behind` is omitted, the usual order of keys applies.
   */
  #insert(path: Path, value: unknown, behind?: string): void {
    const { parent, part } = this.#parentOf(path);
    const indent = this.#indentWithin(parent);
    const isOneLine = !this.#isManyLines(parent, value);
    const key = typeof part === 'number' ? '' : writeKey(part, this.#style, areKeysQuoted(this.text, parent));
    const options = { indent, isOneLine, width: (isOneLine ? 0 : indent.length) + key.length };
    const piece = { above: [], value: key + write(value, this.#style, options), behind: [], indent, lines: [] };
    this.#put(path, piece, isOneLine, behind);
  }

  /** Inserts a piece of text at a path. */
  #put(path: Path, piece: Piece, isOneLine: boolean, behind?: string): void {
    const { parent, part } = this.#parentOf(path);
    const { text } = this;
    const slots = slotsOf(text, parent);
    const index = typeof part === 'number' ? part : this.#placeOf(path, slots, behind);
    if (slots.length === 0) {
      this.#putFirst(parent, piece, isOneLine);
      return;
    }
    const next = slots[index];
    const last = slots[index - 1];
    const eol = this.#style.eol;
    const indent = indentAt(text, (next ?? last!).lead);
    const isSpaced =
      slots.length > 2 && slots.slice(1).every((slot, at) => hasBlankLine(text, slots[at]!.tail, slot.lead));
    const gap = isSpaced ? eol : '';
    if (next !== undefined) {
      if (next.startsLine && last?.startsLine && last.endsLine) {
        const written = asLines(piece, indentAt(text, last.lead), eol, ',');
        this.#splice(last.tail, last.tail, `${eol}${gap}${written}`);
      } else if (next.startsLine) {
        const at = lineStart(text, next.lead);
        this.#splice(at, at, `${asLines(piece, indent, eol, ',')}${eol}${gap}`);
      } else this.#splice(next.lead, next.lead, `${inLine(piece, ',')} `);
      return;
    }
    const { node, tail, startsLine, endsLine } = last!;
    const isOwnLine = startsLine && endsLine && isClosedLater(text, tail, parent);
    const comma = node.comma === undefined ? ',' : '';
    const commaBehind = node.comma === undefined ? '' : ',';
    const written = isOwnLine
      ? `${eol}${gap}${asLines(piece, indentAt(text, last!.lead), eol, commaBehind)}`
      : ` ${inLine(piece, commaBehind)}`;
    const between = text.slice(node.end, tail);
    const end = node.comma === undefined ? node.end : node.comma + 1;
    if (!isOwnLine && text.slice(end, tail).includes('//')) this.#splice(end, end, comma + written);
    else if (comma === '') this.#splice(tail, tail, written);
    else this.#splice(node.end, tail, comma + between + written);
  }

  #putFirst(parent: Json5Node, piece: Piece, isOneLine: boolean): void {
    const { text } = this;
    const { eol, trailingComma } = this.#style;
    const inner = text.slice(parent.start + 1, parent.end - 1);
    const comments = [...commentsFrom(text, parent.start + 1, parent.end - 1)];
    const [outer, indent] = [indentAt(text, parent.start), this.#indentWithin(parent)];
    const comma = trailingComma ? ',' : '';
    if (comments.length > 0) {
      const last = comments.at(-1)!.end;
      const hasLine = /[\n\r]/.test(text.slice(last, parent.end - 1));
      const spaces = hasLine ? '' : `${eol}${outer}`;
      this.#splice(last, last, `${eol}${asLines(piece, indent, eol, comma)}${spaces}`);
    } else if (isOneLine && piece.above.length === 0 && !piece.behind.some((comment) => comment.startsWith('//'))) {
      const pad = (parent.kind === 'object' ? this.#style.padsObjects : this.#style.padsLists) ? ' ' : '';
      this.#splice(parent.start + 1, parent.end - 1, pad + inLine(piece, '') + pad);
    } else {
      const written = `${eol}${asLines(piece, indent, eol, comma)}${eol}${outer}`;
      this.#splice(parent.start + 1, parent.start + 1 + inner.length, written);
    }
  }

  /** Removes the item at a path, with its comments and its comma. */
  #remove(path: Path): void {
    const { parent, part } = this.#parentOf(path);
    const { text } = this;
    const slots = slotsOf(text, parent);
    const index = slots.findIndex(({ node }) => node === childOf(parent, part));
    const slot = slots[index];
    if (slot === undefined) throw nothingAt(path);
    const [before, after] = [slots[index - 1], slots[index + 1]];
    const bound = before?.tail ?? parent.start + 1;
    let [start, end] = [slot.lead, slot.tail];
    if (slot.startsLine && slot.endsLine) {
      start = lineStart(text, slot.lead);
      end = nextLine(text, slot.tail);
      const isBlankBefore =
        before === undefined && after !== undefined && lineStart(text, start - 1) <= parent.start
          ? true
          : isBlankAbove(text, start);
      if (after !== undefined && isBlankBefore && isBlankAt(text, end)) end = nextLine(text, end);
      else if (after === undefined && before !== undefined && isBlankAbove(text, start) && closesAt(text, end, parent))
        start = lineStart(text, Math.max(0, endOfPrevious(text, start)));
    } else if (slot.startsLine || !slot.endsLine) {
      if (after !== undefined) end = after.startsLine ? slot.tail : after.lead;
      else if (!slot.startsLine) start = trimEnd(text, bound, slot.lead);
      if (after?.startsLine) start = trimEnd(text, bound, slot.lead);
    } else start = trimEnd(text, bound, slot.lead);
    const comma = before?.node.comma;
    const isCommaLeft = after === undefined && slot.node.comma === undefined && comma !== undefined;
    if (slots.length === 1 && text.slice(bound, start).trim() === '' && text.slice(end, parent.end - 1).trim() === '')
      this.#splice(parent.start + 1, parent.end - 1, '');
    else if (isCommaLeft) this.#splice(comma, end, text.slice(comma + 1, start));
    else this.#splice(start, end, '');
  }

  #move(from: Path, to: Path): void {
    const node = nodeAt(this.#root, from);
    if (node === undefined) throw nothingAt(from);
    if (to.length > from.length && from.every((part, at) => part === to[at])) throw cannotEdit(formatPath(to));
    if (formatPath(from) === formatPath(to)) return;
    const { parent } = this.#parentOf(from);
    const slot = slotsOf(this.text, parent).find((one) => one.node === node)!;
    const piece = this.#cut(slot, to.at(-1)!);
    const quoted = typeof to.at(-1) === 'string' ? writeKey(String(to.at(-1)), this.#style, false) : '';
    this.#remove(from);
    const { parent: target } = this.#parentOf(to);
    const isOneLine = target.children.length === 0 && !piece.value.includes('\n') && !isContainer(node);
    this.#put(to, piece.value.startsWith('\0') ? withKey(piece, quoted) : piece, isOneLine);
  }

  /** Copies an item, together with its comments. The copied value begins with `\0` at the position at which a new key is to be written. */
  #cut({ node, lead, start, tail }: Slot, part: string | number): Piece {
    const { text } = this;
    const above = [...commentsFrom(text, lead, start)].map((comment) => text.slice(comment.start, comment.end));
    const hasKey = typeof part === 'string' && node.key?.name === part;
    const from = hasKey ? start : node.start;
    const value = (hasKey || typeof part === 'number' ? '' : '\0') + text.slice(from, node.end);
    const after = node.comma === undefined ? node.end : node.comma + 1;
    const comma = node.comma ?? node.end;
    const comments = [...commentsFrom(text, node.end, comma), ...commentsFrom(text, after, tail)];
    const behind = comments.map((comment) => text.slice(comment.start, comment.end));
    const shift = from - (value.startsWith('\0') ? 1 : 0);
    const lines = freeLines(text, from, node.end).map((at) => at - shift);
    return { above, value, behind, indent: indentAt(text, lead), lines };
  }

  /** Replaces the value at a path with a text as typed. The file's line endings and byte order mark are kept. */
  #type(path: Path, typed: string): void {
    const ended = typed.replaceAll(/\r\n|\r|\n/g, this.#style.eol);
    if (path.length === 0) {
      const mark = this.text.startsWith('\ufeff') ? '\ufeff' : '';
      this.#splice(0, this.text.length, mark + ended.replace(/^\ufeff/, ''));
      return;
    }
    const node = nodeAt(this.#root, path);
    const written = ended.trim();
    if (node !== undefined) this.#splice(node.start, node.end, written);
    else {
      const { parent, part } = this.#parentOf(path);
      const indent = this.#indentWithin(parent);
      const key = typeof part === 'number' ? '' : writeKey(part, this.#style, areKeysQuoted(this.text, parent));
      const isOneLine =
        parent.children.length > 0 ? !slotsOf(this.text, parent)[0]!.startsLine : !written.includes('\n');
      const lines = freeLines(written, 0, written.length).map((at) => at + key.length);
      const piece = { above: [], value: key + written, behind: [], indent: indentAt(written, written.length), lines };
      this.#put(path, { ...piece, indent: piece.indent || indent }, isOneLine);
    }
  }

  #parentOf(path: Path): { parent: Json5Node; part: string | number } {
    const part = path.at(-1);
    if (part === undefined) throw new HubError('bad-request', 'path: expected the path of an item, got the whole file');
    const parent = nodeAt(this.#root, path.slice(0, -1));
    if (parent === undefined) throw nothingAt(path.slice(0, -1));
    return { parent, part };
  }

  /** Returns the index among the items at which a new key is inserted. */
  #placeOf(path: Path, slots: readonly Slot[], behind: string | undefined): number {
    const names = slots.map(({ node }) => node.key!.name);
    if (behind !== undefined) return names.indexOf(behind) + 1;
    const order = this.#orderOf(path.slice(0, -1));
    const rank = order.indexOf(String(path.at(-1)));
    if (rank < 0) return slots.length;
    return names.findLastIndex((name) => order.includes(name) && order.indexOf(name) < rank) + 1;
  }

  /** Returns the indentation of the items within a node. */
  #indentWithin(node: Json5Node): string {
    const [first] = slotsOf(this.text, node);
    if (first?.startsLine) return indentAt(this.text, first.lead);
    return indentAt(this.text, node.start) + this.#style.unit;
  }

  /** Returns whether a value that becomes an item in a node is written on separate lines. */
  #isManyLines(parent: Json5Node, value: unknown): boolean {
    const slots = slotsOf(this.text, parent);
    if (slots.length > 0) return slots.at(-1)!.startsLine;
    if (/[\n\r]/.test(this.text.slice(parent.start, parent.end))) return true;
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0 && !this.#isInItem(parent);
  }

  /** Returns whether a node is on the same line as the value that encloses it. */
  #isInItem(node: Json5Node): boolean {
    const line = this.text.slice(lineStart(this.text, node.start), node.start);
    return line.replace(/^\s*(?:[\w$-]+|'[^']*'|"[^"]*")\s*:/, '').trim() !== '';
  }

  #isWithinOneLine(path: Path): boolean {
    if (path.length === 0) return false;
    const { parent, part } = this.#parentOf(path);
    const node = childOf(parent, part)!;
    return !slotsOf(this.text, parent).find((slot) => slot.node === node)!.startsLine;
  }
}

/** Returns the data that the text must have after an edit. Errors: `bad-request`. */
function meantData(data: unknown, path: Path, op: EditOp): unknown {
  if ('move' in op) {
    const to = readPath(op.move);
    if (formatPath(to) === formatPath(path)) return data;
    const moved = valueAt(data, path);
    if (moved === undefined) throw nothingAt(path);
    return change(change(data, path, 'remove', undefined), to, 'insert', moved);
  }
  if ('remove' in op) return change(data, path, 'remove', undefined);
  if ('insert' in op) return change(data, path, 'insert', op.insert);
  return change(data, path, 'set', 'set' in op ? op.set : parseOrFail(op.text, op.path));
}

function change(data: unknown, path: Path, kind: 'set' | 'insert' | 'remove', value: unknown, at = 0): unknown {
  const part = path[at];
  if (part === undefined) {
    if (kind === 'set') return value;
    throw new HubError('bad-request', 'path: expected the path of an item, got the whole file');
  }
  const isLast = at === path.length - 1;
  const inner = (one: unknown) => change(one, path, kind, value, at + 1);
  if (Array.isArray(data) && typeof part === 'number') {
    if (isLast && kind === 'insert' && part <= data.length) return data.toSpliced(part, 0, value);
    if (part >= data.length) throw nothingAt(path.slice(0, at + 1));
    if (isLast && kind === 'remove') return data.toSpliced(part, 1);
    return data.with(part, inner(data[part]));
  }
  if (!isJsonObject(data) || typeof part !== 'string') throw nothingAt(path.slice(0, at + 1));
  const has = Object.hasOwn(data, part);
  if (isLast && kind === 'insert' && has)
    throw new HubError('bad-request', `${formatPath(path)}: expected a new key, but this one already exists: use set`);
  if (!has && (!isLast || kind === 'remove')) throw nothingAt(path.slice(0, at + 1));
  if (isLast && kind === 'remove') return Object.fromEntries(Object.entries(data).filter(([key]) => key !== part));
  return Object.fromEntries([
    ...Object.entries(data).map(([key, one]) => [key, key === part ? (isLast ? value : inner(one)) : one] as const),
    ...(has ? [] : [[part, value] as const]),
  ]);
}

function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, part)
        ? (at as Record<string | number, unknown>)[part]
        : undefined,
    data,
  );
}

function readPath(text: string): Path {
  const path = parsePath(text);
  if (path !== undefined) return path;
  throw new HubError('bad-request', `path: expected a path such as rules[3].map, got ${JSON.stringify(text)}`);
}

function parseOrFail(text: string, path: string): unknown {
  try {
    return parseJson5(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new HubError('bad-request', `${path === '' ? 'text' : path}: ${message}`);
  }
}

function nothingAt(path: Path): HubError {
  return new HubError('bad-request', `${formatPath(path)}: the file has no item at this path`);
}

function cannotEdit(path: string): HubError {
  return new HubError('bad-request', `${path}: this edit cannot be applied to the text: edit the file by hand`);
}

// Finds lines in a text: their starts, ends and indentation.

function isContainer({ kind }: Json5Node): boolean {
  return kind === 'object' || kind === 'list';
}

/** Returns the indentation of the line at an offset. */
function indentAt(text: string, offset: number): string {
  const start = lineStart(text, offset);
  return /^[^\S\n\r]*/.exec(text.slice(start, offset))![0].replace('\ufeff', '');
}

function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** Returns whether the line at an offset is blank. The end of the text does not count as blank. */
function isBlankAt(text: string, offset: number): boolean {
  return offset < text.length && /^[^\S\n\r]*(?:\r\n|[\n\r])/.test(text.slice(offset, nextLine(text, offset)));
}

function isBlankAbove(text: string, start: number): boolean {
  const end = endOfPrevious(text, start);
  return end >= 0 && lineStart(text, end) > 0 && text.slice(lineStart(text, end), end).trim() === '';
}

/** Returns the offset of the line ending before the line that starts at `start`, or -1 for the first line. */
function endOfPrevious(text: string, start: number): number {
  if (start === 0) return -1;
  return text[start - 1] === '\n' && text[start - 2] === '\r' ? start - 2 : start - 1;
}

function closesAt(text: string, offset: number, { end }: Json5Node): boolean {
  return text.slice(offset, end - 1).trim() === '';
}

function hasBlankLine(text: string, start: number, end: number): boolean {
  return /(?:\r\n|[\n\r])[^\S\n\r]*(?:\r\n|[\n\r])/.test(text.slice(start, end));
}

function trimEnd(text: string, bound: number, offset: number): number {
  let at = offset;
  while (at > bound && /\s/.test(text[at - 1]!)) at--;
  return at;
}

/** Returns whether the closing bracket of a node is on a later line than the offset `tail`. */
function isClosedLater(text: string, tail: number, { end }: Json5Node): boolean {
  return /[\n\r]/.test(text.slice(tail, end - 1));
}

function areKeysQuoted(text: string, { children }: Json5Node): boolean | undefined {
  if (children.length === 0) return undefined;
  return children.every(({ key }) => key !== undefined && /["']/.test(text[key.start]!));
}

/** Returns the offsets of the lines between two offsets that begin outside strings and comments. */
function freeLines(text: string, start: number, end: number): number[] {
  const lines: number[] = [];
  const token = /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/|\r\n|[\n\r]/g;
  token.lastIndex = start;
  for (let match = token.exec(text); match !== null && match.index < end; match = token.exec(text)) {
    const [part] = match;
    if (/^[\n\r]/.test(part)) lines.push(match.index + part.length);
    else if (part.startsWith('/*'))
      lines.push(...[...part.matchAll(/\r\n|[\n\r]/g)].map((one) => match!.index + one.index + one[0].length));
  }
  return lines;
}

/** Returns the piece with a new key before its value. */
function withKey(piece: Piece, key: string): Piece {
  return { ...piece, value: key + piece.value.slice(1), lines: piece.lines.map((at) => at + key.length - 1) };
}

/** Formats a piece on separate lines, without the line ending of the last line. */
function asLines(
  { above, value, behind, indent: own, lines }: Piece,
  indent: string,
  eol: string,
  comma: string,
): string {
  let moved = value;
  if (own !== indent)
    for (const at of lines.toReversed())
      if (moved.startsWith(own, at)) moved = moved.slice(0, at) + indent + moved.slice(at + own.length);
  const comments = above.map((comment) => `${indent}${comment}${eol}`).join('');
  const after = behind.map((comment, at) => ` ${at < behind.length - 1 ? asBlock(comment) : comment}`).join('');
  return `${comments}${indent}${moved}${comma}${after}`;
}

/** Formats a piece as part of a line. */
function inLine({ above, value, behind }: Piece, comma: string): string {
  const before = above.map((comment) => `${asBlock(comment)} `).join('');
  return `${before}${value}${comma}${behind.map((comment) => ` ${asBlock(comment)}`).join('')}`;
}

/** Returns a comment as a block comment, after which the line can continue. */
function asBlock(comment: string): string {
  return comment.startsWith('//') ? `/*${comment.slice(2).replaceAll('*/', '* /')} */` : comment;
}
