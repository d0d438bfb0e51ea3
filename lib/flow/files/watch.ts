// Watches flow files and the files that they name. A single file is watched through its folder, because editors save by renaming. The burst
// of events from one save is reported once. When a link or folder is replaced, the new target is watched.

import { dirname, relative, resolve, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { auditTime, type Observable, ReplaySubject, Subject } from 'rxjs';
import type { Log } from '../../connections/connection.ts';
import { messageOf } from '../../model/error.ts';
import { isFlowFile, isFolder, isSkipped } from './find.ts';
import { FollowedPlaces } from './watched-places.ts';

/** The delay between the first event in a burst and the report, in milliseconds. The watcher itself merges events within 50 ms. */
const settleMs = 60;

export interface FlowWatcher {
  /**
   * Emits when a watched file was saved, added or deleted, or when a path leads to another target. A late subscriber gets the last event
   * immediately. Never errors; completes when closed.
   */
  readonly changes$: Observable<unknown>;
  /** Replaces the additional files to watch, which were read after `since`. */
  alsoWatch(files: readonly string[], since: number): void;
  close(): Promise<void>;
}

/** Watches flow files, and all flow files below folders. Resolves as soon as no save can be missed. */
export async function watchFlowFiles(paths: readonly string[], log: Log): Promise<FlowWatcher> {
  const events = new Subject<void>();
  const changes$ = new ReplaySubject<unknown>(1);
  events.pipe(auditTime(settleMs)).subscribe(changes$);
  const notify = () => events.next();
  let watcher = await watchPaths(paths, notify, log);
  let rewatching: Promise<void> = Promise.resolve();
  let isClosed = false;
  /** Watches those of the paths that exist now. */
  const rewatch = async () => {
    if (isClosed) return;
    await watcher.close(); // first, because the library shares one watcher per path
    watcher = await watchPaths(paths, notify, log);
    notify();
  };
  const moved = () => {
    rewatching = rewatching.then(rewatch);
  };
  const places = new FollowedPlaces({ moved, saved: notify });
  await places.follow(paths);
  return {
    changes$,
    alsoWatch: (files, since) => void places.follow([...paths, ...files], since),
    async close() {
      isClosed = true;
      events.complete();
      places.close();
      await rewatching;
      await watcher.close();
    },
  };
}

/** Watches flow files and folders as they currently are. Resolves as soon as no save can be missed. */
async function watchPaths(paths: readonly string[], notify: () => void, log: Log): Promise<FSWatcher> {
  const watched = await WatchedPaths.of(paths);
  const watcher = watch(watched.roots, {
    ignoreInitial: true,
    atomic: false,
    ignored: (path, stats) => watched.isIgnored(path, stats?.isFile() === true),
  });
  const notifyOf = (path: string) => {
    if (watched.isWanted(path)) notify();
  };
  watcher.on('all', (_, path) => notifyOf(path));
  // A file that is deleted and restored twice within 100 ms causes only these raw events of its folder.
  watcher.on('raw', (_, name: string | null, details) => {
    if (name !== null) notifyOf(resolve((details as { watchedPath: string }).watchedPath, name));
  });
  watcher.on('error', (error) =>
    log.warn({}, `watching flow files failed; a save may need a manual reload: ${messageOf(error)}`),
  );
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return watcher;
}

/** The watched paths: flow files, and folders with flow files. */
class WatchedPaths {
  /** The folders to pass to the watcher, as absolute paths. */
  readonly roots: string[];
  readonly #folders: readonly string[];
  readonly #files: readonly string[];

  private constructor(folders: readonly string[], files: readonly string[]) {
    this.#folders = folders;
    this.#files = files;
    this.roots = [...new Set([...folders, ...files.map(dirname)])];
  }

  static async of(paths: readonly string[]): Promise<WatchedPaths> {
    const folders: string[] = [];
    const files: string[] = [];
    for (const path of paths) ((await isFolder(path)) ? folders : files).push(resolve(path));
    return new WatchedPaths(folders, files);
  }

  isWanted(path: string): boolean {
    return this.#files.includes(path) || (isFlowFile(path) && this.#isVisible(path));
  }

  isIgnored(path: string, isFile: boolean): boolean {
    if (this.roots.includes(path) || this.isWanted(path)) return false;
    return isFile || !this.#isVisible(path);
  }

  /** Returns whether a path is in one of the watched folders, and not in a skipped part of that folder. */
  #isVisible(path: string): boolean {
    return this.#folders.some((folder) => path.startsWith(folder + sep) && !isSkipped(relative(folder, path)));
  }
}
