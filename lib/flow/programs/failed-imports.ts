// Imports of a flow that failed: what is told of them, and where they stand. No stack leads to an import.

import { readdirSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearestName } from '../../json5/nearest-name.ts';
import { type Position, positionAt } from '../../json5/positions.ts';
import { wordsOf } from './stack.ts';

/** What a file names that it imports. */
export interface FailedImport {
  /** The full path of the file. */
  readonly from: string;
  readonly specifier: string;
}

/** Why something cannot be imported, in one line. */
export function wordsOfImport(error: unknown, specifier: string): string {
  const { code, url } = error as { code?: unknown; url?: unknown };
  if (code !== 'ERR_MODULE_NOT_FOUND') return wordsOf(error).replace(/ imported from .*$/, '');
  if (typeof url !== 'string' || !url.startsWith('file:')) return `there is no package "${specifier}" here`;
  const nearest = nearestFile(specifier, url);
  return `there is no file "${specifier}"${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`;
}

/** Where a text imports something, whichever way. */
export function placeOfImport(text: string, specifier: string): Position | undefined {
  const escaped = specifier.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const found = new RegExp(`\\b(?:from|import)\\s*\\(?\\s*(?=(['"\`])${escaped}\\1)`).exec(text);
  return found === null ? undefined : positionAt(text, found.index + found[0].length);
}

/** The file in the same folder that has nearly that name. */
function nearestFile(specifier: string, url: string): string | undefined {
  try {
    const path = fileURLToPath(url);
    const [name, ending] = [basename(path), extname(path)];
    if (!specifier.endsWith(name)) return undefined;
    const files = readdirSync(dirname(path)).filter((file) => ending === '' || extname(file) === ending);
    const stem = basename(name, ending);
    const nearest = nearestName(stem, ending === '' ? files : files.map((file) => basename(file, ending)));
    return nearest === undefined ? undefined : `${specifier.slice(0, -name.length)}${nearest}${ending}`;
  } catch {
    return undefined; // there is no such folder either
  }
}
