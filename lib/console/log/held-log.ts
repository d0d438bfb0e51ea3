// The log that the page holds, followed live.

import { type Accessor, createEffect, createSignal, on } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { LogPage } from '../../wire/http/operation.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolling } from '../page/page-timers.ts';
import { append, goesOn, type Held, type LogLine, nothingHeld, replace, restart } from './entries.ts';

const intervalMs = 1000;

export interface HeldLog {
  readonly lines: Accessor<readonly LogLine[]>;
  /** Why the last request failed; empty when it did not. */
  readonly error: Accessor<string>;
}

/** Follows the log for the scope that calls it. It reads entries of `debug` from when the level first is that one. */
export function useHeldLog(level: Accessor<string>, isPaused: Accessor<boolean>): HeldLog {
  const [held, setHeld] = createSignal<Held>(nothingHeld);
  const [error, setError] = createSignal('');
  /** The level that is read. The page chooses what it shows, also while the log is paused. */
  let read: 'info' | 'debug' = 'info';
  const ask = async (isWanted: () => boolean): Promise<void> => {
    const isFirstDebug = level() === 'debug' && read === 'info';
    if (isPaused() && !isFirstDebug) return;
    try {
      const after = isFirstDebug ? 0 : held().next;
      const page = await getJson<LogPage>(`/hub/log?after=${after}&level=${isFirstDebug ? 'debug' : read}`);
      if (!isWanted()) return;
      setError('');
      if (!goesOn(held(), page)) {
        if (isPaused()) return;
        setHeld(restart(held()));
        return ask(isWanted);
      }
      setHeld(isFirstDebug ? replace(held(), page, isPaused()) : append(held(), page));
      if (isFirstDebug) read = 'debug';
    } catch (problem) {
      if (isWanted()) setError(messageOf(problem));
    }
  };
  const poll = usePolling(ask, intervalMs);
  createEffect(on([level, isPaused], () => void poll()));
  return { lines: () => held().lines, error };
}
