// Variables in a flow file: what `${…}` stands for in a rule, and how one of the rules that `each` creates becomes a separate rule.

import { readJson5 } from './json5-text.ts';
import { dataOf, type Op, type SourceFile, type SourceNode, withoutIndent } from './source-tree.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Returns the nodes on the way from the whole file down to a path. */
function wayTo(tree: SourceNode | undefined, path: string): SourceNode[] {
  const way: SourceNode[] = [];
  for (let node = tree; node !== undefined; ) {
    way.push(node);
    if (node.path === path) return way;
    node = node.children?.find(
      (one) => path === one.path || (path.startsWith(one.path) && /^[.[]/.test(path.slice(one.path.length))),
    );
  }
  return way;
}

function childData(node: SourceNode, key: string): unknown {
  const child = node.children?.find((one) => one.key === key);
  return child && dataOf(child);
}

/** Returns the combinations of values in an `each`, in the order in which the hub creates items. */
export function combinationsOf(each: unknown): Variables[] {
  if (typeof each !== 'object' || each === null) return [];
  let all: Variables[] = [{}];
  for (const [name, list] of Object.entries(each))
    all = all.flatMap((one) => (Array.isArray(list) ? list : []).map((value) => ({ ...one, [name]: value })));
  return all;
}

/** Returns the variables of the rule at a path. `made` is the rule's number among the rules that `each` creates. */
export function variablesAt({ tree, file }: SourceFile, path: string, made = 0): Variables {
  const instance = file.replace(/^.*[\\/]/, '').replace(/\.\w+$/, '');
  let variables: Record<string, unknown> = { instance, ...(tree && (childData(tree, 'variables') as object)) };
  let rest = made;
  for (const node of wayTo(tree, path).toReversed()) {
    const all = node.kind === 'object' ? combinationsOf(childData(node, 'each')) : [];
    if (all.length === 0) continue;
    variables = { ...variables, ...all[rest % all.length] };
    rest = Math.floor(rest / all.length);
  }
  return variables;
}

/** Replaces the variables in a string. A string that consists only of a variable becomes the variable's value. */
export function expand(text: string, variables: Variables): unknown {
  const whole = /^\$\{([^}]+)\}$/.exec(text)?.[1];
  if (whole !== undefined) return valueNamed(whole, variables) ?? text;
  return text.replace(/(?<!\$)\$\{([^}]+)\}/g, (all, name: string) => String(valueNamed(name, variables) ?? all));
}

export function expandText(text: string, variables: Variables): string {
  return String(expand(text, variables));
}

function valueNamed(name: string, variables: Variables): unknown {
  let value: unknown = variables;
  for (const part of name.trim().split('.')) value = (value as Variables | undefined)?.[part];
  return value;
}

/** The result of separating rules from their `each`: the edits, the resulting path of the opened rule, and the data of that rule. */
export interface Separation {
  readonly ops: readonly Op[];
  readonly path: string;
  readonly rule: unknown;
}

/**
 * Returns the edits that write out each item of an `each` separately, with its comments and layout. With one variable, only the value
 * `made` is removed from the `each`; with several variables, the whole `each` is removed. Returns undefined if nothing can be separated, or
 * if the location is not in a list.
 */
export function separate(source: SourceFile, path: string, made: number): Separation | undefined {
  const { tree } = source;
  const outer = wayTo(tree, path).findLast((node) => node.kind === 'object' && childData(node, 'each') !== undefined);
  const [, list, index] = /^(.*)\[(\d+)\]$/.exec(outer?.path ?? '') ?? [];
  if (outer === undefined || list === undefined) return undefined;
  const each = childData(outer, 'each');
  const all = combinationsOf(each);
  const chosen = all[made % all.length];
  if (chosen === undefined || all.length > maxSeparated) return undefined;
  const names = Object.keys(each as object);
  const first = Number(index);
  const isOne = names.length === 1 && all.length > 1;
  const items = isOne ? written(source, outer, chosen) : all.flatMap((one) => written(source, outer, one));
  const perCombination = items.length / (isOne ? 1 : all.length);
  const at = isOne ? first + 1 : first;
  const ops: Op[] = isOne ? [{ path: `${outer.path}.each.${names[0]}[${made}]`, remove: true }] : [];
  for (const [offset, { data, text }] of items.entries()) {
    const place = `${list}[${at + offset}]`;
    if (isOne || offset > 0) ops.push({ path: place, insert: data });
    ops.push({ path: place, text });
  }
  const within = Number(/\.rules\[(\d+)\]$/.exec(path.slice(outer.path.length))?.[1] ?? 0);
  const before = isOne ? 0 : made * perCombination;
  const isInFolder =
    perCombination === 1 && path !== outer.path && Array.isArray((items[0]?.data as Group | undefined)?.rules);
  const place = isInFolder ? `${list}[${at + before}].rules[${within}]` : `${list}[${at + before + within}]`;
  const item = items[isInFolder ? before : before + within]?.data;
  return { ops, path: place, rule: isInFolder ? (item as Group).rules![within] : item };
}

