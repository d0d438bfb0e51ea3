// The files that may be edited over a network: safe names, file contents, and writing several files completely or not at all, even if the
// hub is killed during the write. The journal of a save is in the hidden folder `.patchbay` next to the flow files.

import { createHash, randomBytes } from 'node:crypto';
import { constants, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { access, chmod, chown, lstat, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, normalize, relative, resolve, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeFolder } from '../files/make-folder.ts';
import { isSkipped } from '../flow/files/find.ts';
import { HubError, messageOf } from '../model/error.ts';

/** The maximum size of a file that can be edited over HTTP, in bytes. Reading a larger file would noticeably block the hub. */
export const maxEditedBytes = 1024 * 1024;

/** A file that was found by a name in a request. */
export interface FoundFile {
  /** The file's name as listed by the hub. */
  readonly name: string;
  readonly path: string;
  /** The file's name as listed, and its path relative to the flow folder. */
  readonly names: readonly string[];
}

export interface FileText {
  readonly text: string;
  readonly etag: string;
}

/** Returns the ETag that identifies a text: 32 hexadecimal digits of its SHA-256 hash. */
export function etagOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Returns the path of the folder `.patchbay` for the hub's own files, next to the flow files. */
export function ownFolderOf(paths: readonly string[], isFolder: boolean): string {
  const [first = '.'] = paths;
  return join(isFolder ? resolve(first) : dirname(resolve(first)), '.patchbay');
}

/**
 * Finds a flow file by its name. `known` contains the names of files that the hub has loaded; any other name must belong to a new file in
 * one of the folders. Errors: `bad-request` if the name is unsafe, `not-found`.
 */
export async function findFile(
  name: string,
  paths: readonly string[],
  known: ReadonlySet<string>,
  isNew: boolean,
): Promise<FoundFile> {
  const refuse = (expected: string) =>
    new HubError('bad-request', `file: expected ${expected}, got ${JSON.stringify(name.slice(0, 200))}`);
  if (!name.endsWith('.json5') || name.endsWith('.device.json5'))
    throw refuse('a flow file in JSON5: TypeScript and other files are edited by hand');
  if (name.includes('\0') || name.includes('\\') || normalize(name) !== name) throw refuse('a plain file name');
  const roots = await Promise.all(
    paths.map(async (path) => ({
      path,
      isFolder: await stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      ),
    })),
  );
  for (const candidate of [name, ...roots.map(({ path }) => join(path, name))]) {
    const full = resolve(candidate);
    const root = roots.find(
      ({ path, isFolder }) => full === resolve(path) || (isFolder && full.startsWith(resolve(path) + sep)),
    );
    const isKnown = [...known].some((one) => resolve(one) === full);
    if (root === undefined || !(isKnown || isNew)) continue;
    const within = full === resolve(root.path) ? basename(full) : relative(resolve(root.path), full);
    if (within.split(sep).some((part) => part.startsWith('.')) || (isNew && isSkipped(within)))
      throw refuse('a file that is not hidden');
    await expectNoLinks(full, root.isFolder ? resolve(root.path) : dirname(full), refuse);
    const listed = [...known].find((one) => resolve(one) === full) ?? candidate;
    return { name: listed, path: full, names: [listed, within.split(sep).join('/')] };
  }
  throw new HubError('not-found', `file: expected a flow file of this hub, got ${JSON.stringify(name.slice(0, 200))}`);
}

async function expectNoLinks(path: string, root: string, refuse: (expected: string) => HubError): Promise<void> {
  for (let at = path; at !== root; at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined);
    if (found?.isSymbolicLink()) throw refuse('a path without symbolic links');
    if (at === path && found !== undefined && !found.isFile()) throw refuse('a regular file');
  }
}

/**
 * Reads a text file, or returns undefined if the file does not exist. Errors: `conflict` if the file is too large, or is not a text file.
 */
