// One life of the keyboard's process, from its start to its end: what it says becomes events, presses go to it one by
// one, and an answer that does not come ends it.

import { BehaviorSubject, defer, merge, NEVER, type Observable, Subject, throwError, timer } from 'rxjs';
import { catchError, finalize, mergeMap, startWith, switchMap } from 'rxjs/operators';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { ProcessEnded, runProcess } from './channel.ts';
import { modifiers } from './key-table.ts';
import type { FromProcess, ToProcess } from './messages.ts';
import type { PressQueue } from './press-queue.ts';
import type { KeyboardSettings } from './settings.ts';

/** Within this time the process is ready, and a press is made; an X server that hangs is found by it. */
const answerDeadlineMs = 8000;
const listening = 'listening';

/** Cold, never completes. Errors when the keyboard cannot be used any more, with the reason for its operator. */
export function runSession(
  context: ConnectionContext<KeyboardSettings>,
  presses: PressQueue,
): Observable<ConnectionEvent> {
  const { inputKeys, outputKeys } = context.config;
  return defer(() => {
    const toProcess$ = new Subject<ToProcess>();
    const doing$ = new BehaviorSubject('starting');

    const eventsOf = (said: FromProcess): ConnectionEvent[] => {
      if ('fired' in said) {
        const hotkey = inputKeys[said.fired];
        return hotkey === undefined ? [] : [{ set: `input/${hotkey.written}`, value: true }];
      }
      if ('fault' in said) throw new Error(said.fault);
      doing$.next('opening' in said ? `opening the display ${said.opening}` : listening);
      if ('ready' in said) {
        presses.open(({ keys, written }) => {
          doing$.next(`pressing ${written}`);
          toProcess$.next({ press: keys });
        });
        return [{ state: 'running' }];
      }
      if ('pressed' in said) {
        if (said.failure !== '') context.log.warn({}, `a press failed: ${said.failure}`, 'press');
        presses.done();
      }
      return [];
    };

    const first: ToProcess = {
      listen: inputKeys.map(({ keys }) => keys),
      presses: outputKeys.length > 0,
      release: presses.interrupted?.keys.filter((name) => modifiers.has(name)) ?? [],
    };
    const events$ = runProcess(toProcess$.pipe(startWith(first)), context).pipe(
      mergeMap(eventsOf),
      catchError((error) =>
        throwError(() =>
          error instanceof ProcessEnded
            ? new Error(`the keyboard process ended while ${doing$.value} (${error.message})`)
            : error,
        ),
      ),
    );
    const silence$ = doing$.pipe(
      switchMap((doing) => (doing === listening ? NEVER : timer(answerDeadlineMs, context.scheduler))),
      mergeMap(() => throwError(() => new Error(`the keyboard process hangs while ${doing$.value}`))),
    );
    return merge(events$, silence$).pipe(finalize(() => presses.close()));
  });
}
