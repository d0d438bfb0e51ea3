// Finds flow files: files named by a path, and flow files in folders named by a path.

import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asFileError, nothing } from '../../files/regular-file.ts';
import type { MistakeList } from '../../json5/mistake.ts';
import { groupDigits } from '../../model/digits.ts';

/** The maximum number of flow files. An installation has only a few; more files indicate that a path names the wrong folder. */
const maxFlowFiles = 10_000;
/**
 * Matches the names under which files in a folder count as flow files; device descriptions are excluded. Any other file is read only if it
 * is named explicitly.
 */
const flowFilePattern = /(?:(?<!\.device)\.json5|(?<!\.d|\.spec|\.test)\.ts)$/;
/** Matches hidden files, files and folders whose names begin with an underscore, packages, and dashboard folders. */
const skippedPattern = /(^|[\\/])([._]|(node_modules|dashboards)([\\/]|$))/;

/** Returns whether a path within a folder is skipped in the search for flow files, together with everything below the path. */
export function isSkipped(path: string): boolean {
  return skippedPattern.test(path);
}

/** Returns whether a file with this name is a flow file when it is found in a folder. */
export function isFlowFile(path: string): boolean {
  return flowFilePattern.test(path);
}

/**
 * Finds the flow files for the paths, each file once, in the given order. A folder stands for all flow files below it. Adds to `links` the
 * links that were followed to flow files and folders.
 */
export async function findFlowFiles(
  paths: readonly string[],
  mistakes: MistakeList,
  links: string[] = [],
): Promise<string[]> {
  const nameOfReal = new Map<string, string>();
  for (const path of paths)
    for (const name of await listFlowFiles(path, mistakes, links)) {
      const real = await realpath(name).catch(() => name); // reading it reports the error
      if (!nameOfReal.has(real)) nameOfReal.set(real, name);
    }
  const names = [...nameOfReal.values()];
  if (names.length <= maxFlowFiles) return names;
  mistakes.addFile(names[maxFlowFiles]!, `expected at most ${groupDigits(maxFlowFiles)} flow files, got more`);
  return names.slice(0, maxFlowFiles);
}

async function listFlowFiles(path: string, mistakes: MistakeList, links: string[]): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
  } catch (error) {
    mistakes.addFile(path, whyNotRead(error));
    return [];
  }
  const countBefore = mistakes.count;
  const names = (await filesBelow(path, mistakes, links)).sort();
  if (names.length === 0 && mistakes.count === countBefore)
    mistakes.addFile(path, 'expected a folder with flow files (*.json5, *.ts), got none');
  return names;
}

/**
 * Lists the flow files below a folder, including those to which links lead. Each folder is listed once. Skipped folders, which may be
 * large, are not read. A folder that cannot be read adds an error, but its siblings are still read.
 */
async function filesBelow(folder: string, mistakes: MistakeList, links: string[]): Promise<string[]> {
  const found: string[] = [];
  const known = new Set<string>();
  const waiting = [''];
  for (let within = waiting.shift(); within !== undefined; within = waiting.shift()) {
    const here = join(folder, within);
    try {
      const real = await realpath(here);
      if (known.has(real)) continue; // links may lead to the folder repeatedly
      known.add(real);
      const entries = await readdir(here, { withFileTypes: true });
      for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
        const name = join(within, entry.name);
        if (isSkipped(name)) continue;
        const isLink = entry.isSymbolicLink();
        const isBelow = entry.isDirectory() || (isLink && (await isFolder(join(folder, name))));
        if (isLink && (isBelow || isFlowFile(name))) links.push(join(folder, name));
        if (isFlowFile(name)) found.push(join(folder, name));
        else if (isBelow) waiting.push(name);
      }
    } catch (error) {
      mistakes.addFile(here, whyNotRead(error));
    }
  }
  return found;
}

/** Returns whether a path, or the target of a link at that path, is a folder. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Returns the reason why a file or folder cannot be read, for an error message. */
export function whyNotRead(error: unknown): string {
  const { message } = asFileError(error);
  if (message === nothing) return 'expected a file or folder, but nothing with this name exists';
  return `expected a file that can be read, got ${message}`;
}
