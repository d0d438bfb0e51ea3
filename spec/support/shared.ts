// What several tests of a file use together, such as a hub that none of them changes for the others.

import test, { type ExecutionContext } from 'ava';

/** The first test that asks has it made. What is left to the end of a test there waits for the end of all tests. */
export function shared<T>(make: (t: ExecutionContext) => Promise<T>): () => Promise<T> {
  const ends: (() => unknown)[] = [];
  const t = { teardown: (end: () => unknown) => void ends.push(end) } as unknown as ExecutionContext;
  let made: Promise<T> | undefined;
  test.after.always(async () => {
    for (const end of ends.reverse()) await end();
  });
  return () => {
    made ??= make(t);
    return made;
  };
}
