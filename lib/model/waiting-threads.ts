// Threads that owe an answer. The process waits for its threads when it ends: one that waits for a disk which hangs would hold it.

import { within } from './time/deadline.ts';

const waiting = new Set<object>();
/** Who waits until none owes an answer. */
const idle = new Set<() => void>();

/** Notes that a thread is asked something; returns what notes that it has answered. */
export function awaitAnswer(thread: object): () => void {
  waiting.add(thread);
  return () => {
    if (!waiting.delete(thread) || waiting.size > 0) return;
    for (const resolve of idle) resolve();
    idle.clear();
  };
}

/** Resolves once no thread owes an answer, or this much time has passed: what is read at the end of a hub is no disk that hangs. */
export async function untilAllAnswered(limitMs: number): Promise<void> {
  if (waiting.size > 0) await within(new Promise<void>((resolve) => void idle.add(resolve)), limitMs);
}

export function hasWaitingThreads(): boolean {
  return waiting.size > 0;
}
