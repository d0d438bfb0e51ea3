// What a load or a script waits for comes within a time, or the round is wrong.

import { setTimeout as after } from 'node:timers/promises';

/** Resolves as `work` does. Errors: after so many milliseconds, that something was expected. */
export async function within<Result>(deadlineMs: number, expected: string, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`expected ${expected} within ${deadlineMs} ms`)), deadlineMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Whether something becomes so within the time, such as what a file or another process holds; it is looked at again and again. */
export async function becomesSo(
  isSo: () => boolean | Promise<boolean>,
  { deadlineMs, everyMs }: { readonly deadlineMs: number; readonly everyMs: number },
): Promise<boolean> {
  const endMs = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) return false;
    await after(everyMs);
  }
  return true;
}
