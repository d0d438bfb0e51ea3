// Waiting that comes to an end, whatever happens.

/** Runs work once a time is over, unless it is unsubscribed before; the schedulers of rxjs do. */
export interface Scheduler {
  schedule(work: () => void, delayMs: number): { unsubscribe(): void };
}

const wallClock: Scheduler = {
  schedule(work, delayMs) {
    const timer = setTimeout(work, delayMs);
    return { unsubscribe: () => clearTimeout(timer) };
  },
};

/** What a promise resolves with, or undefined once this much time has passed; the work behind it goes on. Errors: its own. */
export async function within<T>(promise: Promise<T>, limitMs: number, scheduler = wallClock): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const deadline = scheduler.schedule(() => late.resolve(undefined), limitMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    deadline.unsubscribe();
  }
}
