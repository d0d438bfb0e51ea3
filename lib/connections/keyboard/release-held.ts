// A process that is killed in the middle of a press leaves keys down. If its connection is stopped then, they are released here.

import { firstValueFrom, of } from 'rxjs';
import { filter, timeout } from 'rxjs/operators';
import { messageOf } from '../../model/error.ts';
import type { ConnectionContext } from '../connection.ts';
import { runProcess } from './channel.ts';
import type { ToProcess } from './messages.ts';
import type { PressQueue } from './press-queue.ts';
import { startDeadlineMs } from './session.ts';

/** Starts one more process that releases the keys, if there are any; resolves when that has ended. Never errs. */
export async function releaseHeld(
  { held }: PressQueue,
  { scheduler, log }: Pick<ConnectionContext<unknown>, 'scheduler' | 'log'>,
): Promise<void> {
  if (held.length === 0) return;
  const ends: Promise<string>[] = [];
  const first$ = of<ToProcess>({ listen: [], press: [], release: held });
  const said$ = runProcess(first$, { scheduler, finish: (end) => void ends.push(end) });
  const ready$ = said$.pipe(
    filter((said) => 'ready' in said),
    timeout({ first: startDeadlineMs, scheduler }),
  );
  await firstValueFrom(ready$).catch((error) => log.warn({}, `keys may be left down: ${messageOf(error)}`));
  await Promise.all(ends);
}
