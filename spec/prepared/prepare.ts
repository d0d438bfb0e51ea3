// Prepares once what each of some hundreds of processes would do anew, for the processes that `npm run spec` starts, and for hubs of a
// clone (lib/prepared.ts).

import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../find-specs.ts';
import { bundle } from './bundle.ts';

const kept = join(root, 'node_modules/.cache/stripped');
/** Each run adds thousands of compiled modules that no other has: those of rules in folders of tests. */
const most = 20_000;

/** Returns what `NODE_OPTIONS` has to say so that processes read what is prepared. */
export async function prepare(): Promise<string> {
  strip();
  await bundle();
  return `--import=${pathToFileURL(join(import.meta.dirname, 'preload.mjs'))}`;
}

/** Strips the types from all modules. Several runs at a time may do so: none reads half of what another one writes. */
function strip(): void {
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

/** Where modules are kept as V8 has compiled them; the folder begins anew when there are too many. */
export function compiledModules(): string {
  const folder = join(root, 'node_modules/.cache/compiled');
  const count = existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0;
  if (count > most)
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {} // another run is adding to it: the next one finds it too long as well
  return folder;
}
