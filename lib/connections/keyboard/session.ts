// One life of the keyboard's process, from its start to its end: what it says becomes events, presses go to it one by
// one, and an answer that does not come ends it.

import { BehaviorSubject, defer, merge, NEVER, type Observable, Subject, throwError, timer } from 'rxjs';
import { catchError, finalize, mergeMap, startWith, switchMap } from 'rxjs/operators';
import { messageOf } from '../../model/error.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { ProcessEnded, runProcess } from './channel.ts';
import type { FromProcess, ToProcess } from './messages.ts';
import type { PressQueue } from './press-queue.ts';
import { Interrupted } from './restart.ts';
import type { KeyboardSettings } from './settings.ts';

/** Within this time the process is ready; an X server that hangs is found by it. */
export const startDeadlineMs = 8000;
/** Within this time a press is made, which takes 80 ms at most. */
const pressDeadlineMs = 3000;
const listening = 'listening';
const pressing = 'pressing';
const orderly = 'exit code 0';

/**
 * Cold, never completes. Errors when the keyboard cannot be used any more, with the reason for its operator; `Interrupted`
 * when that has left keys down.
 */
export function runSession(
  context: ConnectionContext<KeyboardSettings>,
  presses: PressQueue,
): Observable<ConnectionEvent> {
  const { settings, scheduler, log } = context;
  const { inputKeys, outputKeys } = settings;
  return defer(() => {
    const toProcess$ = new Subject<ToProcess>();
    const doing$ = new BehaviorSubject('starting');

    const eventsOf = (said: FromProcess): ConnectionEvent[] => {
      if ('fired' in said) {
        const hotkey = inputKeys[said.fired];
        return hotkey === undefined ? [] : [{ set: `input/${hotkey.written}`, value: true }];
      }
      if ('fault' in said) {
        toProcess$.error(new Error(said.fault));
        return [];
      }
      if ('holding' in said) {
        presses.hold(said.holding);
        return [];
      }
      doing$.next('opening' in said ? `opening the display ${said.opening}` : listening);
      if ('ready' in said) {
        presses.open(({ keys, written }) => {
          doing$.next(`${pressing} ${written}`);
          toProcess$.next({ press: keys });
        });
        return [{ state: 'running' }];
      }
      if ('pressed' in said) {
        if (said.failure !== '') log.warn({}, `a press failed: ${said.failure}`);
        presses.done();
      }
      return [];
    };

    const release = presses.held;
    const first: ToProcess = {
      listen: inputKeys.map(({ keys }) => keys),
      presses: outputKeys.length > 0,
      release,
    };
    const reasonOf = (error: unknown) =>
      error instanceof ProcessEnded
        ? `the keyboard process ended while ${doing$.value} (${error.message})`
        : messageOf(error);
    const silence$ = doing$.pipe(
      switchMap((doing) =>
        doing === listening ? NEVER : timer(doing.startsWith(pressing) ? pressDeadlineMs : startDeadlineMs, scheduler),
      ),
      mergeMap(() => throwError(() => new Error(`the keyboard process hangs while ${doing$.value}`))),
    );
    const finish = (end: Promise<string>) => context.finish(end.then((how) => how === orderly && presses.hold([])));
    return runProcess(merge(toProcess$, silence$).pipe(startWith(first)), { scheduler, finish }).pipe(
      mergeMap(eventsOf),
      catchError((error) => {
        const isInterrupted = presses.held.length > 0 && presses.held !== release;
        throw new (isInterrupted ? Interrupted : Error)(reasonOf(error), { cause: error });
      }),
      finalize(() => presses.close()),
    );
  });
}
