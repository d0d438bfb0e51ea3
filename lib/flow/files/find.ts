// Finds flow files: those that are named, and those below folders that are named.

import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MistakeList } from '../../json5/mistake.ts';
import { messageOf } from '../../model/error.ts';

/** What counts as a flow file in a folder. Any other file is read when it is named. */
const flowFilePattern = /(?:\.json5|(?<!\.d|\.spec|\.test)\.ts)$/;
/** Hidden files, files and folders that start with an underscore, packages, and folders of dashboards. */
const skippedPattern = /(^|[\\/])([._]|(node_modules|dashboards)([\\/]|$))/;

/** Whether nothing is read at a path within a folder, nor below it. */
export function isSkipped(path: string): boolean {
  return skippedPattern.test(path);
}

/** Whether a file in a folder is a flow file, by its name. */
export function isFlowFile(path: string): boolean {
  return flowFilePattern.test(path);
}

/** Finds the flow files of the paths, each file once, in the order given; a folder stands for all flow files below it. */
export async function findFlowFiles(paths: readonly string[], mistakes: MistakeList): Promise<string[]> {
  const nameOfReal = new Map<string, string>();
  for (const path of paths)
    for (const name of await listFlowFiles(path, mistakes)) {
      const real = await realpath(name);
      if (!nameOfReal.has(real)) nameOfReal.set(real, name);
    }
  return [...nameOfReal.values()];
}

async function listFlowFiles(path: string, mistakes: MistakeList): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await filesBelow(path)).filter(isFlowFile).sort();
    if (names.length === 0) mistakes.addFile(path, 'expected a folder with flow files (*.json5, *.ts), got none');
    return names.map((name) => join(path, name));
  } catch (error) {
    mistakes.addFile(path, cannotRead(error));
    return [];
  }
}

/** Lists the files below a folder, also where links lead, by their paths within it. What is skipped is not even read: it may be large. */
async function filesBelow(folder: string, within = '', above: readonly string[] = []): Promise<string[]> {
  const here = join(folder, within);
  const real = await realpath(here);
  if (above.includes(real)) return []; // a link that leads back
  const found: string[] = [];
  for (const entry of await readdir(here, { withFileTypes: true })) {
    const name = join(within, entry.name);
    if (isSkipped(name)) continue;
    const isLinked = entry.isSymbolicLink() && (await isFolder(join(folder, name)));
    if (entry.isDirectory() || isLinked) found.push(...(await filesBelow(folder, name, [...above, real])));
    else found.push(name);
  }
  return found;
}

/** Whether there is a folder at a path, or where its link leads. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Why a file or folder cannot be read, in a sentence. */
export function cannotRead(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT'
    ? 'expected a file or folder, there is none of this name'
    : `cannot be read: ${messageOf(error)}`;
}
