// What several tests use together, such as a hub or a page of the console: the first one has it made, and it ends after the last
// test of the process.

import assert from 'node:assert/strict';
import test, { type ExecutionContext } from 'ava';

const ends: (() => unknown)[] = [];
let ended: Promise<void> | undefined;

/** Stands for all tests of the process where one of them would start something for itself. */
export const allTests = {
  is: assert.equal,
  teardown: (end: () => unknown) => void ends.push(end),
} as unknown as ExecutionContext;

test.after.always(() => endShared());

/** The first test that asks has it made: `make` may hand over what ends it, `t.teardown`. */
export function shared<T>(make: (t: ExecutionContext) => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make(allTests);
    return made;
  };
}

/** Ends what is shared, the last one first: whatever it needs calls this before it ends itself. */
export function endShared(): Promise<void> {
  ended ??= endAll();
  return ended;
}

async function endAll(): Promise<void> {
  const faults: unknown[] = [];
  for (const end of ends.reverse())
    try {
      await end();
    } catch (fault) {
      faults.push(fault);
    }
  if (faults.length > 0) throw faults[0];
}
