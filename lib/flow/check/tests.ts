// Checks the tests of flow files: shape, times, addresses, and that values convert to the types of their parameters.
// What is right becomes plans; a test that could not fail is a mistake.

import { z } from 'zod';
import type { MistakeList, SettingPath } from '../../json5/mistake.ts';
import { parseAddress } from '../../model/address.ts';
import { readDurationMs } from '../../model/duration.ts';
import { describe, messageOf } from '../../model/error.ts';
import type { FlowFile } from '../files/flow-file.ts';
import type { Assignment, TestedParameter, TestPlan, TestStep } from '../test-plan.ts';
import { expectation, readTested, rejection } from './expectations.ts';
import { type FlowTestStep, testSchema, testStepSchema } from './test-schema.ts';

/** Finds a parameter, or undefined after it has added the mistake. */
export type FindTested = (file: FlowFile, path: SettingPath, address: string) => TestedParameter | undefined;

/** What of a hub tests can reach; `isExternal` tells of a Connection ID that the test stands for its outside world. */
export interface Testable {
  readonly find: FindTested;
  isExternal(connectionId: string): boolean;
}

/** Checks the list of tests of one file. */
export function checkTests(
  file: FlowFile,
  tests: readonly unknown[],
  hub: Testable,
  mistakes: MistakeList,
): readonly TestPlan[] {
  return tests.flatMap((item, index) => {
    const path = ['tests', index];
    const test = mistakes.parse(testSchema, item, file, path);
    if (test === undefined) return [];
    const check = new StepCheck(file, hub, mistakes);
    const given = check.given([...path, 'given'], test.given);
    const steps = check.steps([...path, 'steps'], test.steps, 0);
    if (test.steps.every(({ expect, never }) => isEmpty(expect) && isEmpty(never)))
      mistakes.add(file, [...path, 'steps'], 'expected at least one `expect` or `never`, got none: it cannot fail');
    return [{ name: test.name, file: file.name, place: placeOf(file, path), given, steps }];
  });
}

/** Checks steps that do not stand in a file, the first of them at `fromMs` or later. */
export function checkSteps(
  file: FlowFile,
  steps: readonly FlowTestStep[],
  hub: Testable,
  mistakes: MistakeList,
  fromMs: number,
): readonly TestStep[] {
  const parsed = mistakes.parse(z.array(testStepSchema), steps, file, ['steps']);
  return new StepCheck(file, hub, mistakes).steps(['steps'], parsed ?? [], fromMs);
}

/** Checks given values that do not stand in a file. */
export function checkGiven(
  file: FlowFile,
  given: Readonly<Record<string, unknown>>,
  hub: Testable,
  mistakes: MistakeList,
): readonly Assignment[] {
  return new StepCheck(file, hub, mistakes).given(['given'], given);
}

class StepCheck {
  readonly #file: FlowFile;
  readonly #hub: Testable;
  readonly #mistakes: MistakeList;

  constructor(file: FlowFile, hub: Testable, mistakes: MistakeList) {
    this.#file = file;
    this.#hub = hub;
    this.#mistakes = mistakes;
  }

  given(path: SettingPath, data: Readonly<Record<string, unknown>>): Assignment[] {
    return this.#each(path, data, (address, input, parameter) => {
      if (parameter.type === 'T') throw new Error(`expected a parameter with a state, "${address}" is a trigger`);
      return this.#assignment(address, input, parameter);
    });
  }

  steps(path: SettingPath, steps: readonly z.output<typeof testStepSchema>[], fromMs: number): TestStep[] {
    let lastMs = fromMs;
    return steps.map((step, index) => {
      const stepPath = [...path, index];
      const atMs = this.#duration([...stepPath, 'at'], step.at);
      if (atMs !== undefined && atMs < lastMs)
        this.#mistakes.add(
          this.#file,
          [...stepPath, 'at'],
          `expected a time of at least ${lastMs} ms, when the step before it is, got ${describe(step.at)}`,
        );
      lastMs = Math.max(lastMs, atMs ?? lastMs);
      if ((step.during === undefined) !== (step.never === undefined))
        this.#mistakes.add(this.#file, stepPath, 'expected `during` and `never` together, got one of them');
      if (step.set === undefined && step.expect === undefined && step.never === undefined)
        this.#mistakes.add(this.#file, stepPath, 'expected `set`, `expect` or `never` in a step, got none of them');
      return {
        atMs,
        set: this.#each([...stepPath, 'set'], step.set, this.#assignment.bind(this)),
        expect: this.#each([...stepPath, 'expect'], step.expect, expectation),
        never: this.#each([...stepPath, 'never'], step.never, rejection),
        duringMs: this.#duration([...stepPath, 'during'], step.during) ?? 0,
      };
    });
  }

  #each<Item>(
    path: SettingPath,
    data: Readonly<Record<string, unknown>> | undefined,
    make: (address: string, input: unknown, parameter: TestedParameter, place: () => string) => Item,
  ): Item[] {
    return Object.entries(data ?? {}).flatMap(([address, input]) => {
      const itemPath = [...path, address];
      const parameter = this.#hub.find(this.#file, itemPath, address);
      if (parameter === undefined) return [];
      try {
        return [make(address, input, parameter, placeOf(this.#file, itemPath))];
      } catch (error) {
        this.#mistakes.add(this.#file, itemPath, messageOf(error));
        return [];
      }
    });
  }

  #assignment(address: string, input: unknown, parameter: TestedParameter): Assignment {
    if (parameter.access === 'read-only' && !this.#hub.isExternal(parseAddress(address).connectionId))
      throw new Error(`expected a parameter that a test can set, "${address}" is read-only and set by its connection`);
    return { address, value: readTested(parameter, input) };
  }

  #duration(path: SettingPath, input: unknown): number | undefined {
    if (input === undefined) return undefined;
    try {
      return readDurationMs(input);
    } catch (error) {
      this.#mistakes.add(this.#file, path, messageOf(error));
      return undefined;
    }
  }
}

function isEmpty(values: object = {}): boolean {
  return Object.keys(values).length === 0;
}

function placeOf(file: FlowFile, path: SettingPath): () => string {
  return () => {
    const position = file.positionOf(path);
    return position === undefined ? file.name : `${file.name}:${position.line}:${position.column}`;
  };
}
