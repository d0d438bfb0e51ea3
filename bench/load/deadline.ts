// What a load waits for comes within a time, or the round is wrong.

/** Resolves as `work` does. Errors: after so many milliseconds, that something was expected. */
export async function within<Result>(deadlineMs: number, expected: string, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`expected ${expected} within ${deadlineMs} ms`)), deadlineMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
