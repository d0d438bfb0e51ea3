// Variables in a flow file: what `${…}` stands for at a rule, and a rule of its own out of those that `each` makes.

import { dataOf, nodeAt, type Op, type SourceFile, type SourceNode } from './source-file.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Returns the nodes from the whole file down to a path. */
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

/** Returns the combinations of an `each`, in the order in which the hub makes items. */
function combinationsOf(each: unknown): Variables[] {
  if (typeof each !== 'object' || each === null) return [];
  let all: Variables[] = [{}];
  for (const [name, list] of Object.entries(each))
    all = all.flatMap((one) => (Array.isArray(list) ? list : []).map((value) => ({ ...one, [name]: value })));
  return all;
}

/** Returns the variables of a rule; of those that `each` makes, of the one with the number `made`. */
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

/** Replaces variables in a text; one that is only a variable becomes its value. */
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

function expandAll(data: unknown, variables: Variables): unknown {
  if (typeof data === 'string') return expand(data, variables);
  if (Array.isArray(data)) return data.map((one) => expandAll(one, variables));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, one]) => [expandText(key, variables), expandAll(one, variables)]),
  );
}

/**
 * Returns the edit that takes one combination out of an `each` and writes its rules on their own, and the path of the rule afterwards;
 * undefined: `each` has several names, or only one value, or the file has none.
 */
export function separate(
  { tree }: SourceFile,
  path: string,
  made: number,
): { readonly ops: readonly Op[]; readonly path: string } | undefined {
  const outer = wayTo(tree, path).findLast((node) => node.kind === 'object' && childData(node, 'each') !== undefined);
  const each = outer && (childData(outer, 'each') as Readonly<Record<string, unknown>>);
  const [name, ...more] = Object.keys(each ?? {});
  const values = name === undefined ? undefined : each![name];
  if (outer === undefined || more.length > 0 || !Array.isArray(values) || values.length < 2) return undefined;
  const [, list, index] = /^(.*)\[(\d+)\]$/.exec(outer.path) ?? [];
  if (list === undefined) return undefined;
  const variables = { [name!]: values[made] };
  const { each: _, ...rest } = dataOf(outer) as Record<string, unknown>;
  const isGroup = Array.isArray(rest.rules);
  const items = isGroup && rest.folder === undefined ? (rest.rules as unknown[]) : [rest];
  const at = Number(index) + 1;
  const ops: Op[] = [
    { path: `${outer.path}.each.${name}[${made}]`, remove: true },
    ...items.map((item, offset) => ({ path: `${list}[${at + offset}]`, insert: expandAll(item, variables) })),
  ];
  const within = Number(/\.rules\[(\d+)\]$/.exec(path.slice(outer.path.length))?.[1] ?? 0);
  const isInFolder = isGroup && rest.folder !== undefined;
  return { ops, path: isInFolder ? `${list}[${at}].rules[${within}]` : `${list}[${at + within}]` };
}

/** Whether a file has a value at a path. */
export function hasPath({ tree }: SourceFile, path: string): boolean {
  return nodeAt(tree, path)?.path === path;
}
