// The tree that the language makes of an expression, as far as it is adapted here before its types are checked.

import type { Environment } from '@marcbachmann/cel-js';

/** A part of an expression: `op` is an operator, `id`, `value`, `call` or `rcall`, which is the call of a method. */
export interface Part {
  readonly op: string;
  args: unknown;
  /** Where it is in the text. */
  start: number;
  end: number;
  pos: number;
  /** The whole expression. */
  readonly input: string;
  /** Set by the check. */
  readonly checkedType?: { readonly name: string };
  /** What an operator computes from its sides; set by the check. */
  handle?: (left: unknown, right: unknown, part: Part, evaluator: unknown) => unknown;
  /** What the language has expanded a method of lists to. */
  readonly meta: { readonly alternate?: unknown; readonly macro?: unknown };
  setMeta(key: 'alternate', part: Part): this;
}

/** The whole tree of a parsed expression. The language does not declare all that its tree has. */
export function treeOf(parsed: ReturnType<Environment['parse']>): Part {
  return parsed.ast as unknown as Part;
}

/** Whether something among the arguments of a part is a part. */
export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && 'op' in value;
}

/** The parts that a part is made of, in the order of the text. */
export function partsOf(part: Part): Part[] {
  const parts: Part[] = [];
  const add = (value: unknown) => {
    if (Array.isArray(value)) for (const item of value) add(item);
    else if (isPart(value)) parts.push(value);
  };
  add(part.args);
  return parts;
}

/** Has another expression computed in the place of a part: `a ? b : c`, whose names stand for the given parts. */
export function replacePart(
  part: Part,
  environment: Environment,
  text: string,
  parts: Readonly<Record<string, Part | string>> = {},
): void {
  part.setMeta('alternate', fillIn(environment.parse(text).ast, part, parts) as Part);
}

/** Puts parts in the place of the names that stand for them. Everything else is, for mistakes, where the replaced part is. */
function fillIn(value: unknown, replaced: Part, parts: Readonly<Record<string, Part | string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => fillIn(item, replaced, parts));
  if (!isPart(value)) return value;
  const given = value.op === 'id' ? parts[value.args as string] : undefined;
  if (typeof given === 'object') return given;
  const { start, end, pos } = replaced;
  return Object.assign(value, { start, end, pos, args: given ?? fillIn(value.args, replaced, parts) });
}
