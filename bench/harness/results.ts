// How the results of a benchmark are kept: `<date>.md`, `.json`, `.svg`.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `2026-11-21T10-05-30Z`, for file names. */
export function stampOf(date: string): string {
  return date.replaceAll(':', '-').replace(/\.\d+/, '');
}

/** Writes `<name>.<extension>` for each content; returns their common path without the extension. */
export async function keepResults(
  folder: string,
  name: string,
  contents: Readonly<Record<string, string>>,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  for (const [extension, content] of Object.entries(contents)) await writeFile(`${path}.${extension}`, content);
  return path;
}
