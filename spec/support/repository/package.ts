// What `npm pack` packs.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { root } from './readme.ts';

let files: Promise<ReadonlySet<string>> | undefined;

/** The files of the package but those that are built. */
export function packedFiles(): Promise<ReadonlySet<string>> {
  files ??= list();
  return files;
}

async function list(): Promise<ReadonlySet<string>> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return new Set(files.map(({ path }) => path));
}
