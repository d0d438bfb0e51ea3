// GET /hub/dashboards: the dashboards of the console, JSON5 files that people write in one folder.

import { join } from 'node:path';
import type { Dashboard } from '../../../dashboard/format.ts';
import { parseDashboard } from '../../../dashboard/parse.ts';
import { asFileError, decodeUtf8, EncodingError } from '../../../files/regular-file.ts';
import { nearestName } from '../../../json5/nearest-name.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import type { DashboardList } from '../../../wire/http/dashboards.ts';
import type { SettingHint } from '../../setting.ts';
import { bytesOf, entriesOf, type Reading } from '../files/reading.ts';
import type { Visitor } from '../users/visitor.ts';

const maxDashboards = 1000;
const maxDashboardBytes = 1024 * 1024;
const ending = '.json5';

/** Those that a visitor may open. Without a folder there are none. */
export function* listDashboards(folder: string | undefined, { rights }: Visitor): Reading<DashboardList> {
  const names = yield* namesIn(folder);
  return { dashboards: names.filter((name) => rights?.mayOpen(name) ?? true) };
}

/**
 * A dashboard, checked, and with all that was left out filled in. Errors: `not-found` with the nearest name; `bad-dashboard` with every mistake, each
 * with line and column.
 */
export function* readDashboard(folder: string | undefined, name: string, { rights }: Visitor): Reading<Dashboard> {
  const known = (yield* namesIn(folder)).filter((one) => rights?.mayOpen(one) ?? true);
  if (folder === undefined || !known.includes(name)) {
    const nearest = nearestName(name, known);
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
    throw new HubError('not-found', `${name}: there is no such dashboard${hint}`);
  }
  const file = `${name}${ending}`;
  return parseDashboard(file, yield* readText(folder, file));
}

/** Errors: `not-found`, when it has gone or is no file any more; `bad-dashboard`. */
function* readText(folder: string, file: string, shown = file): Reading<string> {
  try {
    return decodeUtf8(yield* bytesOf(join(folder, file), maxDashboardBytes));
  } catch (error) {
    const { message, bytes, cause } = asFileError(error);
    if (bytes !== undefined)
      throw new HubError('bad-dashboard', `${shown}: expected at most ${maxDashboardBytes} bytes, got ${bytes}`);
    if (error instanceof EncodingError)
      throw new HubError(
        'bad-dashboard',
        `${shown}:${error.position.line}:${error.position.column}: expected UTF-8, got ${message}`,
      );
    throw new HubError('not-found', `${shown}: there is no such dashboard, got ${message}`, { cause });
  }
}

/** What is wrong with all of them, a line each; `whyUnknown` tells what is wrong with an address. */
export function* mistakesInDashboards(
  folder: string,
  whyUnknown: (address: string) => string | undefined,
): Reading<string[]> {
  const lines: string[] = [];
  let names: readonly string[] = [];
  try {
    names = yield* namesIn(folder);
  } catch {} // a hint says so
  for (const name of names) {
    const path = join(folder, `${name}${ending}`);
    try {
      parseDashboard(path, yield* readText(folder, `${name}${ending}`, path), whyUnknown);
    } catch (error) {
      lines.push(...messageOf(error).split('\n'));
    }
  }
  return lines;
}

/** Says that there is no folder of dashboards, or that it cannot be read. */
export function* hintsAboutFolder(folder: string): Reading<SettingHint[]> {
  try {
    yield* entriesOf(folder);
    return [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const got = code === 'ENOENT' ? 'there is none' : code === 'ENOTDIR' ? 'it is none' : `got ${code}`;
    return [{ path: ['dashboards'], message: `expected a folder of dashboards at ${folder}, ${got}` }];
  }
}

export function* hasDashboard(folder: string | undefined, name: string): Reading<boolean> {
  return (yield* namesIn(folder)).includes(name);
}

/** The names of the files, without links; empty when the folder is missing. */
function* namesIn(folder: string | undefined): Reading<string[]> {
  if (folder === undefined) return [];
  try {
    const entries = yield* entriesOf(folder);
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
