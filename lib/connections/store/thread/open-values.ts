// Opens the database of values, whatever has become of it: a damaged one is set aside and the copy of the last hour takes its
// place; one that cannot be written is read all the same. It never throws.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../model/error.ts';
import { backupWork, type DatabaseFiles, exists, filesOf, isFile } from './files.ts';
import { FolderLock } from './folder-lock.ts';
import type { Held, Opened, OpenRequest } from './messages.ts';
import { ageOf, copyText, type Recovery, recover } from './recover.ts';
import { troubleOf } from './trouble.ts';
import { ValuesDatabase } from './values-database.ts';

const laterChanges = 'later changes are lost';
/** How many damaged rows are told by name, and how much of each name. */
const shownNames = 5;
const shownCharacters = 100;

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
    rmSync(join(folder, backupWork), { recursive: true, force: true }); // a hub was killed while it made a backup
    held = recover(files, losses, recoveryOf(isRead));
    if (held !== undefined) losses.push(...lossOf(files.path, held));
    const hasDamagedRows = held !== undefined && held.damaged.length > 0;
    const database = new ValuesDatabase(files.path, maxBytes, hasDamagedRows);
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

/** `values.db has 2 damaged rows, what they held is lost: desk/lamp, desk/level` */
function lossOf(path: string, { damaged }: Held): string[] {
  if (damaged.length === 0) return [];
  const names = damaged.slice(0, shownNames).map((name) => name.slice(0, shownCharacters));
  const more = damaged.length > shownNames ? ` and ${damaged.length - shownNames} more` : '';
  const rows = damaged.length === 1 ? 'a damaged row, what it held' : `${damaged.length} damaged rows, what they held`;
  return [`${path} has ${rows} is lost: ${names.join(', ')}${more}`];
}

/** While the hub runs nothing is lost: it knows all values itself. */
function recoveryOf(isRead: boolean): Recovery<Held | undefined> {
  return {
    create: ValuesDatabase.create,
    read: (path) => ValuesDatabase.check(path, isRead),
    lostSince: isRead ? laterChanges : undefined,
    lost: isRead ? 'all values are lost' : 'the hub writes it anew',
  };
}

/** Reads the values where we may write: a database whose folder is read-only or full cannot be opened there. */
function readElsewhere(files: DatabaseFiles, losses: string[]): Held | undefined {
  const candidates = [files.path, files.copy].filter(isFile);
  for (const path of candidates)
    try {
      const held = readIn(mkdtempSync(join(tmpdir(), 'patchbay-store-')), path);
      losses.push(...lossOf(path, held));
      if (path === files.copy) losses.push(copyText(files, laterChanges));
      return held;
    } catch (error) {
      losses.push(`cannot read ${path}: ${messageOf(error)}`);
    }
  return undefined;
}

function readIn(folder: string, path: string): Held {
  try {
    const place = join(folder, 'values.db');
    copyFileSync(path, place);
    if (exists(`${path}-wal`)) copyFileSync(`${path}-wal`, `${place}-wal`);
    return ValuesDatabase.check(place, true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
