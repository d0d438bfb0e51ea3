// Counts the threads that have not responded to a request yet. The process waits for its threads when it ends, so a thread that is blocked
// by a hanging disk would keep the process alive.

import { within } from './time/deadline.ts';

const waiting = new Set<object>();
/** The callers that are waiting until no request is open. */
const idle = new Set<() => void>();

/** Records that a request was sent to a thread. Returns a function to call when the thread has responded. */
export function awaitAnswer(thread: object): () => void {
  waiting.add(thread);
  return () => {
    if (!waiting.delete(thread) || waiting.size > 0) return;
    for (const resolve of idle) resolve();
    idle.clear();
  };
}

/**
 * Resolves when no request is open, or after `limitMs` milliseconds, so that a hub that is stopping does not wait for a disk that hangs.
 */
export async function untilAllAnswered(limitMs: number): Promise<void> {
  if (waiting.size > 0) await within(new Promise<void>((resolve) => void idle.add(resolve)), limitMs);
}

export function hasWaitingThreads(): boolean {
  return waiting.size > 0;
}
