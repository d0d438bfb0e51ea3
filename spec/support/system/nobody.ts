// The rights of a folder do not bind the administrator: as one, the whole process becomes nobody. It has to be able to read this source tree then,
// which stands in a folder of the administrator's own now and then.

import { readFileSync } from 'node:fs';
import test, { type TestFn } from 'ava';
import '../own-process.ts';

const nobody = 65534;
const isAdministrator = process.getuid?.() === 0;

/** Makes the process of a test file nobody until its end, and returns `test`; where nobody may not read the source tree, `test.skip`. */
export function asNobody(): TestFn | typeof test.skip {
  if (!isAdministrator) return test;
  process.seteuid?.(nobody);
  try {
    readFileSync(import.meta.filename);
  } catch {
    process.seteuid?.(0);
    return test.skip;
  }
  test.after.always(() => process.seteuid?.(0));
  return test;
}
