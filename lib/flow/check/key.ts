// Keys: what connections and rules were made of, as text. A reload compares them to find what has changed.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { asFileError, readRegularFileSync } from '../../files/regular-file.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';

/** The content of a larger file is not read: its size and the time of its last change stand for it. */
const maxHashedBytes = 4 * 1024 * 1024;
/** To hash the text of many at once costs a tenth; that of a million at once would be too long. */
const parametersPerUpdate = 1000;

/**
 * The key of a connection: its text, a space, and what it is made of: that text, its folder, its parameters and the files that its
 * settings name. The text is its settings as the file has them, but for `description`.
 */
export function connectionKey(
  settings: unknown,
  { folder, parameters }: { folder: string; parameters: readonly ParameterDeclaration[] },
  files: readonly string[],
): string {
  const { description: _, ...others } = settings as Readonly<Record<string, unknown>>;
  const text = createHash('sha256').update(JSON.stringify(others)).digest('base64');
  const hash = createHash('sha256').update(
    JSON.stringify([folder, text, files.map((path) => [path, contentMark(path)])]),
  );
  for (let first = 0; first < parameters.length; first += parametersPerUpdate) {
    const some = parameters.slice(first, first + parametersPerUpdate);
    hash.update(some.map(({ id, type, access }) => `${id}\n${type}${access}\n`).join(''));
  }
  return `${text} ${hash.digest('base64')}`;
}

/** The key of a rule: its file and `item`, what the file says of it. A rule of a program has its version and place instead. */
export function ruleKey({ name }: { name: string }, item: unknown): string {
  return JSON.stringify([name, item]);
}

/** A mark that stands for the content of a file. A file that cannot be read has the code of its error as its mark. */
function contentMark(path: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > maxHashedBytes) return `${found.size} ${found.mtimeMs}`;
    return createHash('sha256').update(readRegularFileSync(path, maxHashedBytes)).digest('base64');
  } catch (error) {
    return asFileError(error).code ?? 'unreadable';
  }
}
