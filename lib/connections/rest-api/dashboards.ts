// GET /hub/dashboards: the dashboards of the console, JSON5 files that people write in one folder.

import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatPosition } from '../../json5/positions.ts';
import { Json5Error, readJson5 } from '../../json5/read.ts';
import { describe, HubError } from '../../model/error.ts';

const maxDashboards = 1000;
const maxDashboardBytes = 1024 * 1024;
const ending = '.json5';

/** `{"dashboards":["studio"]}`, in alphabetical order; without a folder there are none. */
export async function listDashboards(folder: string | undefined): Promise<object> {
  return { dashboards: await namesIn(folder) };
}

/**
 * The content of a dashboard. Errors: `not-found`; `bad-json5` with line and column of each mistake, also for a file that is
 * too long.
 */
export async function readDashboard(folder: string | undefined, name: string): Promise<object> {
  if (folder === undefined || !(await namesIn(folder)).includes(name))
    throw new HubError('not-found', `${name}: there is no such dashboard`);
  const file = `${name}${ending}`;
  const fail = (message: string) => new HubError('bad-json5', message, { where: file });
  const path = join(folder, file);
  const { size } = await lstat(path);
  if (size > maxDashboardBytes) throw fail(`${file}: expected at most ${maxDashboardBytes} bytes, got ${size}`);
  try {
    const { data, duplicates } = readJson5(await readFile(path, 'utf8'));
    if (duplicates.length > 0)
      throw fail(
        duplicates.map(({ position, message }) => `${file}:${formatPosition(position)}: ${message}`).join('\n'),
      );
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
    throw fail(`${file}: expected an object, got ${describe(data)}`);
  } catch (error) {
    if (!(error instanceof Json5Error)) throw error;
    const place = error.position === undefined ? file : `${file}:${formatPosition(error.position)}`;
    throw fail(`${place}: ${error.message}`);
  }
}

/** The names of the files, links not among them; empty when the folder is missing. */
async function namesIn(folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return [];
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !/^[._]/.test(entry.name));
    return files
      .map((entry) => entry.name.slice(0, -ending.length))
      .sort()
      .slice(0, maxDashboards);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
