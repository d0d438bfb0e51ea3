// Waiting for something that must happen: for an emission wherever there is one, with one deadline for all specs, which a busy
// machine does not reach either, and with the name of what did not happen.

import { setTimeout as after } from 'node:timers/promises';
import { firstValueFrom, type Observable } from 'rxjs';

/** How long anything may take that has to happen; what has to be quicker is measured (`machine.ts`). */
export const deadlineMs = 180_000;
/** What nobody tells is looked at again after a fifth of the time that it has taken, within these bounds. */
const lookAgainMs = { min: 5, max: 100 };

/** The promise, or an error that says what did not happen in time. */
export async function within<T>(promise: Promise<T>, what: string, limitMs = deadlineMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`expected ${what} within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The first emission of a stream. */
export function first<T>(stream$: Observable<T>, what = 'an emission'): Promise<T> {
  return within(firstValueFrom(stream$), what);
}

/** Waits until something is so that nobody tells, such as what a file or another process holds; it is looked at again and again. */
export async function eventually(isSo: () => boolean | Promise<boolean>, what = `${isSo}`): Promise<void> {
  const startMs = performance.now();
  while (!(await isSo())) {
    const takenMs = performance.now() - startMs;
    if (takenMs > deadlineMs) throw new Error(`expected ${what} within ${deadlineMs} ms`);
    await after(Math.min(Math.max(takenMs / 5, lookAgainMs.min), lookAgainMs.max));
  }
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
