// The syntax tree of an expression, which is adapted before its types are checked.

import type { Environment } from '@marcbachmann/cel-js';

/** A node in the tree. `op` is an operator, `id`, `value`, `call`, or `rcall` for a method call. */
export interface Part {
  readonly op: string;
  args: unknown;
  /** The offset in the expression at which the part begins. */
  start: number;
  end: number;
  pos: number;
  /** The text of the whole expression. */
  readonly input: string;
  /** The type of the part's result. Set by the type check. */
  readonly checkedType?: { readonly name: string };
  /** Computes the part's result from the operands. Set by the type check. */
  handle?: (left: unknown, right: unknown, part: Part, evaluator: unknown) => unknown;
  /** Contains CEL's expansion of a list method, if any. */
  readonly meta: { readonly alternate?: unknown; readonly macro?: unknown };
  setMeta(key: 'alternate', part: Part): this;
}

/** Returns the syntax tree of a parsed expression, of which the library's type declarations cover only a part. */
export function treeOf(parsed: ReturnType<Environment['parse']>): Part {
  return parsed.ast as unknown as Part;
}

/** Returns whether an argument of a part of the tree is itself a part. */
export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && 'op' in value;
}

/** Returns the child parts of a part of the tree, in the order of the expression's text. */
export function partsOf(part: Part): Part[] {
  const parts: Part[] = [];
  const add = (value: unknown) => {
    if (Array.isArray(value)) for (const item of value) add(item);
    else if (isPart(value)) parts.push(value);
  };
  add(part.args);
  return parts;
}

/** Replaces a part of the tree with another expression, such as `a ? b : c`, in which names stand for the given parts. */
export function replacePart(
  part: Part,
  environment: Environment,
  text: string,
  parts: Readonly<Record<string, Part | string>> = {},
): void {
  part.setMeta('alternate', fillIn(environment.parse(text).ast, part, parts) as Part);
}

/**
 * Returns a value in which parts replace the names that stand for them. Errors in all other parts are reported at the offset of the
 * replaced part.
 */
function fillIn(value: unknown, replaced: Part, parts: Readonly<Record<string, Part | string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => fillIn(item, replaced, parts));
  if (!isPart(value)) return value;
  const given = value.op === 'id' ? parts[value.args as string] : undefined;
  if (typeof given === 'object') return given;
  const { start, end, pos } = replaced;
  return Object.assign(value, { start, end, pos, args: given ?? fillIn(value.args, replaced, parts) });
}
