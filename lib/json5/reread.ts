// Reads a text again after a small change, such as a change to one rule of 100,000: only the changed items in a list are parsed, and all
// other items are reused. After any other change, the whole text is read.

import { isJsonObject } from '../model/json-object.ts';
import { KeptText } from './kept-text.ts';
import { createKnownPlaces, type Token, tokensOf } from './positions.ts';
import { createJson5Text, type Json5Text, parseJson5, readJson5 } from './read-json5.ts';

/** The length of the pieces that are compared at a time, in characters. */
const comparedLength = 4096;

/** Like `readJson5`, but items that have not changed are the same objects as before. Errors: `bad-json5`. */
export function rereadJson5(text: string, before: Json5Text): Json5Text {
  const { text: textBefore } = before.source;
  if (text === textBefore) return before;
  return readChangedItems(text, before, textBefore) ?? readJson5(text);
}

/** Reads only those items of a list that have changed. Returns undefined if the change is not confined to the items in one list. */
function readChangedItems(text: string, before: Json5Text, textBefore: string): Json5Text | undefined {
  const { places, duplicates } = before;
  const start = commonStart(textBefore, text);
  const change = { start, end: textBefore.length - commonEnd(textBefore, text, start) };
  const range = duplicates.length > 0 ? undefined : places.itemsAround(change);
  if (range === undefined) return undefined;
  const end = range.end ?? endOfList(textBefore, range.start);
  if (change.end > end) return undefined;
  const moved = text.length - textBefore.length;
  const written = text.slice(range.start, end + moved);
  const items = readItems(written);
  if (items === undefined) return undefined;
  const isWhole = range.end === undefined || items.data.length === 0 || items.last === ',';
  if (!isWhole) return undefined;
  const { list, first, count } = range;
  const data = before.data as Readonly<Record<string, readonly unknown[]>>;
  const those = data[list]!;
  const exchanged = [...those.slice(0, first), ...items.data, ...those.slice(first + count)];
  const offsets = items.offsets.map((offset) => range.start + offset);
  const found = places.foundAfter(range, offsets, moved);
  const source = new KeptText(text);
  return createJson5Text(source, { ...data, [list]: exchanged }, createKnownPlaces(source, found));
}

interface ReadItems {
  readonly data: readonly unknown[];
  /** The offset of each item in the text that was read. */
  readonly offsets: readonly number[];
  /** The last token: either the end of the last item, or the comma after that item. */
  readonly last: string | undefined;
}

/** Reads the items in a list without its brackets. Returns undefined if the text is not a valid list of items. */
function readItems(written: string): ReadItems | undefined {
  const list = `[${written}]`;
  try {
    const data = parseJson5(list);
    const { duplicates, ownItems } = createKnownPlaces(new KeptText(list)).found;
    const [last, bracket] = lastTwoTokens(list);
    const isOpen = bracket?.offset !== list.length - 1; // the text closes the list itself, or a comment hides our bracket
    if (!Array.isArray(data) || duplicates.length > 0 || isOpen) return undefined;
    return { data, offsets: ownItems.map((offset) => offset - 1), last: last?.part };
  } catch {
    return undefined;
  }
}

/** Returns the offset of the bracket that closes the list containing an item. */
function endOfList(text: string, item: number): number {
  let depth = 0;
  for (const { part, offset } of tokensOf(text, item)) {
    if (part === '{' || part === '[') depth++;
    if ((part === '}' || part === ']') && --depth < 0) return offset;
  }
  return text.length;
}

function lastTwoTokens(text: string): readonly [Token | undefined, Token | undefined] {
  let last: Token | undefined;
  let before: Token | undefined;
  for (const token of tokensOf(text)) {
    before = last;
    last = token;
  }
  return [before, last];
}

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.slice(at, at + comparedLength) === other.slice(at, at + comparedLength)) at += comparedLength;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return Math.min(at, most);
}

/** Returns the length of the common end of two texts, which must not overlap their common start. */
function commonEnd(one: string, other: string, start: number): number {
  const most = Math.min(one.length, other.length) - start;
  const part = (text: string, from: number) => text.slice(text.length - from - comparedLength, text.length - from);
  let length = 0;
  while (length + comparedLength <= most && part(one, length) === part(other, length)) length += comparedLength;
  while (length < most && one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length))
    length++;
  return length;
}

// Makes equal parts of two versions of a file the same object, so that an identity check shows that nothing has changed.

/** Returns the new data, in which every part that equals the old data is the old object. The data must be JSON. */
export function withSameParts(before: unknown, after: unknown): unknown {
  if (before === after) return before;
  if (Array.isArray(before) && Array.isArray(after)) return listWithSameParts(before, after);
  if (!isJsonObject(before) || !isJsonObject(after)) return after;
  const keys = Object.keys(before);
  const entries = Object.entries(after).map(([key, value]): [string, unknown] => [
    key,
    Object.hasOwn(before, key) ? withSameParts(before[key], value) : value,
  ]);
  const isSame =
    entries.length === keys.length && entries.every(([key, value], at) => key === keys[at] && value === before[key]);
  return isSame ? before : Object.fromEntries(entries);
}

/** Compares list items at the same distance from the start and, after the first difference, at the same distance from the end. */
function listWithSameParts(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  if (hasSameItems(before, after)) return before; // the usual case for thousands of addresses
  const added = after.length - before.length;
  const result: unknown[] = [];
  let from = 0;
  for (let index = 0; index < after.length; index++) {
    const item = withSameParts(before[index - from], after[index]);
    const isMoved = from === 0 && added !== 0 && item !== before[index];
    if (isMoved) from = added;
    result.push(isMoved ? withSameParts(before[index - from], after[index]) : item);
  }
  return hasSameItems(before, result) ? before : result;
}

function hasSameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