export async function readText(path: string): Promise<FileText | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.size > maxEditedBytes)
    throw new HubError(
      'conflict',
      `${path}: expected a file of at most 1 MB, got ${found.size} bytes: edit it by hand`,
    );
  const bytes = await readFile(path);
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes))
    throw new HubError('conflict', `${path}: expected text in UTF-8: edit it by hand`);
  return { text, etag: etagOf(bytes) };
}

/** Returns the reason why a file cannot be written, or an empty string if the file can be written. */
export async function whyReadOnly(path: string): Promise<string> {
  try {
    await access(dirname(path), constants.W_OK);
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined) await access(path, constants.W_OK);
    return '';
  } catch {
    return 'the hub may not write this file or its folder: edit it by hand, or let the user of the hub write there';
  }
}

/** The change that a save makes to one file. */
export interface FileWrite {
  readonly path: string;
  /** The file's text before the save; undefined if the file did not exist. */
  readonly before: string | undefined;
  /** The file's text after the save; undefined if the save removes the file. */
  readonly after: string | undefined;
}

/** Thrown if a file has changed on disk since it was read for an edit. */
export class ChangedMeanwhile extends Error {}

/** How long the old file remains before it is removed, in milliseconds, because an editor may have opened it to write into it. */
const settleMs = 50;

/** A file that a save has replaced. `old` is the path at which the previous content is kept. */
interface Replaced {
  readonly write: FileWrite;
  readonly old: string;
}

/** Undoes the replacement of a file. If another program has written into the old file, the text that it wrote is kept. */
async function takeBack({ write: { path, before, after }, old }: Replaced): Promise<void> {
  try {
    if (before !== undefined && readFileSync(old, 'utf8') !== before) renameSync(old, path);
    else {
      const { old: ours } = await replace({ path, before: after, after: before });
      rmSync(ours, { force: true });
    }
  } finally {
    rmSync(old, { force: true });
  }
}

/**
 * Writes the files of a save completely or not at all. Errors: `ChangedMeanwhile`; `unavailable`, which states the reason from the file
 * system.
 */
export async function writeAll(folder: string, writes: readonly FileWrite[]): Promise<void> {
  const journal = join(folder, 'save.json');
  try {
    makeFolder(folder, 0o700);
    await writeDurably(journal, JSON.stringify(writes));
  } catch (error) {
    throw new HubError('unavailable', `cannot save: ${messageOf(error)}`);
  }
  const done: Replaced[] = [];
  try {
    for (const write of writes) done.push(await replace(write));
    await pause(settleMs);
    for (const { write, old } of done)
      if (write.before !== undefined && readFileSync(old, 'utf8') !== write.before) throw new ChangedMeanwhile();
    for (const { old } of done) rmSync(old, { force: true });
  } catch (error) {
    for (const one of done.toReversed()) await takeBack(one).catch(() => {});
    await rm(journal, { force: true });
    if (error instanceof ChangedMeanwhile) throw error;
    throw new HubError('unavailable', `cannot save: ${messageOf(error)}`);
  }
  await rm(journal, { force: true });
}

/**
 * Replaces a file whose text is `before`. The old file is moved away and checked, and the new file is linked to the free name. Linking
 * fails if another program has saved the file in between. The old file remains beside the new file. Errors: `ChangedMeanwhile`, and file
 * system errors.
 */
