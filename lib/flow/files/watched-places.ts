// Follows paths to their targets, and watches the files there. A link or folder on the way may be replaced: by `ln -sfn releases/2
// current`, by a rename, or by an orchestrator that renews a mounted volume. Because a watcher keeps watching the files that it found
// first, each name on the way is watched in its folder.
import { type FSWatcher, type Stats, watch } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';

/** The maximum number of links followed in a row, as in Linux. More links are treated as a loop. */
const maxLinks = 40;
/** The maximum number of times that the targets are searched for again because a path has moved during the search. */
const maxRounds = 5;
/** The maximum time by which file times may lag behind the clock, in milliseconds. */
const clockMs = 10;

/** A watched folder, and the names in it that are watched. */
interface WatchedFolder {
  readonly watcher: FSWatcher;
  names: ReadonlySet<string>;
}

interface PlaceListener {
  /** Called when a path leads to another target. */
  moved(): void;
  /** Called when a file to which a path leads was saved. */
  saved(): void;
}

export class FollowedPlaces {
  readonly #listener: PlaceListener;
  readonly #folders = new Map<string, WatchedFolder>();
  #paths: readonly string[] = [];
  /** The target of each path, keyed by path, as last determined. */
  #places: ReadonlyMap<string, Place> = new Map();
  /** The absolute paths of the files to which the followed paths lead. */
  #files: ReadonlySet<string | undefined> = new Set();
  #looking: Promise<void> = Promise.resolve();
  /** Whether another search for targets is scheduled and has not begun. */
  #isDue = false;
  #isClosed = false;

  constructor(listener: PlaceListener) {
    this.#listener = listener;
  }

  /**
   * Replaces the paths to follow. Resolves as soon as nothing can be missed. A new path counts as moved if anything on its way has changed
   * since `since`, the time at which the path was read.
   */
  async follow(paths: readonly string[], since = Number.POSITIVE_INFINITY): Promise<void> {
    const known = this.#places;
    this.#paths = [...new Set(paths)];
    await this.#look();
    const found = [...this.#places].filter(([path]) => !known.has(path));
    if (!this.#isClosed && found.some(([, { changedAt }]) => changedAt >= since - clockMs)) this.#listener.moved();
  }

  close(): void {
    this.#isClosed = true;
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  /** Finds the current targets of all paths. Searches run one after another. */
  #look(): Promise<void> {
    this.#isDue = true;
    this.#looking = this.#looking
      .then(async () => {
        this.#isDue = false;
        const before = this.#places;
        const places = await this.#watchAll();
        this.#places = places;
        this.#files = new Set([...places.values()].map(({ file }) => file));
        const hasMoved = ([path, { id }]: [string, Place]) => (before.get(path)?.id ?? id) !== id;
        if (!this.#isClosed && [...places].some(hasMoved)) this.#listener.moved();
      })
      .catch(() => {}); // the targets of a path that cannot be read are not followed
    return this.#looking;
  }

  /**
   * Watches the folder of each name that decides where a path leads, then finds the targets of the paths. If a path moves during the
   * search, the search is repeated.
   */
  async #watchAll(): Promise<Map<string, Place>> {
    const paths = this.#paths;
    let ways: readonly Way[] = [];
    for (let round = 0, hasNew = true; hasNew && round < maxRounds; round++) {
      ways = await Promise.all(paths.map(wayOf));
      hasNew = this.#watchNames(ways.flatMap(({ names }) => names));
    }
    return new Map(ways.map(({ place }, index) => [paths[index]!, place]));
  }

  /** Watches the names, given as absolute paths. Returns whether any of the names was not watched before. */
  #watchNames(all: readonly string[]): boolean {
    const wanted = new Map<string, Set<string>>();
    for (const name of all) {
      const names = wanted.get(dirname(name)) ?? new Set();
      wanted.set(dirname(name), names.add(basename(name)));
    }
    for (const [folder, { watcher }] of this.#folders)
      if (!wanted.has(folder)) {
        watcher.close();
        this.#folders.delete(folder);
      }
    return [...wanted].map(([folder, names]) => this.#watchFolder(folder, names)).includes(true);
  }

  #watchFolder(folder: string, names: ReadonlySet<string>): boolean {
    const known = this.#folders.get(folder);
    if (known !== undefined) {
      const before = known.names;
      known.names = names;
      return [...names].some((name) => !before.has(name));
    }
    if (this.#isClosed) return false;
    try {
      const watcher = watch(folder, (_, name) => {
        if (name === null || watched.names.has(name) || name === basename(folder))
          this.#listen(join(folder, name ?? ''));
      });
      const watched: WatchedFolder = { watcher, names };
      watcher.on('error', () => this.#folders.delete(folder)); // the folder is gone, and the folder above reports that
      this.#folders.set(folder, watched);
      return true;
    } catch {
      return false; // an unreadable folder: moves in it go unnoticed
    }
  }

  #listen(name: string): void {
    if (this.#files.has(name)) this.#listener.saved();
    else if (!this.#isDue) void this.#look();
  }
}

/** The target of a followed path, and when the target or the way to it last changed. */
interface Place {
  readonly id: string;
  /** The file at the target, as an absolute path. Undefined if the target is a folder or does not exist. */
  readonly file: string | undefined;
  /** The time at which the file, or a link that leads to it, was last written, in milliseconds since 1970. */
  readonly changedAt: number;
}

/** The way from a path to its target, step by step. Each step is watched, so that moves during the walk are detected. */
interface Way {
  /** Every name that decides where a path leads: its folders, its links, and the names through which these links lead. */
  readonly names: readonly string[];
  readonly place: Place;
}

async function wayOf(path: string): Promise<Way> {
  const names: string[] = [];
  let waiting = partsOf(path);
  let changedAt = 0;
  let links = 0;
  let at = parse(resolve(path)).root;
  let folder: Stats | undefined;
  let found = await statIfAny(at);
  for (let part = waiting.shift(); part !== undefined && links < maxLinks; part = waiting.shift()) {
    const name = join(at, part);
    names.push(name);
    const next = await statIfAny(name);
    const target = next?.isSymbolicLink() ? await readlink(name).catch(() => undefined) : undefined;
    if (target === undefined) {
      [at, folder, found] = [name, found, next];
      continue;
    }
    links++;
    changedAt = Math.max(changedAt, next!.ctimeMs);
    const full = resolve(at, target);
    at = parse(full).root;
    waiting = [...partsOf(full), ...waiting];
  }
  if (found === undefined || links === maxLinks)
    return { names, place: { id: `${path} is a broken link`, file: undefined, changedAt } };
  if (found.isDirectory())
    return { names, place: { id: `${at} ${found.dev} ${found.ino}`, file: undefined, changedAt } };
  const { dev, ino } = links === 0 ? folder! : found; // a save often replaces the file instead of writing to it
  return { names, place: { id: `${at} ${dev} ${ino}`, file: at, changedAt: Math.max(changedAt, found.ctimeMs) } };
}

function statIfAny(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

function partsOf(path: string): string[] {
  const full = resolve(path);
  return full.slice(parse(full).root.length).split(sep).filter(Boolean);
}