interface Group {
  readonly rules?: readonly unknown[];
}

/** The maximum number of items that are written separately instead of being created by an `each`. A longer result would be unreadable. */
const maxSeparated = 50;

/** Returns the items that one combination of an `each` creates: one item, or the rules in a group without a folder. */
function written(source: SourceFile, outer: SourceNode, variables: Variables): { data: unknown; text: string }[] {
  const rules = outer.children?.find(({ key }) => key === 'rules');
  const isGroup = rules?.kind === 'list' && childData(outer, 'folder') === undefined;
  const lineStart = source.text.lastIndexOf('\n', outer.start - 1) + 1;
  const indent = /^[ \t]*/.exec(source.text.slice(lineStart, outer.start))![0];
  return (isGroup ? (rules.children ?? []) : [outer]).map((node) => {
    const item = expandedText(source, node, variables);
    const comments = node === outer ? [] : commentsOf(source.text, node).map((one) => expandText(one, variables));
    const text = [...comments, item].join('\n').replace(/\n(?=[^\n])/g, `\n${indent}`);
    return { text: item.includes('\\\n') ? item : text, data: readJson5(item) };
  });
}

/** Returns the comments that belong to an item: those above the item and those after its comma. */
function commentsOf(text: string, { lead, start, end, tail }: SourceNode): string[] {
  return [text.slice(lead, start), text.slice(end, tail)].flatMap((part) => part.match(comment) ?? []);
}

const comment = /\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g;

/** Returns the text of an item with its variables replaced, without its `each`, and without the indentation of its further lines. */
function expandedText({ text }: SourceFile, item: SourceNode, variables: Variables): string {
  let result = '';
  let end = item.start;
  const replace = (from: number, to: number, by: string) => {
    result += text.slice(end, from) + by;
    end = to;
  };
  const visit = (node: SourceNode) => {
    for (const [index, child] of (node.children ?? []).entries()) {
      if (node === item && child.key === 'each') {
        const [before, after] = [node.children![index - 1], node.children![index + 1]];
        replace(after === undefined && before !== undefined ? before.tail : child.lead, after?.lead ?? child.tail, '');
        continue;
      }
      if (child.key?.includes('${')) {
        const lead = text.slice(child.lead, child.start);
        replace(child.lead, child.start, expandText(lead, escaped(variables, /["']/.exec(lead)?.[0] ?? "'")));
      }
      if (child.kind !== 'text' || !String(child.value).includes('${')) visit(child);
      else {
        const raw = text.slice(child.start, child.end);
        const value = expand(String(child.value), variables);
        const isText = typeof value === 'string';
        replace(child.start, child.end, isText ? expandText(raw, escaped(variables, raw[0]!)) : JSON.stringify(value));
      }
    }
  };
  visit(item);
  return withoutIndent(result + text.slice(end, item.end)).text;
}

/** Returns variables whose string values can be inserted into a quoted string. */
function escaped(variables: Variables, quote: string): Variables {
  const inQuotes = (value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`) : value;
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, inQuotes(value)]));
}

/** A part of a string: plain text, or a variable that is shown as one piece. */
export interface TextPart {
  readonly text: string;
  readonly variable?: string;
}

/** Splits a string at its variables. There is a plain part, which may be empty, before, between and after the variables. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: all, 1: variable, index } of text.matchAll(/(?<!\$)\$\{([^}]*)\}/g)) {
    parts.push({ text: text.slice(end, index) }, { text: all, variable: variable!.trim() });
    end = index + all.length;
  }
  return [...parts, { text: text.slice(end) }];
}

export function joined(parts: readonly TextPart[]): string {
  return parts.map(({ text }) => text).join('');
}
