// The rights of a folder do not bind the administrator: as one, the whole process becomes nobody. It has to be able to read this source tree then,
// which stands in a folder of the administrator's own now and then.

import { readFileSync } from 'node:fs';
import test, { type TestFn } from 'ava';
import '../own-process.ts';

const nobody = 65534;
const isAdministrator = process.getuid?.() === 0;

/**
 * Makes the process of a test file nobody until its end, and returns `test`; where nobody may not read the source tree, `test.skip`. With
 * `isForGood`, there is no way back, as `access` wants it: it asks who started the process.
 */
export function asNobody(isForGood = false): TestFn | typeof test.skip {
  if (!isAdministrator) return test;
  process.seteuid?.(nobody);
  try {
    readFileSync(import.meta.filename);
  } catch {
    process.seteuid?.(0);
    return test.skip;
  }
  if (isForGood) {
    process.seteuid?.(0);
    process.setuid?.(nobody);
  } else test.after.always(() => process.seteuid?.(0));
  return test;
}
