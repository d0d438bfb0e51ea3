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

/** When a thing that is waited for is looked at. */
export interface Looks {
  readonly deadlineMs: number;
  readonly everyMs: number;
}

/** Resolves once something is so, such as what a file or another process holds. Errors: that it was expected within the time. */
export async function untilSo(expected: string, isSo: () => boolean | Promise<boolean>, looks: Looks): Promise<void> {
  if (!(await becomesSo(isSo, looks))) throw new Error(`expected ${expected} within ${looks.deadlineMs} ms`);
}

/** Whether something becomes so within the time; it is looked at again and again. */
export async function becomesSo(
  isSo: () => boolean | Promise<boolean>,
  { deadlineMs, everyMs }: Looks,
): Promise<boolean> {
  const endMs = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) return false;
    await after(everyMs);
  }
  return true;
}
