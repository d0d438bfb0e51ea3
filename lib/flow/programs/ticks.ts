// A deadline that is counted in ticks of this thread. On a machine that is so busy that ticks come late, it comes later too.

const tickMs = 50;

/** What a promise comes to, or undefined once `isLate` says so, which is asked at each tick with the time that has passed. Errors: its own. */
export async function withinTicks<T>(promise: Promise<T>, isLate: (ms: number) => boolean): Promise<T | undefined> {
  let ticks = 0;
  const late = Promise.withResolvers<undefined>();
  const timer = setInterval(() => {
    if (isLate(++ticks * tickMs)) late.resolve(undefined);
  }, tickMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
