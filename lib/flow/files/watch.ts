// Watches flow files, and the files that they name. A single file is watched through its folder, since editors save by
// renaming. A save makes a burst of events, which is told once.

import { dirname, relative, resolve, sep } from 'node:path';
import { watch } from 'chokidar';
import { auditTime, type Observable, ReplaySubject, Subject } from 'rxjs';
import type { Log } from '../../connections/connection.ts';
import { messageOf } from '../../model/error.ts';
import { isFlowFile, isFolder, isSkipped } from './find.ts';

/** How long after the first event of a burst the files are read; the watcher itself merges events within 50 ms. */
const settleMs = 60;

export interface FlowWatcher {
  /**
   * Emits when something was saved, added or deleted, since it is watched: who subscribes later hears of the last save at once. Never
   * errors; completes when closed.
   */
  readonly changes$: Observable<unknown>;
  /** Sets the further files to watch, in place of those of the call before. */
  alsoWatch(files: readonly string[]): void;
  close(): Promise<void>;
}

/** Watches flow files, and all flow files below folders; resolves once no save can be missed. */
export async function watchFlowFiles(paths: readonly string[], log: Log): Promise<FlowWatcher> {
  const watched = await WatchedPaths.of(paths);
  const watcher = watch([...watched.roots], {
    ignoreInitial: true,
    atomic: false,
    ignored: (path, stats) => watched.isIgnored(path, stats?.isFile() === true),
  });
  const events = new Subject<string>();
  const tell = (path: string) => {
    if (watched.isWanted(path)) events.next(path);
  };
  watcher.on('all', (_, path) => tell(path));
  // A file deleted twice within 100 ms, and there again, gets no event but these, which say what a folder has heard.
  watcher.on('raw', (_, name: string | null, details) => {
    if (name !== null) tell(resolve((details as { watchedPath: string }).watchedPath, name));
  });
  watcher.on('error', (error) => log.warn({}, `flow files are not watched as they should be: ${messageOf(error)}`));
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  const changes$ = new ReplaySubject<unknown>(1);
  events.pipe(auditTime(settleMs)).subscribe(changes$);
  return {
    changes$,
    alsoWatch: (files) => void watcher.add(watched.setFurther(files)),
    async close() {
      events.complete();
      await watcher.close();
    },
  };
}

/** Which paths are watched: flow files, those in folders, and further files. */
class WatchedPaths {
  /** The folders that the watcher is given. */
  readonly roots: Set<string>;
  readonly #folders: readonly string[];
  readonly #files: readonly string[];
  #further: ReadonlySet<string> = new Set();

  private constructor(folders: readonly string[], files: readonly string[]) {
    this.#folders = folders;
    this.#files = files;
    this.roots = new Set([...folders, ...files.map(dirname)]);
  }

  static async of(paths: readonly string[]): Promise<WatchedPaths> {
    const folders: string[] = [];
    const files: string[] = [];
    for (const path of paths) ((await isFolder(path)) ? folders : files).push(resolve(path));
    return new WatchedPaths(folders, files);
  }

  /** Sets the further files; returns the folders that were no roots before. */
  setFurther(files: readonly string[]): string[] {
    this.#further = new Set(files);
    const more = [...new Set(files.map(dirname))].filter((folder) => !this.roots.has(folder));
    for (const folder of more) this.roots.add(folder);
    return more;
  }

  isWanted(path: string): boolean {
    return this.#files.includes(path) || this.#further.has(path) || (isFlowFile(path) && this.#isVisible(path));
  }

  isIgnored(path: string, isFile: boolean): boolean {
    if (this.roots.has(path) || this.isWanted(path)) return false;
    return isFile || !this.#isVisible(path);
  }

  /** Whether a path is in one of the folders, and not in a part of it that is skipped. */
  #isVisible(path: string): boolean {
    return this.#folders.some((folder) => path.startsWith(folder + sep) && !isSkipped(relative(folder, path)));
  }
}
