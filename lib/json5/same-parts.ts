// What two readings of a file have in common is made the same object, so that a look at it tells that nothing has changed.

import { isJsonObject } from '../model/json-object.ts';

/** The data after a change, in which everything that is equal to what was before is what was before. Data is JSON. */
export function withSameParts(before: unknown, after: unknown): unknown {
  if (before === after) return before;
  if (Array.isArray(before) && Array.isArray(after)) return listWithSameParts(before, after);
  if (!isJsonObject(before) || !isJsonObject(after)) return after;
  const keys = Object.keys(before);
  const entries = Object.entries(after).map(([key, value]): [string, unknown] => [
    key,
    Object.hasOwn(before, key) ? withSameParts(before[key], value) : value,
  ]);
  const isSame =
    entries.length === keys.length && entries.every(([key, value], at) => key === keys[at] && value === before[key]);
  return isSame ? before : Object.fromEntries(entries);
}

/** Items are compared with those as far from the start, and behind the first that differs with those as far from the end. */
function listWithSameParts(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  if (hasSameItems(before, after)) return before; // as thousands of addresses mostly are
  const added = after.length - before.length;
  const result: unknown[] = [];
  let from = 0;
  for (let index = 0; index < after.length; index++) {
    const item = withSameParts(before[index - from], after[index]);
    const isMoved = from === 0 && added !== 0 && item !== before[index];
    if (isMoved) from = added;
    result.push(isMoved ? withSameParts(before[index - from], after[index]) : item);
  }
  return hasSameItems(before, result) ? before : result;
}

function hasSameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
