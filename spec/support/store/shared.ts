// What several tests of a file use at the same time, such as a hub: the first one makes it, and it ends with the last one.

import type { ExecutionContext } from 'ava';

/** `make` may hand over what ends it, `t.teardown`, and asserts nothing. */
export function shared<T>(make: (t: ExecutionContext) => Promise<T>): (t: ExecutionContext) => Promise<T> {
  const ends: (() => unknown)[] = [];
  let users = 0;
  let made: Promise<T> | undefined;
  const owner = { teardown: (end: () => unknown) => void ends.push(end) } as unknown as ExecutionContext;
  return (t) => {
    users++;
    t.teardown(async () => {
      if (--users > 0) return;
      made = undefined;
      for (const end of ends.splice(0).reverse()) await end();
    });
    made ??= make(owner);
    return made;
  };
}
