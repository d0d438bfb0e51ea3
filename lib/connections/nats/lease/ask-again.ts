// One question, asked again beside itself for as long as nobody answers: what a stream is asked that has no leader is lost, while its next
// leader would answer at once.

import { setTimeout as after } from 'node:timers/promises';

export interface Asking<T> {
  /** Asks once; rejects when there is no answer in time. */
  ask(withinMs: number): Promise<T>;
  readonly everyMs: number;
  /** When all attempts end. */
  readonly limitMs: number;
  /** Whether an attempt was rejected by an answer, after which none begins any more. */
  isAnswer(error: unknown): boolean;
}

/** Resolves with the first attempt that does. Errors: an AggregateError of all attempts that began, the first one first. */
export async function askAgain<T>({ ask, everyMs, limitMs, isAnswer }: Asking<T>): Promise<T> {
  const ending = new AbortController();
  const attempt = async (sinceMs: number) => {
    if (sinceMs > 0) await after(sinceMs, undefined, { signal: ending.signal });
    try {
      return await ask(limitMs - sinceMs);
    } catch (error) {
      if (sinceMs === 0 || isAnswer(error)) ending.abort();
      throw error;
    }
  };
  const attempts = Array.from({ length: Math.ceil(limitMs / everyMs) }, (_, index) => attempt(index * everyMs));
  try {
    return await Promise.any(attempts);
  } catch (error) {
    const { errors } = error as AggregateError;
    throw new AggregateError(errors.filter((one) => !(one instanceof Error && one.name === 'AbortError')));
  } finally {
    ending.abort();
  }
}
