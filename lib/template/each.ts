// Reads `each: { n: [1, 2, 3] }`. Several variables produce every combination of their values; the last variable varies fastest.

import { z } from 'zod';
import type { SettingPath } from '../json5/mistake.ts';
import { isJsonObject } from '../model/json-object.ts';
import { record } from '../model/record-schema.ts';
import { describeSetting } from '../model/secret.ts';
import { Scope } from './scope.ts';

const namePattern = /^[A-Za-z_]\w*$/;

/** Reports an error in an `each` at a path within it. */
type ReportMistake = (path: SettingPath, message: string) => void;

/** What an `each` produces: its scopes within an outer scope, and the names that are used in these scopes. */
interface Repetition {
  readonly scopes: Iterable<Scope>;
  readonly count: number;
  readonly names: readonly string[];
  readonly used: ReadonlySet<string>;
}

/** Reads an `each` in which the variables of the outer scope have been replaced. If this fails, reports the error and returns undefined. */
export function readEach(each: unknown, outer: Scope, report: ReportMistake): Repetition | undefined {
  if (!isJsonObject(each) || Object.keys(each).length === 0) {
    report([], `expected lists of values by variable, such as { n: [1, 2, 3] }, got ${describeSetting(each)}`);
    return undefined;
  }
  const lists = Object.entries(each);
  let isRight = true;
  for (const [name, values] of lists) {
    const mistake = mistakeOf(name, values, outer);
    if (mistake === undefined) continue;
    isRight = false;
    if (typeof values !== 'symbol') report([name], mistake);
  }
  if (!isRight) return undefined;
  const used = new Set<string>();
  const names = lists.map(([name]) => name);
  const count = lists.reduce((product, [, values]) => product * (values as unknown[]).length, 1);
  return {
    scopes: combine(lists as [string, unknown[]][], new Map(), (values) => new Scope(values, used, outer)),
    count,
    names,
    used,
  };
}

function mistakeOf(name: string, values: unknown, outer: Scope): string | undefined {
  if (!namePattern.test(name)) return `expected the name of a variable, such as n or studio, got "${name}"`;
  if (name === 'instance') return 'expected a different name, because ${instance} stands for the key of the instance';
  if (outer.names.includes(name)) return `expected a different name, because the variable "${name}" already exists`;
  if (!Array.isArray(values))
    return `expected a list of values, such as [1, 2, 3], got ${describeSetting(values, [name])}`;
  return values.length === 0 ? 'expected at least one value' : undefined;
}

function* combine(
  [first, ...rest]: readonly (readonly [string, readonly unknown[]])[],
  values: ReadonlyMap<string, unknown>,
  create: (values: ReadonlyMap<string, unknown>) => Scope,
): Generator<Scope, void, void> {
  if (first === undefined) yield create(values);
  else for (const value of first[1]) yield* combine(rest, new Map([...values, [first[0], value]]), create);
}

// The schema for `each`, which is intended for editors. The expansion checks an `each` with `readEach`.

/** The schema for `each`, which repeats the item that contains it. */
export const eachSchema = record(
  z.string().meta({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', not: { const: 'instance' } }),
  z.union([z.array(z.unknown()).min(1), z.string().meta({ pattern: '^\\$\\{.*\\}$' })]),
)
  .meta({ minProperties: 1 })
  .describe(
    'Repeats this item for each value: with { n: [1, 2] }, ${n} is 1, then 2. Several names give every combination',
  );
