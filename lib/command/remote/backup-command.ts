// `patchbay backup` and `patchbay restore`: save the files and data of a running hub in one file, and restore them.
import { open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Manifest } from '../../backup/manifest.ts';
import { type BackupTarget, readBackup } from '../../backup/read-backup.ts';
import { makeFolder } from '../../files/make-folder.ts';
import { openRegularFile } from '../../files/regular-file.ts';
import { counted } from '../../model/digits.ts';
import { messageOf } from '../../model/error.ts';
import { printable } from '../../model/printable.ts';
import { type Cli, command, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { calledAs, quoted } from '../first-steps.ts';
import { type RemoteOptions, respond } from './ask-hub.ts';

export function register(cli: Cli): void {
  const { console, finish, host } = cli;
  remoteCommand(cli, 'backup', 'back up a running hub to a file: its flow files, dashboards and databases')
    .argument('<file>', 'path of the .tar archive to write; an existing file is replaced')
    .action((file: string, options: RemoteOptions) => finish(backup(file, options, console)));
  command(cli, 'restore', 'restore a backup into an empty folder')
    .argument('<file>', 'the archive that `patchbay backup` created')
    .argument('<folder>', 'an empty or new folder')
    .action((file: string, folder: string) =>
      finish(restore(file, folder, calledAs(host.argv[1] ?? '', host.cwd()), console)),
    );
}

/** The subfolder in which files are restored until all files are complete. */
const work = '.restoring';
/** The file mode for backups, because they contain flow files, which may contain passwords. */
const ownerOnly = 0o600;

/**
 * Writes a backup of the hub to a file. The file appears only once the backup is complete and has been checked. Errors: the hub's error
 * message, no hub at the URL, a lost connection, or a file that cannot be written. After an error, an existing file is unchanged.
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
    throw new Error(`${file}: cannot make a complete backup: ${reasonOf(error)}`);
  }
}

/**
 * Restores a backup to an empty or new folder. Throws if the folder is not empty, if the backup is incomplete or has been altered, or if a
 * file cannot be written. After an error, the folder is unchanged.
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
      console.print(
        printable(`The flow files refer to ${path}, an absolute path, which is not included in the backup.`),
      );
    console.print(`Run the hub: ${call} run ${manifest.run.map((path) => quoted(join(folder, path))).join(' ')}`);
    return 0;
  } catch (error) {
    await rm(isNew ? folder : place, { recursive: true, force: true });
    throw new Error(`${file}: ${messageOf(error)}`);
  }
}

/** Writes the incoming bytes of a backup to a file, and checks the backup at the same time. Errors: the same as for `readBackup`. */
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

/** Checks that a folder is empty or does not exist. Returns true if the folder does not exist yet. */
async function expectEmpty(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats === undefined) return true;
  if (!stats.isDirectory()) throw new Error(`${folder}: expected an empty folder, got a file`);
  const found = (await readdir(folder)).filter((name) => name !== work);
  if (found.length > 0)
    throw new Error(`${folder}: expected an empty folder, got a folder that contains ${found.sort()[0]}`);
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
  return `${counted(files.length, 'file')}, ${counted(bytes, 'byte')}, as of ${time}`;
}

/** Returns the reason for an error. A truncated response is reported as `terminated`, with the actual reason as its cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`;
}
