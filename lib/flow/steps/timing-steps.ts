// Steps that let values wait. A step that holds each value by itself holds a bounded number of them.

import { auditTime, debounceTime, defer, delay, filter, sampleTime, tap, throttleTime } from 'rxjs';
import { z } from 'zod';
import { groupDigits } from '../../model/digits.ts';
import { atLeast, define, durationMs, type NamedStep, timed } from './define-step.ts';
import type { Operator, StepRuntime } from './step.ts';

/** A delay holds at most this many values. What comes while it is full is dropped, and the rule is shown as limited. */
const maxDelayed = 10_000;
const delayIsFull = `a delay holds ${groupDigits(maxDelayed)} values at most, the next was dropped`;

export const timingSteps: readonly NamedStep[] = [
  timed('debounceTime', 'passes the newest value on when none has come for this long', debounceTime),
  define(
    'throttleTime',
    'passes a value on, then none for this long; with { duration: 100, trailing: true } the newest of these in the end',
    z.union([durationMs, z.strictObject({ duration: durationMs, trailing: z.boolean().default(false) })], {
      error: 'milliseconds, a duration such as "1m30s", or { duration: 100, trailing: true }',
    }),
    (setting, { type }) => {
      const { duration, trailing } = typeof setting === 'number' ? { duration: setting, trailing: false } : setting;
      return { type, create: ({ scheduler }) => throttleTime(duration, scheduler, { leading: true, trailing }) };
    },
  ),
  timed('auditTime', 'passes the newest value on, this long after the first', auditTime),
  timed('sampleTime', 'passes the newest value on at every interval of this length', sampleTime, atLeast(1)),
  define('delay', 'passes each value on this much later', durationMs, (ms, { type }) => ({
    type,
    create: (runtime) => boundedDelay(ms, runtime),
  })),
];

function boundedDelay(ms: number, { causalScheduler, overflow }: StepRuntime): Operator {
  return (source) =>
    defer(() => {
      let waiting = 0;
      return source.pipe(
        filter(() => {
          if (waiting >= maxDelayed) overflow(delayIsFull);
          return waiting < maxDelayed;
        }),
        tap(() => waiting++),
        delay(ms, causalScheduler),
        tap(() => waiting--),
      );
    });
}
