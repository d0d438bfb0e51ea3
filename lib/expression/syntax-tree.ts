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
  /** What the language has expanded a method of lists to. */
  readonly meta: { readonly alternate?: unknown; readonly macro?: unknown };
  setMeta(key: 'alternate', part: Part): this;
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
  // a method comes before its receiver in the arguments, but is no part
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
  const replacement = environment.parse(text).ast as unknown as Part;
  const fill = (at: Part) => {
    at.start = part.start;
    at.end = part.end;
    at.pos = part.pos;
    const fillList = (list: unknown[]) => {
      list.forEach((item, index) => {
        if (Array.isArray(item)) fillList(item);
        else if (isPart(item)) {
          const given = item.op === 'id' ? parts[item.args as string] : undefined;
          if (typeof given === 'object') list[index] = given;
          else fill(item);
        }
      });
    };
    if (at.op === 'id' && typeof parts[at.args as string] === 'string') at.args = parts[at.args as string];
    else if (Array.isArray(at.args)) fillList(at.args);
    else if (isPart(at.args)) fill(at.args);
  };
  fill(replacement);
  part.setMeta('alternate', replacement);
}
