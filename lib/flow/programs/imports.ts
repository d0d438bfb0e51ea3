// The author's files that a TypeScript flow imports. Node.js imports each URL once, so the URL of each file identifies the content of the
// file and of all its imports. Saving any of these files leads to a new import.

import { readdirSync } from 'node:fs';
import { findPackageJSON, isBuiltin, type LoadHookSync, type ResolveHookSync, registerHooks } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asFileError, nothing, readRegularFileSync } from '../../files/regular-file.ts';
import { nearestName } from '../../json5/nearest-name.ts';
import { type Position, positionAt } from '../../json5/positions.ts';
import { isOwnCode, maxFlowBytes, versionOf } from './flow-code.ts';
import { versionOfFile } from './left-out.ts';
import { describeThrown } from './stack.ts';

/** The absolute paths of the files that each file imports, keyed by the absolute path of the importing file. */
export type Imports = Readonly<Record<string, readonly string[]>>;

/** Returns the absolute paths of a file and of all files that it imports, directly or indirectly. */
export function filesOf(path: string, imports: Imports, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const imported of imports[path] ?? []) filesOf(imported, imports, found);
  return found;
}

/** Returns the versions of a flow's files, keyed by absolute path. A version identifies the content of the file and of all its imports. */
export function versionsOf(path: string, imports: Imports): Map<string, string> {
  const files = [...filesOf(path, imports)];
  const contents = new Map(files.map((file) => [file, versionOfFile(file)]));
  return new Map(
    files.map((file) => {
      const below = [...filesOf(file, imports)].sort().map((one) => contents.get(one));
      return [file, versionOf(Buffer.from(below.join()))];
    }),
  );
}

/** Receives each import in the author's files, while Node.js loads a flow. */
interface ImportObserver {
  /** Called when a file imports another file, which may not exist. */
  imports(from: string, to: string): void;
  /** Called when an import in an author's file has failed. */
  fails(error: unknown, from: string, specifier: string): void;
}

export function observeImports(observer: ImportObserver): void {
  /** The last importer of each URL, with the specifier that it used. */
  const importers = new Map<string, FailedImport>();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const from = ownPath(context.parentURL);
      const report = (url: string | undefined) => {
        const to = ownPath(url);
        if (from !== undefined && to !== undefined) observer.imports(from, to);
      };
      try {
        if (from !== undefined && specifier.startsWith('node:') && !isBuiltin(specifier))
          throw new Error(`Node.js has no module "${specifier}"`);
        const resolved = resolveOwn(specifier, context, nextResolve);
        report(resolved.url);
        if (from !== undefined) importers.set(resolved.url, { from, specifier });
        return resolved;
      } catch (error) {
        report((error as { url?: string }).url);
        if (from !== undefined) observer.fails(error, from, specifier);
        throw error;
      }
    },
    load(url, context, nextLoad) {
      try {
        return loadFile(url, context, nextLoad);
      } catch (error) {
        const importer = importers.get(url);
        if (importer !== undefined) observer.fails(error, importer.from, importer.specifier);
        throw error;
      }
    },
  });
}

// Checks files before Node.js reads them for a flow, because Node.js would wait for a named pipe, and read a device endlessly.

function loadFile(...[url, context, nextLoad]: Parameters<LoadHookSync>): ReturnType<LoadHookSync> {
  const path = ownPath(url);
  if (path !== undefined) isThere(path);
  return nextLoad(url, context);
}

/** Returns the URL of a hub module, given its path relative to this file without an extension. */
function ownModule(path: string): string {
  return new URL(`${path}${extname(import.meta.filename)}`, import.meta.url).href;
}

/**
 * Resolves an import in a flow, for which Node.js reads the nearest `package.json` above the file. Flows in any folder import the hub that
 * runs them, and the hub's RxJS if their folder has no RxJS.
 */
function resolveOwn(...[specifier, context, nextResolve]: Parameters<ResolveHookSync>): ReturnType<ResolveHookSync> {
  const named = /^(?:file:|\.{0,2}\/)/.test(specifier) ? URL.parse(specifier, context.parentURL) : null;
  const path = ownPath(named?.href);
  if (path !== undefined) isThere(path);
  if (path !== undefined)
    for (let at = path; at !== dirname(at); at = dirname(at)) if (isThere(join(dirname(at), 'package.json'))) break;
  if (ownPath(context.parentURL) === undefined) return nextResolve(specifier, context);
  if (specifier === 'patchbay-hub') return nextResolve(ownModule('../../index'), context);
  try {
    return nextResolve(specifier, context);
  } catch (error) {
    if (!Object.hasOwn(rxjsOf, specifier)) throw error;
    return nextResolve(rxjsOf[specifier]!, context); // no RxJS in the folder: use the RxJS of the hub
  }
}

