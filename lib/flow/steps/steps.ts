// The steps in `pipe`: RxJS operators under their own names, and a few steps for automation.

import { computingSteps, mappingSteps } from './computing-steps.ts';
import { gradualSteps } from './gradual-steps.ts';
import type { StepType } from './step.ts';
import { passingSteps, timingSteps } from './timing-steps.ts';
import { windowSteps } from './window-steps.ts';

/** All steps, keyed by name, in the order in which they are documented. */
export const stepTypes: ReadonlyMap<string, StepType> = new Map([
  ...computingSteps,
  ...timingSteps,
  ...passingSteps,
  ...mappingSteps,
  ...windowSteps,
  ...gradualSteps,
]);
