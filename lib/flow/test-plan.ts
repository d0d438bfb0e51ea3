// Tests as they will run in virtual time: the given values, and steps that set, expect and forbid values.

import type { ParameterDeclaration } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';

/** A value that a test sets, already converted to the type of its parameter. */
export interface Assignment {
  readonly address: string;
  readonly value: Value;
}

/** What a test expects of one parameter. */
export interface Expectation {
  readonly address: string;
  readonly isTrigger: boolean;
  /** The expectation as a string: `true`, `"ON AIR"`, `unknown`, `fired`, `fired 3 times`. */
  readonly text: string;
  /** Returns the location of the expectation, such as `demo.json5:7:20`, by reading the file again. */
  place(): string;
  /**
   * Returns whether a value, or the number of times that a trigger has fired, meets the expectation. An unknown value is passed as
   * undefined.
   */
  isMetBy(actual: Value | undefined): boolean;
}

/** An action of a device in a test, or an expectation about the device. */
export interface DevicePart {
  readonly connectionId: string;
  /** Returns the location of this part of the test, such as `demo.json5:7:20`. */
  place(): string;
}

/**
 * One step of a test. At its time, the step sets the values in `set`, and simulates devices with `link` and `receive`. Then the step checks
 * `sent`, `stale`, `wanted` and `expect`. From then on, the step watches `never` for `duringMs`.
 */
export interface TestStep {
  /** The time in milliseconds since the start of the test. Undefined means that the step begins as soon as the previous step is done. */
  readonly atMs: number | undefined;
  readonly set: readonly Assignment[];
  readonly expect: readonly Expectation[];
  readonly never: readonly Expectation[];
  readonly duringMs: number;
  /** Whether each device can be reached from now on. */
  readonly link: readonly (DevicePart & { readonly isUp: boolean })[];
  /** The frames that simulated devices send to the hub. */
  readonly receive: readonly (DevicePart & { readonly bytes: Uint8Array })[];
  /** The frames that the hub must have sent since the last `sent`, in this order. Empty if the hub must not have sent any frames. */
  readonly sent: readonly (DevicePart & { readonly frames: readonly string[] })[];
  readonly stale: readonly (DevicePart & { readonly isStale: boolean })[];
  /** The values that pending writes are expected to have. */
  readonly wanted: readonly Expectation[];
}

export interface TestPlan {
  readonly name: string;
  readonly file: string;
  /** Returns the location of the test, such as `demo.json5:7:20`. */
  place(): string;
  /** The time of day at the start of the test, in milliseconds since 1970; undefined stands for the default time. */
  readonly startMs: number | undefined;
  readonly given: readonly Assignment[];
  readonly steps: readonly TestStep[];
  /** The IDs of the connections whose devices the test simulates. */
  readonly played: ReadonlySet<string>;
  /** Addresses that seem to belong to other hubs and whose types are not known. If there are any, the test cannot run. */
  readonly unknown: readonly string[];
}

/** The facts about a parameter that a test needs. */
export interface TestedParameter extends Pick<ParameterDeclaration, 'type' | 'access'> {
  readonly accept?: ParameterDeclaration['accept'] | undefined;
}

/** Formats a value for display: `true`, `-3.5`, `"ON AIR"`, `unknown`. Long strings are truncated. */
export function formatValue(value: Value | undefined): string {
  if (value === undefined) return 'unknown';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Returns the number of times that a trigger fired, in words: `fired 3 times`. */
export function timesFired(count: number): string {
  if (count === 0) return 'not fired';
  return count === 1 ? 'fired once' : `fired ${count} times`;
}
