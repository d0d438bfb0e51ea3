// The connection type `timer`: timers that fire once after they are started, and pulses that fire repeatedly. Both are triggers (S-15,
// D-07, D-08).

import { asyncScheduler, concat, timer as delay, EMPTY, merge, NEVER, Observable, of, type SchedulerLike } from 'rxjs';
import { map, switchMap } from 'rxjs/operators';
import { z } from 'zod';
import { counted } from '../../model/digits.ts';
import { describe, HubError } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { longestDurationMs } from '../../model/time/duration.ts';
import { isTime } from '../../model/time/iso-time.ts';
import { readNumber, type Value } from '../../model/value.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType, type Log } from '../connection.ts';
import type { Memory } from '../persistence.ts';
import { durationSetting } from '../setting.ts';

// The durations of timers and pulses, in milliseconds

/** The default duration of a timer or pulse, in milliseconds (S-15, D-08). */
const defaultMs = 1000;

/**
 * Converts the value that starts a timer to a duration in milliseconds (D-07). A number, or a string that contains a number, is the
 * duration; for any other scalar, the default is used.
 */
export function readStartMs(input: unknown, defaultDurationMs: number): Value {
  if (typeof input !== 'number' && typeof input !== 'string' && typeof input !== 'boolean')
    throw new HubError('not-convertible', `expected a scalar, such as a duration in ms, got ${describe(input)}`);
  const number = typeof input === 'string' ? readNumber(input) : input;
  if (typeof number !== 'number') return defaultDurationMs;
  if (!(number >= 0 && number < longestDurationMs + 1))
    throw new HubError('out-of-range', `expected a duration of 0..${longestDurationMs} ms, got ${describe(input)}`);
  return Math.trunc(number) + 0;
}

// Pulses fire on a fixed grid: a late pulse does not delay the next pulse. The number of missed pulses is logged.

/** The minimum interval between log entries about missed pulses, in milliseconds. */
const missedLogMs = 10_000;

const pulseSchema = z.strictObject(
  {
    enabled: z.boolean().default(true).describe('false: the pulse never fires'),
    interval: durationSetting(1).default(defaultMs).describe('Time between two pulses'),
  },
  { error: '{ interval: 500 }' },
);

type PulseSettings = z.output<typeof pulseSchema>;

/** Fires the parameter with this ID at each pulse. Cold, never completes, never errors. */
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
          `${id} missed ${counted(missedSinceLog, 'pulse')}: the hub was busy or asleep`,
        );
        missedSinceLog = 0;
        logAgainAt = scheduler.now() + missedLogMs;
      }
      return { set: id, value: true };
    }),
  );
}

/**
 * Emits at start + n × `intervalMs`, no matter how late the previous pulse was. `missed` is the number of pulses missed before this pulse.
 * Cold, never completes, never errors.
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

const maxTimers = 16;
const maxPulses = 16;

const settingsSchema = z.strictObject({
  timers: z
    .array(durationSetting(0))
    .max(maxTimers, { error: `at most ${maxTimers} timers` })
    .default(() => Array<number>(maxTimers).fill(defaultMs))
    .describe('Default duration of timer 1, 2, …; default: 16 timers of 1000 ms'),
  pulses: z
    .array(pulseSchema)
    .max(maxPulses, { error: `at most ${maxPulses} pulses` })
    .default([])
    .describe('Pulse 1, 2, …'),
});
type Settings = z.output<typeof settingsSchema>;

export const timer = defineConnectionType({
  type: 'timer',
  isExternal: false,
  isKept: true,
  lostAtRestart: 'its running timers end',
  settingsSchema,
  durations: ['timers', 'interval'],
  parameters: declareParameters,
  causes: () => (parameterId) => (parameterId.endsWith('/trigger') ? [parameterId.replace(/trigger$/, 'start')] : []),
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

function declareParameters(settings: Settings): ParameterDeclaration[] {
  return [
    ...settings.timers.flatMap((durationMs, index): ParameterDeclaration[] => [
      {
        id: `timer/${index + 1}/start`,
        type: 'I',
        access: 'write-only',
        accept: (input) => readStartMs(input, durationMs),
      },
      { id: `timer/${index + 1}/trigger`, type: 'T', access: 'read-only' },
    ]),
    ...settings.pulses.map(
      (_, index): ParameterDeclaration => ({ id: `pulse/${index + 1}`, type: 'T', access: 'read-only' }),
    ),
  ];
}

/** The stored form of a running timer: the time at which it ends, and the time that was left when it was stored, in milliseconds. */
const keptTimer = z.object({
  endsAt: z.number().refine(isTime),
  leftMs: z.number().min(0).max(longestDurationMs).default(longestDurationMs),
});
type KeptTimer = z.output<typeof keptTimer>;

function runTimer(context: ConnectionContext<Settings>, number: number): Observable<ConnectionEvent> {
  const { inbox, scheduler, memory } = context;
  const name = `timer/${number}`;
  const recalled$ = memory === undefined ? EMPTY : recall(memory, name, scheduler);
  return merge(recalled$, inbox(`${name}/start`)).pipe(
    switchMap((durationMs) => {
      const endsAt = scheduler.now() + (durationMs as number);
      memory?.changed(name, (): KeptTimer => {
        const leftMs = Math.max(0, Math.round(endsAt - scheduler.now()));
        return { endsAt: Math.round(memory.timeOf(endsAt)), leftMs };
      });
      return delay(durationMs as number, scheduler);
    }),
    map(() => {
      memory?.changed(name, () => undefined);
      return { set: `${name}/trigger`, value: true };
    }),
  );
}

/**
 * Emits the remaining time of a timer after a restart, in milliseconds, at most once. This is the time until the timer should end, or 0 if
 * that moment has passed. If the clock was set back, it is at most the remaining time when the timer was stored.
 */
function recall(memory: Memory, name: string, scheduler: SchedulerLike): Observable<number> {
  const { endsAt, leftMs } = keptTimer.safeParse(memory.recalled.get(name)).data ?? {};
  if (endsAt === undefined || leftMs === undefined) {
    if (memory.recalled.has(name)) memory.changed(name, () => undefined); // the stored data was edited
    return EMPTY;
  }
  return of(Math.min(leftMs, Math.max(0, memory.clockOf(endsAt) - scheduler.now())));
}
