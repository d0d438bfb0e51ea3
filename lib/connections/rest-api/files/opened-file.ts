// Checks the real location of an open file, regardless of where its path led before opening or leads afterwards. Otherwise a folder that is
// replaced with a link between checking and opening would lead out of the Document Root. Also checks whether the file belongs to the
// installation, because the hub never serves such files.

import type { Stats } from 'node:fs';
import { basename, dirname, join, parse, sep } from 'node:path';
import type { Installation, PrivateFiles } from '../../persistence.ts';
import { entriesOf, linkOf, type Reading, realPathOf, statsOf } from './reading.ts';

/** The folder where Linux shows the path of each open file. For a deleted file, Linux appends a word to the path. */
const descriptors = '/proc/self/fd';
const deleted = / \(deleted\)$/;
/**
 * How long the list of the installation's files is valid, in milliseconds. Names, including those of new files, are compared immediately.
 */
const knownMs = 1000;
/** The words that programs add to the names of copies: `token.txt~`, `token.bak`, `token (1).txt`, `Copy of token.txt`, `token.txt.gz`. */
const copyWords = 'backup|bak|copy|kopie|copie|copia|new|old|orig|original|part|rej|save|saved|swp|tmp';
const copyMark = `~|[ ._-]*(?:\\((?:${copyWords}|\\d+)\\)|(?:${copyWords})(?: ?\\d+)?(?![a-z])|\\d{4}-?\\d\\d-?\\d\\d)`;
const copyMarks = new RegExp(`^(?:${copyMark})*$`, 'i');
const copyEnd = new RegExp(`^(?:${copyMark}|\\.~?\\d+~?|\\.(?:gz|bz2|xz|zst|zip|7z))*$`, 'i');
const copyBegin = /^(?:(?:copy|backup) of|kopie von|copie de|copia d[ei]) /i;

/**
 * Returns the real path of an open file; undefined if unknown, for example because the path now leads to another file. Only Linux reports
 * the path of an open file; on other systems, the original path must still lead to this file, without a link.
 */
export function* placeOfOpened(
  descriptor: number,
  stats: Stats,
  path: string,
  folder = descriptors,
): Reading<string | undefined> {
  let place: string | undefined;
  try {
    place = yield* linkOf(join(folder, `${descriptor}`));
  } catch {} // another system, or no /proc
  if (place !== undefined) return stats.nlink === 0 ? place.replace(deleted, '') : place;
  const real = yield* realPathOf(path);
  return idOf(yield* statsOf(real)) === idOf(stats) ? real : undefined;
}

interface KnownFiles {
  readonly installation: Installation;
  readonly until: number;
  readonly ids: ReadonlySet<string>;
  /** The names of private files, keyed by the real path of their folder. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly folders: readonly KnownFolder[];
}

interface KnownFolder {
  readonly id: string;
  readonly real: string;
  readonly names: RegExp;
  readonly isDeep: boolean;
}

/** Recognizes the files of the installation both by name and by identity, so that no link, other name or mount exposes them. */
export class PrivateFileCheck {
  readonly #installation: () => Installation;
  readonly #now: () => number;
  #known: KnownFiles | undefined;

  /** `now` returns the time on a monotonic clock, in milliseconds. */
  constructor(installation: () => Installation, now = () => performance.now()) {
    this.#installation = installation;
    this.#now = now;
  }

  /** Returns whether the open file with these stats and this real path is part of the installation. */
  *holds(real: string, stats: Stats): Reading<boolean> {
    const { ids, names, folders } = yield* this.#knownFiles();
    if (ids.has(idOf(stats))) return true;
    const [folder, name] = [dirname(real), basename(real)];
    if (names.get(folder)?.some((one) => isNamedAs(name, one))) return true;
    const matching = folders.filter((one) => one.names.test(name));
    if (matching.some((one) => one.real === folder || (one.isDeep && folder.startsWith(withSeparator(one.real)))))
      return true;
    if (matching.length === 0) return false;
    const found = yield* statsIfAny(folder);
    return found !== undefined && matching.some(({ id }) => id === idOf(found));
  }

  *#knownFiles(): Reading<KnownFiles> {
    const installation = this.#installation();
    const known = this.#known;
    if (known?.installation === installation && this.#now() < known.until) return known;
    const ids = new Set<string>();
    const names = new Map<string, string[]>();
    const folders: KnownFolder[] = [];
    for (const one of installation.privateFiles) {
      const found = yield* lookAt(one);
      for (const id of found.ids) ids.add(id);
      for (const path of found.paths) names.set(dirname(path), [...(names.get(dirname(path)) ?? []), basename(path)]);
      if (found.folder !== undefined) folders.push(found.folder);
    }
    this.#known = { installation, until: this.#now() + knownMs, ids, names, folders };
    return this.#known;
  }
}

interface Found {
  readonly ids: readonly string[];
  /** The absolute path and the real path of a file. */
  readonly paths: readonly string[];
  readonly folder: KnownFolder | undefined;
}

function* lookAt({ path, names, isDeep = false }: PrivateFiles): Reading<Found> {
  const real = yield* realPathOrName(path);
  const stats = yield* statsIfAny(real);
  const id = stats === undefined ? '' : idOf(stats);
  if (names === undefined) return { ids: [id], paths: [path, real], folder: undefined };
  const ids: string[] = [];
  // the flow files in a deep folder are recognized individually
  if (!isDeep)
    for (const name of yield* namesIn(real)) {
      const found = names.test(name) ? yield* statsIfAny(join(real, name)) : undefined;
      if (found !== undefined) ids.push(idOf(found));
    }
  return { ids, paths: [], folder: { id, real, names, isDeep } };
}

/** Returns the real path of a file; for a missing file, the path at which it would be created. */
function* realPathOrName(path: string): Reading<string> {
  try {
    return yield* realPathOf(path);
  } catch {
    return dirname(path) === path ? path : join(yield* realPathOrName(dirname(path)), basename(path));
  }
}

function* namesIn(folder: string): Reading<string[]> {
  try {
    return (yield* entriesOf(folder)).map(({ name }) => name);
  } catch {
    return []; // the folder is missing or unreadable
  }
}

function* statsIfAny(path: string): Reading<Stats | undefined> {
  try {
    return yield* statsOf(path);
  } catch {
    return undefined;
  }
}

function idOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}

function withSeparator(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}

/** Returns whether a name is the name of a file or of a copy of this file. */
function isNamedAs(name: string, file: string): boolean {
  if (name === file || name === `#${file}#`) return true;
  const copied = name.replace(copyBegin, '');
  const { name: stem, ext } = parse(file);
  if (!copied.startsWith(stem)) return false;
  const rest = copied.slice(stem.length);
  const at = rest.indexOf(ext);
  if (at < 0) return copyMarks.test(rest) && rest !== '';
  return copyMarks.test(rest.slice(0, at)) && copyEnd.test(rest.slice(at + ext.length));
}
