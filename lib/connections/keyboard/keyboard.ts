// The connection type `keyboard`: global hotkeys as triggers, and simulated key presses (S-17, D-10). The native libraries run in a
// separate process. If this process ends for any reason, the connection is degraded and starts another process; the hub is not affected.

import { defer, merge, type Observable, type SchedulerLike } from 'rxjs';
import { buffer, finalize, ignoreElements, tap, throttleTime } from 'rxjs/operators';
import { counted } from '../../model/digits.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { defineConnectionType, type Log } from '../connection.ts';
import { type LostPresses, PressQueue, releaseHeld, restartWithBackoff, runSession } from './session.ts';
import { type KeyboardSettings, settingsSchema } from './settings.ts';

const lossLogMs = 1000;

export const keyboard = defineConnectionType({
  type: 'keyboard',
  isExternal: true,
  settingsSchema,
  parameters: declareParameters,
  run: (context) =>
    defer(() => {
      const { settings, inbox, scheduler, log } = context;
      const presses = new PressQueue();
      let end: Promise<unknown> = Promise.resolve();
      const finish = (work: Promise<unknown>) => {
        end = work;
        context.finish(work);
      };
      const requests$ = settings.outputKeys.map((combination) =>
        inbox(`output/${combination.written}`).pipe(tap(() => presses.push(combination))),
      );
      return merge(
        merge(logLosses(presses.lost$, scheduler, log), ...requests$).pipe(ignoreElements()),
        restartWithBackoff(runSession({ ...context, finish }, presses), scheduler),
      ).pipe(finalize(() => context.finish(end.then(() => releaseHeld(presses, context)))));
    }),
});

function declareParameters({ inputKeys, outputKeys }: KeyboardSettings): ParameterDeclaration[] {
  return [
    ...inputKeys.map(
      ({ written }): ParameterDeclaration => ({ id: `input/${written}`, type: 'T', access: 'read-only' }),
    ),
    ...outputKeys.map(
      ({ written }): ParameterDeclaration => ({ id: `output/${written}`, type: 'T', access: 'write-only' }),
    ),
  ];
}

/** Logs the number of lost presses, at most once per second. */
function logLosses(lost$: Observable<LostPresses>, scheduler: SchedulerLike, log: Log): Observable<unknown> {
  const second$ = lost$.pipe(throttleTime(lossLogMs, scheduler, { leading: true, trailing: true }));
  return lost$.pipe(
    buffer(second$),
    tap((losses) => {
      const count = losses.reduce((sum, lost) => sum + lost.count, 0);
      if (count > 0) log.warn({ count }, `dropped ${counted(count, 'press', 'presses')}: ${losses.at(-1)?.reason}`);
    }),
  );
}
