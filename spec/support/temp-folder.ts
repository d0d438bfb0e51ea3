// A folder for the files of one spec, gone when the spec file is done.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';

/** Creates an empty folder that is removed, with all in it, after the last test of the spec file. */
export function createTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-'));
  test.after.always(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
