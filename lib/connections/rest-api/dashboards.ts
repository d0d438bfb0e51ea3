// GET /hub/dashboards: the dashboards of the console, JSON5 files that people write in one folder.

import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dashboard } from '../../dashboard/format.ts';
import { parseDashboard } from '../../dashboard/parse.ts';
import { HubError } from '../../model/error.ts';

const maxDashboards = 1000;
const maxDashboardBytes = 1024 * 1024;
const ending = '.json5';

/** `{"dashboards":["studio"]}`, in alphabetical order; without a folder there are none. */
export async function listDashboards(folder: string | undefined): Promise<object> {
  return { dashboards: await namesIn(folder) };
}

/**
 * A dashboard, checked, and with all that was left out filled in. Errors: `not-found`; `bad-dashboard` with every mistake, each
 * with line and column.
 */
export async function readDashboard(folder: string | undefined, name: string): Promise<Dashboard> {
  if (folder === undefined || !(await namesIn(folder)).includes(name))
    throw new HubError('not-found', `${name}: there is no such dashboard`);
  const file = `${name}${ending}`;
  const path = join(folder, file);
  const { size } = await lstat(path);
  if (size > maxDashboardBytes)
    throw new HubError('bad-dashboard', `${file}: expected at most ${maxDashboardBytes} bytes, got ${size}`);
  return parseDashboard(file, await readFile(path, 'utf8'));
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
