// Threads that owe an answer. The process waits for its threads when it ends: one that waits for a disk which hangs would hold it.

const waiting = new Set<object>();

/** Notes that a thread is asked something; returns what notes that it has answered. */
export function awaitAnswer(thread: object): () => void {
  waiting.add(thread);
  return () => waiting.delete(thread);
}

export function hasWaitingThreads(): boolean {
  return waiting.size > 0;
}
