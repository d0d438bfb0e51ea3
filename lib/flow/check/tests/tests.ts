// Checks the tests of flow files: shape, times, addresses, and that values convert to the types of their parameters.
// What is right becomes plans; a test that could not fail is a mistake.

import { z } from 'zod';
import type { Assignment, TestPlan, TestStep } from '../../test-plan.ts';
import type { Spot } from '../spot.ts';
import { StepCheck, type Testable } from './steps.ts';
import { type FlowTestStep, testSchema, testStepSchema } from './test-schema.ts';

/** Checks the list of tests of one file. */
export function checkTests(spot: Spot, tests: readonly unknown[], hub: Testable): readonly TestPlan[] {
  return tests.flatMap((item, index) => {
    const check = new StepCheck(hub);
    const testSpot = spot.at(index);
    const before = testSpot.mistakeCount;
    const test = testSpot.parse(testSchema, item);
    if (test === undefined) return [];
    const isWhole = testSpot.mistakeCount === before;
    const given = check.given(testSpot.at('given'), test.given);
    const stepsSpot = testSpot.at('steps');
    const steps = check.steps(stepsSpot, test.steps, 0, isWhole);
    if (isWhole && test.steps.every(({ expect, never }) => isEmpty(expect) && isEmpty(never)))
      stepsSpot.add('expected at least one `expect` or `never`, got none: it cannot fail');
    return [
      {
        name: test.name,
        file: spot.file.name,
        place: testSpot.place,
        startMs: test.start,
        given,
        steps,
        unknown: [...new Set(check.unknown)],
      },
    ];
  });
}

/** Checks steps that do not stand in a file, the first of them at `fromMs` or later. */
export function checkSteps(
  spot: Spot,
  steps: readonly FlowTestStep[],
  hub: Testable,
  fromMs: number,
): readonly TestStep[] {
  const stepsSpot = spot.at('steps');
  const parsed = stepsSpot.parse(z.array(testStepSchema), steps) ?? [];
  return new StepCheck(hub).steps(stepsSpot, parsed, fromMs);
}

/** Checks given values that do not stand in a file. */
export function checkGiven(spot: Spot, given: Readonly<Record<string, unknown>>, hub: Testable): readonly Assignment[] {
  return new StepCheck(hub).given(spot.at('given'), given);
}

function isEmpty(values: object = {}): boolean {
  return Object.keys(values).length === 0;
}
