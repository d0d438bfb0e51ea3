// The author's own files that a flow in TypeScript imports. Node.js imports a file once by its URL: so the URL of each of them
// names the content of the file and of all that it imports, and a save of any of them is imported anew.

import { readdirSync } from 'node:fs';
import { findPackageJSON, isBuiltin, type LoadHookSync, type ResolveHookSync, registerHooks } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asFileError, nothing, readRegularFileSync } from '../../files/regular-file.ts';
import { nearestName } from '../../json5/nearest-name.ts';
import { type Position, positionAt } from '../../json5/positions.ts';
import { isOwnCode, maxFlowBytes, versionOf } from './flow-code.ts';
import { versionOfFile } from './left-out.ts';
import { wordsOf } from './stack.ts';

/** Which files a file imports, by full paths. */
export type Imports = Readonly<Record<string, readonly string[]>>;

/** A file and all that it imports, by full paths. */
export function filesOf(path: string, imports: Imports, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const imported of imports[path] ?? []) filesOf(imported, imports, found);
  return found;
}

/** The version of each file of a flow: it names the content of the file and of all that it imports. */
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

/** What is told of the imports of the author's own files. */
interface ImportObserver {
  /** One of them imports another, also where there is no file. */
  imports(from: string, to: string): void;
  /** Something could not be imported. */
  fails(error: unknown, from: string, specifier: string): void;
}

export function observeImports(observer: ImportObserver): void {
  /** By what each URL was imported last. */
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

// Node.js would wait for a named pipe, and read a device for ever: so what it reads for a flow is looked at before.

function loadFile(...[url, context, nextLoad]: Parameters<LoadHookSync>): ReturnType<LoadHookSync> {
  const path = ownPath(url);
  if (path !== undefined) isThere(path);
  return nextLoad(url, context);
}

/** A module of the hub itself, by its path from here without ending. */
function ownModule(path: string): string {
  return new URL(`${path}${extname(import.meta.filename)}`, import.meta.url).href;
}

/**
 * To resolve an import Node.js reads the nearest `package.json` above the file. What flows import of the hub is that of the hub which runs
 * them, wherever their folder is; RxJS is that of the hub where the folder has none.
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
    return nextResolve(rxjsOf[specifier]!, context); // the hub was installed elsewhere, and has one
  }
}

/** Whether a file can be read. Errors: when something else is there. */
function isThere(path: string): boolean {
  try {
    readRegularFileSync(path, maxFlowBytes);
    return true;
  } catch (error) {
    const { code, message } = asFileError(error);
    const isNone = message === nothing || basename(path) === 'package.json';
    if (isNone && (code === 'ENOENT' || code === 'ENOTDIR')) return false; // Node.js says it
    throw new Error(`${path}: expected a file to import, got ${message}`);
  }
}

const present = new Map<string, string>();
let isHooked = false;
/** What flows get in place of RxJS: the same, with causes, and by the time of the hub. */
const rxjsOf: Readonly<Record<string, string>> = {
  rxjs: ownModule('../rxjs'),
  'rxjs/operators': ownModule('../rxjs-operators'),
};
/** Whether what was found as RxJS is of the version that the hub has, wherever it stands, by its URL. */
const isOurRxjs = new Map<string, boolean>();

/** From now on these files import each other in these versions, and the RxJS of the hub. */
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

/** Another major version is another RxJS: its author wants that one. */
function isOurs(url: string): boolean {
  let isOne = isOurRxjs.get(url);
  if (isOne === undefined) {
    isOne = url === import.meta.resolve('rxjs') || majorOf(url) === majorOf(import.meta.resolve('rxjs'));
    isOurRxjs.set(url, isOne);
  }
  return isOne;
}

/** The major version of the package that a file belongs to; undefined: it belongs to none. */
function majorOf(url: string): string | undefined {
  const path = findPackageJSON(url);
  if (path === undefined) return undefined;
  const { version } = JSON.parse(readRegularFileSync(path, maxFlowBytes).toString()) as { version?: string };
  return version?.split('.', 1)[0];
}

/** The full path of one of the author's own files; undefined: the URL leads elsewhere. */
function ownPath(url = ''): string | undefined {
  if (!url.startsWith('file:')) return undefined;
  const path = fileURLToPath(url);
  return isOwnCode(path) ? path : undefined;
}

// Imports of a flow that failed: what is told of them, and where they stand. No stack leads to an import.

/** What a file names that it imports. */
export interface FailedImport {
  /** The full path of the file. */
  readonly from: string;
  readonly specifier: string;
}

/** Why something cannot be imported, in one line. */
export function wordsOfImport(error: unknown, specifier: string): string {
  const { code, url } = error as { code?: unknown; url?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND') return wordsOf(error).replace(/ imported from .*$/, '');
  if (typeof url !== 'string' || !url.startsWith('file:')) return `there is no package "${specifier}" here`;
  const nearest = nearestFile(specifier, url);
  return `there is no file "${specifier}"${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`;
}

/** Where a text imports something, whichever way. */
export function placeOfImport(text: string, specifier: string): Position | undefined {
  const escaped = specifier.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const found = new RegExp(`\\b(?:from|import)\\s*\\(?\\s*(?=(['"\`])${escaped}\\1)`).exec(text);
  return found === null ? undefined : positionAt(text, found.index + found[0].length);
}

/** The file in the same folder that has nearly that name. */
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
    return undefined; // there is no such folder either
  }
}
