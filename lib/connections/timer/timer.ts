// Timers that fire once after their start, and pulses that fire again and again, all as triggers (S-15, D-07, D-08).

import { concat, timer as delay, EMPTY, merge, NEVER, type Observable, of, type SchedulerLike } from 'rxjs';
import { map, switchMap } from 'rxjs/operators';
import { z } from 'zod';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { longestDurationMs } from '../../model/time/duration.ts';
import { isTime } from '../../model/time/point-in-time.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import type { Memory } from '../keeping.ts';
import { durationSetting } from '../setting.ts';
import { defaultMs, readStartMs } from './duration.ts';
import { pulseSchema, runPulse } from './pulse.ts';

const maxTimers = 16;
const maxPulses = 16;

export const settingsSchema = z.strictObject({
  timers: z
    .array(durationSetting(0))
    .max(maxTimers, { error: `at most ${maxTimers} timers` })
    .default(() => Array<number>(maxTimers).fill(defaultMs))
    .describe('Default duration of timer 1, 2, …; left out: 16 timers of 1000 ms'),
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
  settingsSchema,
  durations: ['timers', 'interval'],
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

/** A timer that runs as it is kept: when it ends, and how long it had still to run when that was written. */
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
 * How long a timer of this name has still to run after a restart: it ends at the time of day at which it should. When the clock was set back
 * meanwhile it runs no longer than it had to; 0 when it should have ended by now. Emits once at most.
 */
function recall(memory: Memory, name: string, scheduler: SchedulerLike): Observable<number> {
  const { endsAt, leftMs } = keptTimer.safeParse(memory.recalled.get(name)).data ?? {};
  if (endsAt === undefined || leftMs === undefined) {
    if (memory.recalled.has(name)) memory.changed(name, () => undefined); // somebody has edited it
    return EMPTY;
  }
  return of(Math.min(leftMs, Math.max(0, memory.clockOf(endsAt) - scheduler.now())));
}
