// The thread that makes a backup: it first copies the files and then returns them piece by piece.

import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { maxFiles } from '../../../backup/manifest.ts';
import { backupBytes, type StagedFile, writeBackup } from '../../../backup/write-backup.ts';
import { makeFolder } from '../../../files/make-folder.ts';
import { readRegularFileSync } from '../../../files/regular-file.ts';
import { messageOf } from '../../../model/error.ts';
import type { NamedFile } from '../../persistence.ts';
import type { BackupAnswer, BackupQuestion, BackupRequest } from '../backup/backup-maker.ts';
import { exists, filesOf, isFile } from './database/files.ts';
import { copyDatabase, expectRoom } from './database/store-database.ts';

const port = parentPort!;
let pieces: Generator<Buffer, void, void>;

port.on('message', (question: BackupQuestion) => {
  const answer = answerTo(question);
  if (!('piece' in answer) || answer.piece === undefined) port.postMessage(answer);
  else port.postMessage(answer, [answer.piece.buffer]);
});

function answerTo(question: BackupQuestion): BackupAnswer {
  try {
    return question.ask === 'begin' ? begin(question) : next();
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

function begin(request: BackupRequest): BackupAnswer {
  const time = new Date().toISOString();
  const { files, run, absolute } = stageBackup(request);
  const head = { patchbay: request.patchbay, time, run, absolute };
  pieces = writeBackup(head, files);
  return { begun: backupBytes(head, files) };
}

function next(): BackupAnswer {
  const { done, value } = pieces.next();
  return { piece: done ? undefined : new Uint8Array(value) };
}

// Collects the contents of a backup: a consistent copy of each database, made without blocking writers, and copies of all other files, so
// that no file changes before it is sent.

/**
 * The databases in the order in which they are copied. The values come last, so that the history contains nothing newer than the values.
 */
const databases = ['audit', 'history', 'values'];
/** The maximum total size of all files except the databases, in bytes. */
const maxFileBytes = 256 * 1024 * 1024;

interface StagedBackup {
  readonly files: readonly StagedFile[];
  readonly run: readonly string[];
  readonly absolute: readonly string[];
}

/** Copies all files of a backup into the work folder. Errors: one sentence that names the file that cannot be copied and the reason. */
function stageBackup(request: BackupRequest): StagedBackup {
  const { work, folder, startedIn, paths, named } = request;
  makeFolder(work);
  const found = filesOfInstallation(named);
  const stores = databases.map((name) => filesOf(folder, name).path).filter(exists);
  const given = paths.map((path) => resolve(startedIn, path));
  const isBelowStart = paths.every((path) => !isAbsolute(path) && !path.startsWith('..'));
  const root = commonFolder([...(isBelowStart ? [startedIn] : []), ...[...found, ...stores, ...given].map(dirname)]);
  const nameOf = (path: string) => relative(root, path).split(sep).join('/');
  expectRoom(work, 'backup', bytesOf([...found, ...stores, ...stores.map((path) => `${path}-wal`)]));
  const files: StagedFile[] = [];
  const stage = (path: string, copy: (place: string) => void) => {
    const place = join(work, String(files.length));
    try {
      copy(place);
    } catch (error) {
      throw new Error(`cannot copy ${path}: ${messageOf(error)}`);
    }
    files.push({ path: nameOf(path), place, size: statSync(place).size });
  };
  for (const path of found) stage(path, (place) => writeFileSync(place, readRegularFileSync(path, maxFileBytes)));
  for (const path of stores) stage(path, (place) => copyDatabase(path, place));
  const absolute = [...named, { path: folder, isAbsolute: request.isAbsolute }]
    .filter((one) => one.isAbsolute)
    .map(({ path }) => path);
  return { files, run: given.map((path) => nameOf(path) || '.'), absolute };
}

function bytesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/**
 * Returns the paths of the existing files that belong to the installation, including files that TypeScript flows import. Throws if there
 * are too many files or if the files are too large.
 */
function filesOfInstallation(named: readonly NamedFile[]): string[] {
  const found = new Set<string>();
  const waiting = named.flatMap(({ path }) => filesAt(path));
  let bytes = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    bytes += statSync(path).size;
    if (bytes > maxFileBytes || found.size > maxFiles)
      throw new Error(
        `expected at most ${maxFiles} files with ${maxFileBytes} bytes in total besides the databases, got more`,
      );
    if (/\.[mc]?[tj]s$/.test(path)) waiting.push(...importsOf(path));
  }
  return [...found].sort();
}

/** Returns the path of a file, or the paths of all files directly within a folder. */
function filesAt(path: string): string[] {
  if (isFile(path)) return [path];
  if (!exists(path)) return [];
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => join(path, name));
}

/** Returns the paths of the files that a program imports by a relative path. */
function importsOf(path: string): string[] {
  const text = readRegularFileSync(path, maxFileBytes).toString();
  const imports = text.matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"\n]+)['"]/g);
  return [...imports].map(([, file]) => resolve(dirname(path), file!)).filter(isFile);
}

/** Returns the deepest folder that contains all of the given folders. */
function commonFolder([first = '', ...others]: readonly string[]): string {
  return others.reduce((common, folder) => {
    let one = common;
    while (relative(one, folder).startsWith('..')) one = dirname(one);
    return one;
  }, first);
}
