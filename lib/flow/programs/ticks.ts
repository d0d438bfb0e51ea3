// A deadline that is counted in ticks of this thread. On a machine that is so busy that ticks come late, it comes later too.

const tickMs = 50;

/** What a promise comes to, or undefined once so much time has passed; `limitMs` may change meanwhile. Errors: its own. */
export async function withinTicks<T>(promise: Promise<T>, limitMs: () => number): Promise<T | undefined> {
  let ticks = 0;
  const late = Promise.withResolvers<undefined>();
  const timer = setInterval(() => {
    if (++ticks * tickMs >= limitMs()) late.resolve(undefined);
  }, tickMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
