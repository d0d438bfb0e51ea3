// Writes data as JSON5 in the style of an existing text: its quotes, indentation, line endings, spaces and trailing commas.

import { isJsonObject } from '../model/json-object.ts';
import type { Json5Node } from './json5-tree.ts';

/** The style in which a text is written. */
export interface Style {
  readonly eol: string;
  /** The quote character for strings: `'` or `"`. */
  readonly mark: string;
  /** The indentation of one nesting level. */
  readonly unit: string;
  /** Whether keys are quoted even if they are valid names. */
  readonly quotesKeys: boolean;
  /** Whether there are spaces inside braces: `{ a: 1 }` instead of `{a: 1}`. */
  readonly padsObjects: boolean;
  /** Whether there are spaces inside brackets: `[ 1 ]` instead of `[1]`. */
  readonly padsLists: boolean;
  /** Whether there is a space after a colon: `a: 1` instead of `a:1`. */
  readonly padsColons: boolean;
  /** Whether there is a comma after the last item if the items are on several lines. */
  readonly trailingComma: boolean;
}

interface WriteOptions {
  /** The indentation of the line on which the value begins. */
  readonly indent: string;
  /** The quote character of the string that the value replaces. */
  readonly mark?: string | undefined;
  readonly isOneLine?: boolean;
  /** The number of characters that precede the value on its line. */
  readonly width?: number;
}

/** The maximum width of a line, in characters; longer lines are split. */
const maxWidth = 120;

/**
 * Returns the style of a text, determined from its most frequent forms. A text without such forms gets the style used in the examples in
 * this repository.
 */
export function styleOf(text: string, root: Json5Node): Style {
  const count = {
    single: 0,
    double: 0,
    quotedKeys: 0,
    keys: 0,
    padded: 0,
    objects: 0,
    spaced: 0,
    lists: 0,
    tight: 0,
    commas: 0,
    many: 0,
  };
  let unit: string | undefined;
  const visit = (node: Json5Node, depthStart: number) => {
    const { kind, start, end, key, children } = node;
    if (kind === 'text') text[start] === "'" ? count.single++ : count.double++;
    if (key !== undefined) {
      count.keys++;
      const mark = text[key.start]!;
      if (mark === "'") count.single++;
      else if (mark === '"') count.double++;
      if (mark === "'" || mark === '"') count.quotedKeys++;
      if (isName(key.name) && text[start - 1] === ':') count.tight++;
    }
    const [first] = children;
    if (first === undefined) return;
    const from = first.key?.start ?? first.start;
    const gap = text.slice(start + 1, from);
    if (/[\n\r]/.test(gap)) {
      count.many++;
      if (children.at(-1)!.comma !== undefined) count.commas++;
      const indent = /[^\S\n\r]*$/.exec(gap)![0];
      if (unit === undefined && indent.length > depthStart && indent.length > 0) unit = indent.slice(depthStart);
      for (const child of children) visit(child, indent.length);
      return;
    }
    if (kind === 'object') count.objects++;
    else count.lists++;
    if (/^\s/.test(text.slice(start + 1, start + 2))) kind === 'object' ? count.padded++ : count.spaced++;
    if (end > start) for (const child of children) visit(child, depthStart);
  };
  visit(root, 0);
  const isJson = count.keys > 0 && count.quotedKeys === count.keys && count.double > 0 && count.single === 0;
  return {
    eol: /\r\n|\n|\r/.exec(text)?.[0] ?? '\n',
    mark: count.double > count.single ? '"' : "'",
    unit: unit ?? '  ',
    quotesKeys: count.keys > 0 && count.quotedKeys * 2 > count.keys,
    padsObjects: count.objects === 0 || count.padded * 2 >= count.objects,
    padsLists: count.lists > 0 && count.spaced * 2 > count.lists,
    padsColons: count.keys === 0 || count.tight * 2 <= count.keys,
    trailingComma:
      count.many === 0
        ? !isJson
        : count.commas * 2 > count.many || (count.commas > 0 && count.commas * 2 === count.many),
  };
}

/** Returns data as JSON5 in the given style. */
export function write(value: unknown, style: Style, options: WriteOptions): string {
  if (typeof value === 'string') return quote(value, options.mark ?? style.mark);
  if (typeof value !== 'object' || value === null) return String(value);
  const line = writeLine(value, style);
  const { indent, isOneLine = false, width = 0 } = options;
  const fits = width + line.length < maxWidth && !line.includes('\n');
  if (isOneLine || fits) return line;
  const inner = indent + style.unit;
  const entries = Array.isArray(value)
    ? value.map((item) => inner + write(item, style, { indent: inner, width: inner.length }))
    : Object.entries(value).map(([key, item]) => {
        const name = writeKey(key, style, undefined);
        return inner + name + write(item, style, { indent: inner, width: inner.length + name.length });
      });
  if (entries.length === 0) return line;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const end = style.trailingComma ? ',' : '';
  return `${open}${style.eol}${entries.join(`,${style.eol}`)}${end}${style.eol}${indent}${close}`;
}

function writeLine(value: unknown, style: Style): string {
  if (typeof value === 'string') return quote(value, style.mark);
  const comma = style.padsColons ? ', ' : ',';
  if (Array.isArray(value)) {
    const pad = style.padsLists && value.length > 0 ? ' ' : '';
    return `[${pad}${value.map((item) => writeLine(item, style)).join(comma)}${pad}]`;
  }
  if (!isJsonObject(value)) return String(value);
  const entries = Object.entries(value).map(([key, item]) => writeKey(key, style, undefined) + writeLine(item, style));
  const pad = style.padsObjects && entries.length > 0 ? ' ' : '';
  return `{${pad}${entries.join(comma)}${pad}}`;
}

/** Returns a key as JSON5, followed by a colon. */
export function writeKey(key: string, style: Style, isQuoted = style.quotesKeys): string {
  const name = isName(key) && !isQuoted ? key : quote(key, style.mark);
  return `${name}:${style.padsColons ? ' ' : ''}`;
}

function isName(key: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(key);
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };

/** Returns a string in quotes. Uses the other quotes if only these require no backslash. */
function quote(text: string, mark: string): string {
  const other = mark === '"' ? "'" : '"';
  const used = text.includes(mark) && !text.includes(other) ? other : mark;
  const inner = text
    .replaceAll('\\', '\\\\')
    .replaceAll(used, `\\${used}`)
    .replace(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
      /[\0-\x1f\x7f\u2028\u2029\ufeff]/g,
      (one) => escapes[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  return (
    used +
    inner.replace(
      /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16)}`,
    ) +
    used
  );
}
