// Watches flow files, and the files that they name. A single file is watched through its folder, since editors save by
// renaming. A save makes a burst of events, which is told once. Where a name leads elsewhere, what is there now is watched.

import { dirname, relative, resolve, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { auditTime, type Observable, ReplaySubject, Subject } from 'rxjs';
import type { Log } from '../../connections/connection.ts';
import { messageOf } from '../../model/error.ts';
import { isFlowFile, isFolder, isSkipped } from './find.ts';
import { FollowedPlaces } from './watched-places.ts';

/** How long after the first event of a burst the files are read; the watcher itself merges events within 50 ms. */
const settleMs = 60;

export interface FlowWatcher {
  /**
   * Emits when something was saved, added or deleted, or a name leads elsewhere, since it is watched: who subscribes later hears of the
   * last save at once. Never errors; completes when closed.
   */
  readonly changes$: Observable<unknown>;
  /** Sets the further files to watch, in place of those of the call before; they were read after a time. */
  alsoWatch(files: readonly string[], since: number): void;
  close(): Promise<void>;
}

/** Watches flow files, and all flow files below folders; resolves once no save can be missed. */
export async function watchFlowFiles(paths: readonly string[], log: Log): Promise<FlowWatcher> {
  const events = new Subject<void>();
  const changes$ = new ReplaySubject<unknown>(1);
  events.pipe(auditTime(settleMs)).subscribe(changes$);
  const notify = () => events.next();
  let watcher = await watchPaths(paths, notify, log);
  let turning: Promise<void> = Promise.resolve();
  let isClosed = false;
  /** Watches what is there now. */
  const turn = async () => {
    if (isClosed) return;
    await watcher.close(); // first: the library gives what it watches at a path to all that watch the path
    watcher = await watchPaths(paths, notify, log);
    notify();
  };
  const moved = () => {
    turning = turning.then(turn);
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
      await turning;
      await watcher.close();
    },
  };
}

/** Watches flow files and folders of them as they are; resolves once no save can be missed. */
async function watchPaths(paths: readonly string[], notify: () => void, log: Log): Promise<FSWatcher> {
  const watched = await WatchedPaths.of(paths);
  const watcher = watch(watched.roots, {
    ignoreInitial: true,
    atomic: false,
    ignored: (path, stats) => watched.isIgnored(path, stats?.isFile() === true),
  });
  const hear = (path: string) => {
    if (watched.isWanted(path)) notify();
  };
  watcher.on('all', (_, path) => hear(path));
  // A file deleted twice within 100 ms, and there again, gets no event but these, which say what a folder has heard.
  watcher.on('raw', (_, name: string | null, details) => {
    if (name !== null) hear(resolve((details as { watchedPath: string }).watchedPath, name));
  });
  watcher.on('error', (error) => log.warn({}, `flow files are not watched as they should be: ${messageOf(error)}`));
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return watcher;
}

/** Which paths are watched: flow files, and those in folders. */
class WatchedPaths {
  /** The folders that the watcher is given. */
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

  /** Whether a path is in one of the folders, and not in a part of it that is skipped. */
  #isVisible(path: string): boolean {
    return this.#folders.some((folder) => path.startsWith(folder + sep) && !isSkipped(relative(folder, path)));
  }
}
