// Strips the types from all modules once, for the processes that `npm run spec` starts (preload.mjs).

import { existsSync, globSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');
const kept = join(root, 'node_modules/.cache/stripped');

/** Strips what has changed; returns what `NODE_OPTIONS` has to say so that processes read it. */
export function strip(): string {
  for (const module of globSync('{lib,bench,spec}/**/*.ts', { cwd: root })) {
    const [path, into] = [join(root, module), join(kept, module)];
    const { mtimeMs } = statSync(path);
    if (existsSync(into) && Math.trunc(statSync(into).mtimeMs) === Math.trunc(mtimeMs)) continue;
    mkdirSync(dirname(into), { recursive: true });
    writeFileSync(into, stripTypeScriptTypes(readFileSync(path, 'utf8')));
    utimesSync(into, mtimeMs / 1000, mtimeMs / 1000);
  }
  return `--import=${pathToFileURL(join(import.meta.dirname, 'preload.mjs'))}`;
}
