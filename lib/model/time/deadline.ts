// Deadlines for promises.

/** Runs work after a delay, unless the work is unsubscribed first. Implemented by the RxJS schedulers. */
export interface Scheduler {
  schedule(work: () => void, delayMs: number): { unsubscribe(): void };
}

const wallClock: Scheduler = {
  schedule(work, delayMs) {
    const timer = setTimeout(work, delayMs);
    return { unsubscribe: () => clearTimeout(timer) };
  },
};

/**
 * Resolves like the promise, or to undefined after the given time in milliseconds, in which case the work itself continues. Errors: any
 * error from the promise.
 */
export async function within<T>(promise: Promise<T>, limitMs: number, scheduler = wallClock): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const deadline = scheduler.schedule(() => late.resolve(undefined), limitMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    deadline.unsubscribe();
  }
}
