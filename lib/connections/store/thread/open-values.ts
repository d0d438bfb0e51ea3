// Opens the database of values, whatever has become of it: a damaged one is set aside and the copy of the last hour takes its
// place; one that cannot be written is read all the same. It never throws.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../model/error.ts';
import { type DatabaseFiles, exists, filesOf, isFile, setAside, timeOf, useCopy } from './files.ts';
import { FolderLock } from './folder-lock.ts';
import type { Held, Opened, OpenRequest } from './messages.ts';
import { troubleOf } from './trouble.ts';
import { ValuesDatabase } from './values-database.ts';

const writtenAnew = 'the hub writes it anew';

/** What is open until it is closed; `opened` says what came of it. */
export interface OpenValues {
  readonly opened: Opened;
  readonly database: ValuesDatabase | undefined;
  close(): void;
}

export function openValues(request: OpenRequest): OpenValues {
  const { folder, maxBytes, isRead } = request;
  const files = filesOf(folder, 'values');
  const losses: string[] = [];
  let lock: FolderLock | undefined;
  let held: Held | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    lock = new FolderLock(folder);
    held = recover(files, isRead, losses);
    const database = new ValuesDatabase(files.path, maxBytes);
    const close = () => {
      database.close();
      lock?.free();
    };
    return { opened: { losses, held, reason: undefined, copyAgeMs: ageOf(files.copy) }, database, close };
  } catch (error) {
    lock?.free();
    const isBusy = lock === undefined && troubleOf(error) === 'busy';
    if (isRead && !isBusy) held ??= readElsewhere(files, losses);
    const reason = isBusy
      ? `cannot write ${files.path}: another hub keeps its values in this folder`
      : `cannot write ${files.path}: ${messageOf(error)}`;
    return { opened: { losses, held, reason, copyAgeMs: undefined }, database: undefined, close: () => {} };
  }
}

/** Leaves a database in its place that is whole. Errors: those of SQLite and of the file system. */
function recover(files: DatabaseFiles, isRead: boolean, losses: string[]): Held | undefined {
  for (;;) {
    if (!exists(files.path)) {
      if (!isFile(files.copy)) {
        ValuesDatabase.create(files.path);
        return undefined;
      }
      if (losses.length === 0) losses.push(`${files.path} is missing: ${copyText(files, isRead)}`);
      useCopy(files);
    }
    try {
      return ValuesDatabase.check(files.path, isRead);
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw error;
      const aside = setAside(files);
      const isCopy = losses.length > 0;
      if (isCopy) rmSync(files.copy, { force: true }); // it has just been set aside
      const next = isFile(files.copy) ? copyText(files, isRead) : isRead ? 'all values are lost' : writtenAnew;
      losses.push(
        `${isCopy ? 'its copy' : files.path} is damaged (${messageOf(error)}), set aside as ${aside}: ${next}`,
      );
    }
  }
}

function ageOf(copy: string): number | undefined {
  return isFile(copy) ? Date.now() - timeOf(copy)! : undefined;
}

/** While the hub runs nothing is lost: it knows all values itself. */
function copyText({ copy }: DatabaseFiles, isRead: boolean): string {
  if (!isRead) return writtenAnew;
  return `the copy of ${new Date(timeOf(copy)!).toISOString()} is used, later changes are lost`;
}

/** Reads the values where we may write: a database whose folder is read-only or full cannot be opened there. */
function readElsewhere(files: DatabaseFiles, losses: string[]): Held | undefined {
  const candidates = [files.path, files.copy].filter(isFile);
  for (const path of candidates)
    try {
      const held = readIn(mkdtempSync(join(tmpdir(), 'patchbay-store-')), path);
      if (path === files.copy) losses.push(copyText(files, true));
      return held;
    } catch (error) {
      losses.push(`cannot read ${path}: ${messageOf(error)}`);
    }
  return undefined;
}

function readIn(folder: string, path: string): Held | undefined {
  try {
    const place = join(folder, 'values.db');
    copyFileSync(path, place);
    if (exists(`${path}-wal`)) copyFileSync(`${path}-wal`, `${place}-wal`);
    return ValuesDatabase.check(place, true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
