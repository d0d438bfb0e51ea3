// What `npm pack` packs.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './readme.ts';

export interface Packed {
  /** The path of the archive. */
  readonly archive: string;
  /** The paths of its files, from the root. */
  readonly files: ReadonlySet<string>;
}

/** Packs what is built into an archive in a folder. */
export async function packInto(folder: string): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: 16 * 2 ** 20 });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { archive: join(folder, filename), files: new Set(files.map(({ path }) => path)) };
}
