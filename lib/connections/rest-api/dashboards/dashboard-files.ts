// The files of a folder of dashboards: which there are, what they say, and what is wrong with them.

import { join } from 'node:path';
import { parseDashboard } from '../../../dashboard/parse-dashboard.ts';
import { asFileError, decodeUtf8, EncodingError } from '../../../files/regular-file.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import type { SettingHint } from '../../setting.ts';
import { bytesUnlessSame, entriesOf, type Reading } from '../files/reading.ts';

const maxDashboards = 1000;
const maxDashboardBytes = 1024 * 1024;
const ending = '.json5';

/** The file of a dashboard. */
export function fileOf(name: string): string {
  return `${name}${ending}`;
}

/** The names of the files of a folder, without links, sorted. */
export function namesOf(entries: readonly { readonly name: string; isFile(): boolean }[]): string[] {
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !/^[._]/.test(entry.name));
  const names = files.map((entry) => entry.name.slice(0, -ending.length));
  return names.sort().slice(0, maxDashboards);
}

/**
 * Reads a file of a folder, unless its stamp is the known one; errors name it as `shown`. Errors: `not-found`, when it has gone or is no file
 * any more; `bad-dashboard`.
 */
export function* readDashboardFile(folder: string, file: string, known: string | undefined, shown = file) {
  try {
    return yield* bytesUnlessSame(join(folder, file), maxDashboardBytes, known);
  } catch (error) {
    const { message, bytes, cause } = asFileError(error);
    if (bytes !== undefined)
      throw new HubError('bad-dashboard', `${shown}: expected at most ${maxDashboardBytes} bytes, got ${bytes}`);
    throw new HubError('not-found', `${shown}: there is no such dashboard, got ${message}`, { cause });
  }
}

/** Errors: `bad-dashboard`. */
export function textOfDashboard(bytes: Uint8Array, shown: string): string {
  try {
    return decodeUtf8(bytes as Buffer);
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    const { line, column } = error.position;
    throw new HubError('bad-dashboard', `${shown}:${line}:${column}: expected UTF-8, got ${error.message}`);
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
    names = namesOf(yield* entriesOf(folder));
  } catch {} // a hint says so
  for (const name of names) {
    const file = fileOf(name);
    const path = join(folder, file);
    try {
      const { bytes } = yield* readDashboardFile(folder, file, undefined, path);
      parseDashboard(path, textOfDashboard(bytes!, path), whyUnknown);
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
