// Attempts to reach one of several servers, until one has answered. An attempt that hangs holds nobody up: a link that swallows what it
// is given may be whole again while it still waits, so the next one begins beside it.

import { type SchedulerLike, Subscription } from 'rxjs';
import { messageOf } from '../../../model/error.ts';
import { Backoff } from '../../../model/time/backoff.ts';

/** The pauses after all servers have refused. */
const pauses = { firstMs: 250, longestMs: 400 };
/** When an attempt has not ended by then, the next one begins. It ends by its own deadline, so there are only some side by side. */
const besideMs = 400;

/** What an attempt has opened. */
interface Opened {
  close(): Promise<void>;
}

interface AttemptsOptions<T extends Opened> {
  readonly servers: readonly string[];
  /** Which of them is the next one; it goes round. */
  readonly next: () => string;
  readonly clock: SchedulerLike;
  /** Opens a connection to a server; rejects when it has not answered within a time. What hangs ends with the signal. */
  readonly dial: (server: string, signal: AbortSignal) => Promise<T>;
  /** Is called once, with the first that has answered; those that answer later, or after the end, are closed. */
  readonly enter: (opened: T) => void;
  /** Is told why none can be reached, as soon as that is known of each, and after each further attempt. */
  readonly report: (reason: string) => void;
}

/** Begins after a pause; ends when a server has answered, or when the returned Subscription is ended. */
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
    beginAfter(besideMs);
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
