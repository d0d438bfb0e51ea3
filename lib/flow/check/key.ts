// Keys: what connections and rules were made of, as text. A reload compares them to find what has changed.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { ParameterDeclaration } from '../../model/parameter.ts';

/** Of a larger file, and of what is no file, the time of its last change stands for its content. */
const maxHashedBytes = 4 * 1024 * 1024;

/** The key of a connection: its settings as the file has them, their folder, its parameters and the files they name. */
export function connectionKey(
  settings: unknown,
  { folder, parameters }: { folder: string; parameters: readonly ParameterDeclaration[] },
  files: readonly string[],
): string {
  const hash = createHash('sha256').update(
    JSON.stringify([folder, settings, files.map((path) => [path, contentMark(path)])]),
  );
  for (const { id, type, access } of parameters) hash.update(`${id}\n${type}${access}\n`);
  return hash.digest('base64');
}

/** The key of a rule: its file, and what the file says of it; of a program, which says nothing, its version and the rule's place. */
export function ruleKey({ name }: { name: string }, item: unknown): string {
  return JSON.stringify([name, item]);
}

/** Stands for the content of a file; a file that cannot be read has the mark of its error. */
function contentMark(path: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > maxHashedBytes) return `${found.size} ${found.mtimeMs}`;
    return createHash('sha256').update(readFileSync(path)).digest('base64');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}
