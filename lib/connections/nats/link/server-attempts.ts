// Attempts to reach one of several servers, until one answers. An attempt that hangs delays no other: a link that drops packets may recover
// while the attempt still waits, so the next attempt runs beside it.

import { type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import { Backoff } from '../../../model/time/backoff.ts';

/** The pauses after all servers have failed. */
const pauses = { firstMs: 250, longestMs: 400 };
/** When the next attempt begins beside one that has not ended. Each attempt has its own deadline, so only a few run at the same time. */
const nextAttemptMs = 400;

/** An open connection. */
interface Opened {
  close(): Promise<void>;
}

interface AttemptsOptions<T extends Opened> {
  readonly servers: readonly string[];
  /** Returns the next server, in a cycle. */
  readonly next: () => string;
  readonly clock: SchedulerLike;
  /** Connects to a server. Rejects if it does not answer in time. The signal ends a hanging attempt. */
  readonly dial: (server: string, signal: AbortSignal) => Promise<T>;
  /** Called once, with the first connection. Connections that open later, or after the end, are closed. */
  readonly enter: (opened: T) => void;
  /** Called with the reasons once every server has failed, and after each further attempt. */
  readonly report: (reason: string) => void;
}

/** Begins after a pause. Ends when a server has answered, or with the returned Subscription. */
export function attemptAll<T extends Opened>(options: AttemptsOptions<T>, firstPauseMs: number): Subscription {
  const { servers, next, clock, dial, enter, report } = options;
  const backoff = new Backoff(pauses);
  const reasons = new Map<string, string>();
  const ending = new AbortController();
  const attempts = new Subscription(() => ending.abort());
  let waiting = Subscription.EMPTY;
  let begun = 0;
  const beginAfter = (ms: number) => {
    waiting.unsubscribe();
    waiting = clock.schedule(() => void attempt(), ms);
  };
  const attempt = async () => {
    const number = ++begun;
    const server = next();
    beginAfter(nextAttemptMs);
    try {
      const opened = await dial(server, ending.signal);
      if (attempts.closed) return void opened.close().catch(() => {});
      attempts.unsubscribe();
      enter(opened);
    } catch (error) {
      if (attempts.closed) return;
      reasons.set(server, messageOf(error));
      if (number === begun) beginAfter(number % servers.length === 0 ? backoff.next() : 0);
      if (servers.every((one) => reasons.has(one)))
        report(`cannot reach ${servers.map((one) => `${one}: ${reasons.get(one)}`).join('; ')}`);
    }
  };
  attempts.add(() => waiting.unsubscribe());
  beginAfter(firstPauseMs);
  return attempts;
}
