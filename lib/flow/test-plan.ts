// Tests as they will run in virtual time: the values given, and steps that set values, expect values, and forbid values.

import type { ParameterDeclaration } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';

/** A value that a test sets, converted to the type of its parameter. */
export interface Assignment {
  readonly address: string;
  readonly value: Value;
}

/** What a test expects of a parameter. */
export interface Expectation {
  readonly address: string;
  readonly isTrigger: boolean;
  /** In words: `true`, `"ON AIR"`, `unknown`, `fired`, `fired 3 times`. */
  readonly text: string;
  /** Finds where it stands, `demo.json5:7:20`, by reading the text again. */
  place(): string;
  /** Whether a value meets it (undefined: unknown), or a number of times that a trigger has fired. */
  isMetBy(actual: Value | undefined): boolean;
}

/** One step: at its time it sets `set`, then checks `expect`; from then on it watches `never`, for `duringMs`. */
export interface TestStep {
  /** Milliseconds since the start of the test; undefined: when the step before it was done. */
  readonly atMs: number | undefined;
  readonly set: readonly Assignment[];
  readonly expect: readonly Expectation[];
  readonly never: readonly Expectation[];
  readonly duringMs: number;
}

export interface TestPlan {
  readonly name: string;
  readonly file: string;
  /** Where it stands, `demo.json5:7:20`. */
  place(): string;
  /** The time of day at its start, in milliseconds since 1970; undefined: the usual one. */
  readonly startMs: number | undefined;
  readonly given: readonly Assignment[];
  readonly steps: readonly TestStep[];
  /** Addresses that are taken for those of other hubs, of which nothing else is known: the test cannot be run. */
  readonly unknown: readonly string[];
}

/** What a test knows of a parameter. */
export interface TestedParameter extends Pick<ParameterDeclaration, 'type' | 'access'> {
  readonly accept?: ParameterDeclaration['accept'] | undefined;
}

/** The value for people: `true`, `-3.5`, `"ON AIR"`, `unknown`; a long text is shortened. */
export function formatValue(value: Value | undefined): string {
  if (value === undefined) return 'unknown';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** How often a trigger has fired, for people. */
export function timesFired(count: number): string {
  if (count === 0) return 'not fired';
  return count === 1 ? 'fired once' : `fired ${count} times`;
}
