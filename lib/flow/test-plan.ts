// Tests as they will run in virtual time: what is given, and steps that set, expect, and watch that something never is.

import type { ParameterDeclaration } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';

/** A value, converted, that a test sets. */
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
  /** Where it stands, `demo.json5:7:20`; found on demand, since it means to read the text again. */
  place(): string;
  /** Whether it is met by a value (undefined: unknown), or by how often a trigger has fired. */
  isMetBy(actual: Value | undefined): boolean;
}

/** One step: at its time first `set`, then `expect`; from then on, for `duringMs`, `never`. */
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
  readonly given: readonly Assignment[];
  readonly steps: readonly TestStep[];
}

/** What a test knows of a parameter. */
export interface TestedParameter extends Pick<ParameterDeclaration, 'type' | 'access'> {
  readonly accept?: ParameterDeclaration['accept'] | undefined;
}

/** The value for people: `true`, `-3.5`, `"ON AIR"`, `unknown`, long texts shortened. */
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
