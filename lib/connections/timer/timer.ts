// Timers that fire once after their start, and pulses that fire again and again, all as triggers (S-15, D-07, D-08).

import { concat, timer as delay, EMPTY, merge, NEVER, type Observable, of } from 'rxjs';
import { map, switchMap } from 'rxjs/operators';
import { z } from 'zod';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import { durationSetting } from '../setting.ts';
import { defaultMs, readStartMs } from './duration.ts';
import { pulseSchema, runPulse } from './pulse.ts';
import { recallMs } from './recall.ts';

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

function runTimer(context: ConnectionContext<Settings>, number: number): Observable<ConnectionEvent> {
  const { inbox, scheduler, memory } = context;
  const name = `timer/${number}`;
  const recalled$ = memory === undefined ? EMPTY : recallMs(memory, name, scheduler);
  return merge(recalled$, inbox(`${name}/start`)).pipe(
    switchMap((durationMs) => {
      const endsAt = scheduler.now() + (durationMs as number);
      memory?.changed(name, () => ({ endsAt: Math.round(memory.timeOf(endsAt)) }));
      return delay(durationMs as number, scheduler);
    }),
    map(() => {
      memory?.changed(name, () => undefined);
      return { set: `${name}/trigger`, value: true };
    }),
  );
}