async function replace(write: FileWrite): Promise<Replaced> {
  const { path, before, after } = write;
  const number = randomBytes(6).toString('hex');
  const [fresh, old] = ['new', 'old'].map((end) => join(dirname(path), `.${basename(path)}.${number}.${end}`)) as [
    string,
    string,
  ];
  if (after !== undefined) {
    await writeDurably(fresh, after);
    const found = before === undefined ? undefined : await stat(path);
    if (found !== undefined) await chown(fresh, found.uid, found.gid).catch(() => {}); // only root may change the owner
    await chmod(fresh, found === undefined ? 0o644 : found.mode & 0o7777);
  }
  try {
    if (before !== undefined) {
      renameSync(path, old);
      if (readFileSync(old, 'utf8') !== before) {
        linkUnlessThere(old, path);
        throw new ChangedMeanwhile();
      }
    }
    if (after !== undefined && !linkUnlessThere(fresh, path)) throw new ChangedMeanwhile();
    return { write, old };
  } catch (error) {
    rmSync(old, { force: true });
    throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

function linkUnlessThere(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const part = `${path}.part`;
  const file = await open(part, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  renameSync(part, path);
}

/**
 * Records the writes of a change that is on probation, so that the next start of the hub undoes the change. Without writes, confirms the
 * change.
 */
export function noteProbation(folder: string, writes: readonly FileWrite[] | undefined): void {
  const path = join(folder, 'probation.json');
  if (writes === undefined) rmSync(path, { force: true });
  else {
    makeFolder(folder, 0o700);
    writeFileSync(`${path}.part`, JSON.stringify(writes), { mode: 0o600, flush: true });
    renameSync(`${path}.part`, path);
  }
}

/**
 * Undoes a save that was interrupted by a kill, and a change that was not confirmed. Files that have changed since then are left as they
 * are. Returns the paths of the restored files, and whether the first path is a folder.
 */
export async function recoverSaves(
  paths: readonly string[],
): Promise<{ readonly isFolder: boolean; readonly restored: readonly string[] }> {
  const isFolder = await stat(paths[0] ?? '.').then(
    (found) => found.isDirectory(),
    () => false,
  );
  const folder = ownFolderOf(paths, isFolder);
  const restored: string[] = [];
  for (const name of ['save.json', 'probation.json']) {
    const writes = await readJournal(join(folder, name));
    for (const { path, before, after } of writes) {
      for (const one of await readdir(dirname(path)).catch(() => []))
        if (leftover.test(one) && one.startsWith(`.${basename(path)}.`))
          await clear(join(dirname(path), one), path, before, after);
      const now = await readFile(path, 'utf8').catch(() => undefined);
      const mode = await stat(path).then(
        (found) => found.mode & 0o7777,
        () => 0o644,
      );
      const isOurs = now === after || now === undefined;
      if (!isOurs || now === before) continue;
      if (before === undefined) await rm(path, { force: true });
      else {
        await writeDurably(path, before);
        await chmod(path, mode);
      }
      restored.push(path);
    }
    await rm(join(folder, name), { force: true });
  }
  return { isFolder, restored };
}

/** Removes a file left by an interrupted save. If another program has saved a different text in that file since then, the text is kept. */
async function clear(
  leftover: string,
  path: string,
  before: string | undefined,
  after: string | undefined,
): Promise<void> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => undefined);
  const [kept, now] = [leftover.endsWith('.old') ? await read(leftover) : before, await read(path)];
  const isForeign = kept !== undefined && kept !== before && kept !== after;
  if (isForeign && (now === undefined || now === after)) renameSync(leftover, path);
  else await rm(leftover, { force: true });
}

const leftover = /\.[\da-f]{12}\.(?:new|old)(?:\.part)?$/;

async function readJournal(path: string): Promise<readonly FileWrite[]> {
  try {
    const writes: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Array.isArray(writes) ? (writes as FileWrite[]) : [];
  } catch {
    return []; // there is no journal, or the hub was killed before the first write
  }
}

export interface OwnFile {
  read(): readonly unknown[];
  write(kept: readonly unknown[]): void;
}

/** Opens one of the hub's internal files, which contains a list. Without write permission, the list is kept only until the hub stops. */
export function ownFile(path: string, log: (message: string) => void): OwnFile {
  return {
    read(): readonly unknown[] {
      try {
        const kept: unknown = JSON.parse(readFileSync(path, 'utf8'));
        return Array.isArray(kept) ? kept : [];
      } catch {
        return []; // there is no such file yet
      }
    },
    write(kept: readonly unknown[]): void {
      try {
        makeFolder(dirname(path), 0o700);
        writeFileSync(`${path}.part`, JSON.stringify(kept), { mode: 0o600 });
        renameSync(`${path}.part`, path);
      } catch (error) {
        log(`cannot write ${path}, so its content is lost when the hub stops: ${messageOf(error)}`);
      }
    },
  };
}
