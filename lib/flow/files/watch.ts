// Watches flow files, and the files that they name. A single file is watched through its folder, since editors save by
// renaming. A save makes a burst of events, which is told once.

import { stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { watch } from 'chokidar';
import { auditTime, type Observable, Subject } from 'rxjs';
import type { Log } from '../../connections/connection.ts';
import { messageOf } from '../../model/error.ts';
import { isFlowFile, isSkipped } from './find.ts';

/** How long after the first event of a burst the files are read; the watcher itself merges events within 50 ms. */
const settleMs = 60;

export interface FlowWatcher {
  /** Emits when something was saved, added or deleted. Hot, replays nothing, never errors; completes when closed. */
  readonly changes$: Observable<unknown>;
  /** Sets the further files to watch, in place of those of the call before. */
  alsoWatch(files: readonly string[]): void;
  close(): Promise<void>;
}

/** Watches flow files, and all flow files below folders; resolves once no save can be missed. */
export async function watchFlowFiles(paths: readonly string[], log: Log): Promise<FlowWatcher> {
  const folders: string[] = [];
  const files: string[] = [];
  for (const path of paths) ((await isFolder(path)) ? folders : files).push(resolve(path));
  const roots = new Set([...folders, ...files.map(dirname)]);
  let further: ReadonlySet<string> = new Set();

  const isWanted = (path: string) =>
    files.includes(path) || further.has(path) || (isFlowFile(path) && isVisible(folders, path));
  const watcher = watch([...roots], {
    ignoreInitial: true,
    atomic: false,
    ignored: (path, stats) => {
      if (roots.has(path) || isWanted(path)) return false;
      return !isVisible(folders, path) || stats?.isFile() === true;
    },
  });
  const events = new Subject<string>();
  const tell = (path: string) => {
    if (isWanted(path)) events.next(path);
  };
  watcher.on('all', (_, path) => tell(path));
  // A file deleted twice within 100 ms, and there again, gets no event but these, which say what a folder has heard.
  watcher.on('raw', (_, name: string | null, details) => {
    if (name !== null) tell(resolve((details as { watchedPath: string }).watchedPath, name));
  });
  watcher.on('error', (error) => log.warn({}, `flow files are not watched as they should be: ${messageOf(error)}`));
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return {
    changes$: events.pipe(auditTime(settleMs)),
    alsoWatch(named) {
      further = new Set(named);
      const more = [...new Set([...further].map(dirname))].filter((folder) => !roots.has(folder));
      for (const folder of more) roots.add(folder);
      watcher.add(more);
    },
    async close() {
      events.complete();
      await watcher.close();
    },
  };
}

/** Whether a path is in one of the folders, and not in a part of it that is skipped. */
function isVisible(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => path.startsWith(folder + sep) && !isSkipped(relative(folder, path)));
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
