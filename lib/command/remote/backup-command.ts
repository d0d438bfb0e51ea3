// `patchbay backup` and `patchbay restore`: all that a running hub is made of and keeps, in one file, and back into a folder.
import { open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Manifest } from '../../backup/manifest.ts';
import { type BackupTarget, readBackup } from '../../backup/read-backup.ts';
import { makeFolder, openRegularFile } from '../../files/regular-file.ts';
import { groupDigits } from '../../model/digits.ts';
import { messageOf } from '../../model/error.ts';
import { printable } from '../../model/printable.ts';
import { type Cli, command, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { calledAs, quoted } from '../first-steps.ts';
import { type RemoteOptions, respond } from './ask-hub.ts';

export function register(cli: Cli): void {
  const { console, finish, host } = cli;
  remoteCommand(cli, 'backup', 'write a backup of a running hub into a file: its flow files, dashboards and databases')
    .argument('<file>', 'the archive that is written, a .tar; one of this name is replaced')
    .action((file: string, options: RemoteOptions) => finish(backup(file, options, console)));
  command(cli, 'restore', 'restore a backup into an empty folder')
    .argument('<file>', 'the archive')
    .argument('<folder>', 'an empty folder, or one that there is not yet')
    .action((file: string, folder: string) =>
      finish(restore(file, folder, calledAs(host.argv[1] ?? '', host.cwd()), console)),
    );
}

/** Below it files are restored until all of them are there. */
const work = '.restoring';
/** Backups hold what flow files hold, passwords as well. */
const ownerOnly = 0o600;

/**
 * Writes a backup of the hub into a file, which is there once it is whole and has been checked. Errors: the sentence of the hub, that there
 * is none, that it was lost, or that the file cannot be written; then a file of this name is as it was.
 */
export async function backup(file: string, options: RemoteOptions, console: Console): Promise<number> {
  const part = `${file}.part`;
  const { body } = await respond(options, '/hub/backup', {});
  try {
    const manifest = await save(body!, part);
    await rename(part, file);
    console.print(printable(`${file}: ${describe(manifest)}`));
    return 0;
  } catch (error) {
    await rm(part, { force: true });
    throw new Error(`${file}: expected a whole backup, got ${reasonOf(error)}`);
  }
}

/**
 * Restores a backup into a folder that is empty or that there is not yet. Errors: the folder is not empty; the file is no backup, is not
 * whole or was changed; a file cannot be written. Then the folder is as it was.
 */
export async function restore(file: string, folder: string, call: string, console: Console): Promise<number> {
  const isNew = await expectEmpty(folder);
  const place = join(folder, work);
  try {
    await rm(place, { recursive: true, force: true });
    makeFolder(place);
    const archive = await openRegularFile(file).catch((error) => {
      throw new Error(`expected an archive, got ${messageOf(error)}`);
    });
    const manifest = await readBackup(archive.createReadStream(), createTarget(place));
    for (const name of await readdir(place)) await rename(join(place, name), join(folder, name));
    await rmdir(place);
    console.print(printable(`${folder}: ${describe(manifest)}`));
    for (const path of manifest.absolute)
      console.print(printable(`Flow files name ${path} by an absolute path: a hub that runs them uses what is there.`));
    console.print(`Run it: ${call} run ${manifest.run.map((path) => quoted(join(folder, path))).join(' ')}`);
    return 0;
  } catch (error) {
    await rm(isNew ? folder : place, { recursive: true, force: true });
    throw new Error(`${file}: ${messageOf(error)}`);
  }
}

/** Writes what comes into a file, and reads it at the same time. Errors: as those of `readBackup`. */
async function save(source: AsyncIterable<Uint8Array>, file: string): Promise<Manifest> {
  const handle = await open(file, 'w', ownerOnly);
  try {
    const manifest = await readBackup(
      (async function* () {
        for await (const bytes of source) {
          await handle.writeFile(bytes);
          yield bytes;
        }
      })(),
      { begin: async () => {}, write: async () => {}, end: async () => {} },
    );
    await handle.sync();
    return manifest;
  } finally {
    await handle.close();
  }
}

/** Whether there is no such folder yet. Errors: there is something in it. */
async function expectEmpty(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats === undefined) return true;
  if (!stats.isDirectory()) throw new Error(`${folder}: expected an empty folder, got a file`);
  const found = (await readdir(folder)).filter((name) => name !== work);
  if (found.length > 0) throw new Error(`${folder}: expected an empty folder, got one with ${found.sort()[0]}`);
  return false;
}

function createTarget(folder: string): BackupTarget {
  let handle: Awaited<ReturnType<typeof open>>;
  return {
    async begin(path) {
      const place = join(folder, path);
      makeFolder(dirname(place));
      handle = await open(place, 'wx', ownerOnly);
    },
    write: (bytes) => handle.writeFile(bytes),
    async end() {
      await handle.sync();
      await handle.close();
    },
  };
}

function describe({ files, time }: Manifest): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${files.length} files, ${groupDigits(bytes)} bytes, of ${time}`;
}

/** An answer that was cut is told as `terminated`, with the reason as its cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`;
}
