// Waiting that comes to an end, whatever happens.

/** Tells once a time is over, unless it is unsubscribed before; a scheduler of rxjs does. */
export interface Alarm {
  schedule(work: () => void, delayMs: number): { unsubscribe(): void };
}

const wallClock: Alarm = {
  schedule(work, delayMs) {
    const timer = setTimeout(work, delayMs);
    return { unsubscribe: () => clearTimeout(timer) };
  },
};

/** What a promise resolves with, or undefined once this much time has passed; the work behind it goes on. Errors: its own. */
export async function within<T>(promise: Promise<T>, limitMs: number, alarm = wallClock): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const deadline = alarm.schedule(() => late.resolve(undefined), limitMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    deadline.unsubscribe();
  }
}
