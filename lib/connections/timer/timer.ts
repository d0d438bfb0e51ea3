// Timer: one-shot timers and periodic pulses as trigger parameters (spec.md "Timer connection", D-07, D-08).

import { asyncScheduler, concat, timer as delay, merge, NEVER, Observable, of, type SchedulerLike } from 'rxjs';
import { map, switchMap } from 'rxjs/operators';
import { z } from 'zod';
import { describe, HubError } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { readNumber, type Value } from '../../model/value.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType, type Log } from '../connection.ts';
import { integerSetting } from '../setting.ts';

export const maxTimers = 16;
export const maxPulses = 16;
const defaultMs = 1000;
const longestMs = 2 ** 31 - 1;
/** Missed fires of a pulse are logged at most this often. */
const missedLogMs = 10_000;

const pulseSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('false: the pulse never fires'),
  interval: integerSetting(1, longestMs, 'ms').default(defaultMs).describe('Milliseconds between two fires'),
});

/** Settings of a Timer connection. */
export const settingsSchema = z.strictObject({
  timers: z
    .array(integerSetting(0, longestMs, 'ms'))
    .max(maxTimers, { error: `at most ${maxTimers} timers` })
    .default(() => Array<number>(maxTimers).fill(defaultMs))
    .describe('Default duration of timer 1, 2, … in milliseconds; left out: 16 timers of 1000 ms'),
  pulses: z
    .array(pulseSettings)
    .max(maxPulses, { error: `at most ${maxPulses} pulses` })
    .default([])
    .describe('Pulse 1, 2, …'),
});
type TimerSettings = z.output<typeof settingsSchema>;
type PulseSettings = z.output<typeof pulseSettings>;

export const timer = defineConnectionType({
  type: 'timer',
  isExternal: false,
  settingsSchema,
  parameters: declareParameters,
  run: (context) =>
    concat(
      of<ConnectionEvent>({ state: 'running' }),
      merge(
        NEVER,
        ...context.settings.timers.map((_, index) => runTimer(context, index + 1)),
        ...context.settings.pulses.map((pulse, index) => runPulse(context, pulse, `pulse/${index + 1}`)),
      ),
    ),
});

function declareParameters(settings: TimerSettings): ParameterDeclaration[] {
  return [
    ...settings.timers.flatMap((durationMs, index): ParameterDeclaration[] => [
      {
        id: `timer/${index + 1}/start`,
        type: 'I',
        access: 'write-only',
        accept: (input) => readDurationMs(input, durationMs),
      },
      { id: `timer/${index + 1}/trigger`, type: 'T', access: 'read-only' },
    ]),
    ...settings.pulses.map(
      (_, index): ParameterDeclaration => ({ id: `pulse/${index + 1}`, type: 'T', access: 'read-only' }),
    ),
  ];
}

/** What a start means (D-07): a number, also as text, is the duration in ms; all else is the default duration. */
function readDurationMs(input: unknown, defaultDurationMs: number): Value {
  if (input === null || typeof input === 'object')
    throw new HubError('not-convertible', `expected a duration in ms or any other scalar, got ${describe(input)}`);
  const number = typeof input === 'string' ? readNumber(input) : input;
  if (typeof number !== 'number') return defaultDurationMs;
  if (!(number >= 0 && number < longestMs + 1))
    throw new HubError('out-of-range', `expected a duration of 0..${longestMs} ms, got ${describe(input)}`);
  return Math.trunc(number);
}

function runTimer({ inbox, scheduler }: ConnectionContext<TimerSettings>, number: number): Observable<ConnectionEvent> {
  return inbox(`timer/${number}/start`).pipe(
    switchMap((durationMs) => delay(durationMs as number, scheduler)),
    map(() => ({ set: `timer/${number}/trigger`, value: true })),
  );
}

function runPulse(
  { scheduler, log }: { scheduler: SchedulerLike; log: Log },
  pulse: PulseSettings,
  id: string,
): Observable<ConnectionEvent> {
  if (!pulse.enabled) return NEVER;
  let missedSinceLog = 0;
  let logAgainAt = Number.NEGATIVE_INFINITY;
  return grid(pulse.interval, scheduler).pipe(
    map(({ missed }) => {
      missedSinceLog += missed;
      if (missedSinceLog > 0 && scheduler.now() >= logAgainAt) {
        log.warn(
          { pulse: id, missed: missedSinceLog },
          `${id} missed ${missedSinceLog} fires: the hub was busy or asleep`,
        );
        missedSinceLog = 0;
        logAgainAt = scheduler.now() + missedLogMs;
      }
      return { set: id, value: true };
    }),
  );
}

/**
 * Fires at start + n × intervalMs, however late the one before was; fires that a stall has swallowed are counted in
 * `missed` of the next one. Cold, never completes, never errors.
 */
export function grid(intervalMs: number, scheduler: SchedulerLike = asyncScheduler): Observable<{ missed: number }> {
  return new Observable((subscriber) => {
    const start = scheduler.now();
    let due = 1;
    const untilDueMs = () => Math.max(0, Math.ceil(start + due * intervalMs - scheduler.now()));
    const fire = () => {
      const elapsed = Math.max(due, Math.floor((scheduler.now() - start) / intervalMs));
      const missed = elapsed - due;
      due = elapsed + 1;
      subscriber.next({ missed });
      if (!subscriber.closed) scheduled = scheduler.schedule(fire, untilDueMs());
    };
    let scheduled = scheduler.schedule(fire, untilDueMs());
    return () => scheduled.unsubscribe();
  });
}
