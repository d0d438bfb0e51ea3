// Strips the types from all modules (preload.mjs reads them). What has not changed since is left. Several runs at a time may do so: none reads
// half of what another one writes.

import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const kept = join(root, 'node_modules/.cache/stripped');

export function strip(): void {
  for (const module of globSync(['{lib,bench,spec,install}/**/*.ts', 'spec/.together/*.ts'], { cwd: root })) {
    const [path, into] = [join(root, module), join(kept, module)];
    const { mtimeMs } = statSync(path);
    if (existsSync(into) && Math.trunc(statSync(into).mtimeMs) === Math.trunc(mtimeMs)) continue;
    mkdirSync(dirname(into), { recursive: true });
    const written = `${into}.${process.pid}`;
    writeFileSync(written, stripTypeScriptTypes(readFileSync(path, 'utf8')));
    utimesSync(written, mtimeMs / 1000, mtimeMs / 1000);
    renameSync(written, into);
  }
}
