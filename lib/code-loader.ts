// Loads the code of the package. `npm run build` bundles the code into a few pieces, each of which is a CommonJS function. Code compiled by
// V8 is cached in a folder, so that the next start compiles almost nothing. Without a usable cache, the same code runs uncached.

import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import process, { arch, env, geteuid, pid, versions } from 'node:process';
import { pathToFileURL } from 'node:url';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { makeFolder } from './files/make-folder.ts';

type Exports = Record<string, unknown>;
type PieceFunction = (
  exports: Exports,
  require: (id: string) => unknown,
  module: { exports: Exports },
  fileAt: (...path: string[]) => string,
  urlAt: (path: string) => string,
  resolve: (specifier: string) => string,
  importOther: (specifier: string) => Promise<unknown>,
  keepAll: () => void,
) => void;

/** Returns the path of a file in a package that is not bundled, such as `hub/version.js`. */
const fileAt = (...path: string[]) => join(import.meta.dirname, ...path);
const urlAt = (path: string) => pathToFileURL(fileAt(path)).href;
const resolveOther = (specifier: string) => pathToFileURL(createRequire(fileAt('.')).resolve(specifier)).href;
const importOther = (specifier: string) => import(specifier);
/** The folder that contains the pieces, next to this file in its compiled form. */
const pieceFolder = join(import.meta.dirname, 'code');
const packageFolder = dirname(import.meta.dirname);

/** The time after which compiled code is cached, in milliseconds. Code that has not run by then is compiled when it is first called. */
const keepAfterMs = 10_000;
/**
 * The name of the piece that runs a hub. Its cache is also written when the process exits earlier. Other commands run too little of the
 * code that a hub needs.
 */
const pieceOfRun = 'run';
/**
 * The interval at which caching is tried again, in milliseconds: while V8 is running with flags that save memory, the next start could not
 * use the code that V8 compiles.
 */
const keepAgainMs = 30_000;
/** The maximum number of Node.js versions and settings whose code is kept in one folder. The most recently used code is kept. */
const maxKept = 4;
/**
 * The size of the header in bytes. It contains the CRC-32 checksums of the source and of the compiled code, which V8 itself does not check.
 */
const headerBytes = 8;

const pieces = new Map<string, { exports: Exports }>();
const unkept = new Map<string, { script: Script; source: Uint8Array }>();
const tagAtStart = cachedDataVersionTag();
/** The Node.js version and processor to which cached code belongs, because V8 rejects code from another version. */
const keptFor = `${versions.node}-${arch}`;
const folders = cacheFolders();
/** The trusted folders that contain code for this V8 version; undefined until they are determined. */
let trusted: readonly string[] | undefined;

/** Loads a piece of the package, such as `main`, with all its dependencies. Returns the piece's exports. */
export function load(name: string): Exports {
  const known = pieces.get(name);
  if (known !== undefined) return known.exports;
  const file = join(pieceFolder, `${name}.cjs`);
  const requireOther = createRequire(file);
  const piece = { exports: {} };
  pieces.set(name, piece);
  const require = (id: string) => (id.startsWith('./') ? load(id.slice(2, -'.cjs'.length)) : requireOther(id));
  compile(name, file)(piece.exports, require, piece, fileAt, urlAt, resolveOther, importOther, keepAll);
  return piece.exports;
}

function compile(name: string, file: string): PieceFunction {
  const source = readFileSync(file);
  for (const cachedData of keptCodes(name, source)) {
    const script = scriptOf(file, source, cachedData);
    if (script.cachedDataRejected === false) return script.runInThisContext();
  }
  const script = scriptOf(file, source);
  if (unkept.size === 0) setTimeout(keepNext, keepAfterMs).unref();
  if (name === pieceOfRun) process.once('exit', keepAll);
  unkept.set(name, { script, source });
  return script.runInThisContext();
}

function scriptOf(filename: string, source: Buffer, cachedData?: Buffer): Script {
  // the build produces only ASCII, which V8 stores as one byte per character
  return new Script(source.toString('latin1'), { filename, ...(cachedData && { cachedData }) });
}

/** Yields the cached code for exactly this source, from the nearest folder first. */
function* keptCodes(name: string, source: Uint8Array): Generator<Buffer> {
  trusted ??= folders.map((folder) => join(folder, keptFor)).filter((folder) => isTrusted(folder));
  for (const folder of trusted) {
    const kept = readIfTrusted(join(folder, name));
    if (kept === undefined || kept.length < headerBytes) continue;
    const code = kept.subarray(headerBytes);
    if (kept.readUInt32LE(0) === crc32(source) && kept.readUInt32LE(4) === crc32(code)) yield code;
  }
}

function readIfTrusted(path: string): Buffer | undefined {
  try {
    return isTrusted(path) ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether only this user or the superuser could have written a file or folder, because V8 runs its content. */
function isTrusted(path: string): boolean {
  try {
    const { uid, mode } = statSync(path);
    return geteuid === undefined || ((uid === geteuid() || uid === 0) && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** Caches the code that V8 has compiled so far, one piece in each round of the event loop. */
function keepNext(): void {
  const isOther = cachedDataVersionTag() !== tagAtStart;
  if (unkept.size === 0 || (!isOther && !keepOne())) return;
  setTimeout(keepNext, isOther ? keepAgainMs : 1).unref();
}

function keepAll(): void {
  for (const flag of ['--no-optimize-for-size', '--max-semi-space-size=0']) setFlagsFromString(flag); // run.ts sets these flags for a while
  while (unkept.size > 0 && cachedDataVersionTag() === tagAtStart) if (!keepOne()) return;
}

/** Writes the cache of one piece to the first writable folder. Returns whether there is such a folder. */
function keepOne(): boolean {
  const [name, { script, source }] = unkept.entries().next().value!;
  unkept.delete(name);
  const code = script.createCachedData();
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(crc32(source), 0);
  header.writeUInt32LE(crc32(code), 4);
  return folders.some((folder) => write(folder, name, [header, code]));
}

function write(folder: string, name: string, content: readonly Buffer[]): boolean {
  const place = join(folder, keptFor);
  const unfinished = join(place, `${name}.${pid}-${threadId}`);
  try {
    makeFolder(place, 0o755);
    if (!isTrusted(place)) return false; // no start would read the cached code
    dropOld(folder);
    writeFileSync(unfinished, Buffer.concat(content), { mode: 0o644 });
    renameSync(unfinished, join(place, name)); // a concurrent reader gets either the old or the new file
    return true;
  } catch {
    try {
      rmSync(unfinished, { force: true });
    } catch {} // the file does not exist, or cannot be removed
    return false;
  }
}

function dropOld(folder: string): void {
  const old = readdirSync(folder)
    .map((name) => ({ name, atMs: statSync(join(folder, name)).mtimeMs }))
    .sort((one, other) => other.atMs - one.atMs)
    .slice(maxKept);
  for (const { name } of old) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Returns the cache folders in order of preference. Unlike `/tmp`, these folders are not writable by everyone. */
function cacheFolders(): readonly string[] {
  const { PATCHBAY_CACHE } = env;
  const own = join(packageFolder, 'node_modules/.cache/patchbay');
  return [...(PATCHBAY_CACHE ? [PATCHBAY_CACHE] : []), own, ...cacheFolderOfUser()];
}

function cacheFolderOfUser(): readonly string[] {
  try {
    return [join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'patchbay')];
  } catch {
    return []; // the system does not know the user
  }
}