/** Returns whether a file exists and can be read. Throws if the path does not lead to a regular file. */
function isThere(path: string): boolean {
  try {
    readRegularFileSync(path, maxFlowBytes);
    return true;
  } catch (error) {
    const { code, message } = asFileError(error);
    const isNone = message === nothing || basename(path) === 'package.json';
    if (isNone && (code === 'ENOENT' || code === 'ENOTDIR')) return false; // Node.js reports the reason
    throw new Error(`${path}: expected a file to import, got ${message}`);
  }
}

const present = new Map<string, string>();
let isHooked = false;
/** The hub modules that replace RxJS modules for flows: RxJS with causes and the hub's clock. */
const rxjsOf: Readonly<Record<string, string>> = {
  rxjs: ownModule('../rxjs'),
  'rxjs/operators': ownModule('../rxjs-operators'),
};
/** Whether the RxJS at a URL has the same major version as the hub's RxJS, in any folder. */
const isOurRxjs = new Map<string, boolean>();

/** From now on, makes these files import each other in the given versions, and import the hub's RxJS. */
export function importVersions(versions: ReadonlyMap<string, string>): void {
  for (const [path, version] of versions) present.set(path, version);
  if (isHooked) return;
  isHooked = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = resolveOwn(specifier, context, nextResolve);
      if (resolved.url.includes('?') || !present.has(ownPath(context.parentURL) ?? '')) return resolved;
      const own = rxjsOf[specifier];
      if (own !== undefined && isOurs(resolved.url)) return nextResolve(own, context);
      const version = present.get(ownPath(resolved.url) ?? '');
      return version === undefined ? resolved : { ...resolved, url: `${resolved.url}?${version}` };
    },
    load: loadFile,
  });
}

/** Returns whether the RxJS at a URL may be replaced. A different major version was chosen by the author and is not replaced. */
function isOurs(url: string): boolean {
  let isOne = isOurRxjs.get(url);
  if (isOne === undefined) {
    isOne = url === import.meta.resolve('rxjs') || majorOf(url) === majorOf(import.meta.resolve('rxjs'));
    isOurRxjs.set(url, isOne);
  }
  return isOne;
}

/** Returns the major version of the package that contains a file, or undefined if there is no package. */
function majorOf(url: string): string | undefined {
  const path = findPackageJSON(url);
  if (path === undefined) return undefined;
  const { version } = JSON.parse(readRegularFileSync(path, maxFlowBytes).toString()) as { version?: string };
  return version?.split('.', 1)[0];
}

/** Returns the absolute path of the author's file at a URL, or undefined if the URL does not lead to an author's file. */
function ownPath(url = ''): string | undefined {
  if (!url.startsWith('file:')) return undefined;
  const path = fileURLToPath(url);
  return isOwnCode(path) ? path : undefined;
}

// Failed imports in a flow: their messages and locations. No error stack leads to an import.

/** Where an import failed: the importing file, and the specifier as written. */
export interface FailedImport {
  /** The absolute path of the file that contains the import. */
  readonly from: string;
  readonly specifier: string;
}

/** Describes in one line why an import failed. If the file does not exist, suggests the most similar file. */
export function describeFailedImport(error: unknown, specifier: string): string {
  const { code, url } = error as { code?: unknown; url?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND') return describeThrown(error).replace(/ imported from .*$/, '');
  if (typeof url !== 'string' || !url.startsWith('file:')) return `no package "${specifier}" is installed here`;
  const nearest = nearestFile(specifier, url);
  return `the file "${specifier}" does not exist${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`;
}

/** Finds the position at which code imports a specifier, in any form of import. */
export function placeOfImport(text: string, specifier: string): Position | undefined {
  const escaped = specifier.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const found = new RegExp(`\\b(?:from|import)\\s*\\(?\\s*(?=(['"\`])${escaped}\\1)`).exec(text);
  return found === null ? undefined : positionAt(text, found.index + found[0].length);
}

/** Returns the name in the imported file's folder that is most similar to the name that was not found. */
function nearestFile(specifier: string, url: string): string | undefined {
  try {
    const path = fileURLToPath(url);
    const [name, ending] = [basename(path), extname(path)];
    if (!specifier.endsWith(name)) return undefined;
    const files = readdirSync(dirname(path)).filter((file) => ending === '' || extname(file) === ending);
    const whole = ending === '' ? files.find((file) => basename(file, extname(file)) === name) : undefined;
    if (whole !== undefined) return `${specifier.slice(0, -name.length)}${whole}`;
    const stem = basename(name, ending);
    const nearest = nearestName(stem, ending === '' ? files : files.map((file) => basename(file, ending)));
    return nearest === undefined ? undefined : `${specifier.slice(0, -name.length)}${nearest}${ending}`;
  } catch {
    return undefined; // the folder does not exist, either
  }
}
