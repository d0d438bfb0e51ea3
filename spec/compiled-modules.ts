// Modules as V8 has compiled them are kept from one run of the specs to the next: each file of specs is a process, and most of
// what it loads is the same.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './needed-programs.ts';

/** Each run adds thousands that no other has: those of rules in folders of tests. */
const most = 20_000;

/** Where they are kept; the folder begins anew when there are too many. */
export function compiledModules(): string {
  const folder = join(root, 'node_modules/.cache/compiled');
  const count = existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0;
  if (count > most)
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {} // another run is adding to it: the next one finds it too long as well
  return folder;
}
