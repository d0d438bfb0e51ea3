// The files of a store in its folder.

import { closeSync, copyFileSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateFiles } from '../../../persistence.ts';

/** Damaged files that are set aside: the newest so many stay. */
const keptAside = 5;

/** The folder, within that of the store, in which copies stand while a backup is made. */
export const backupWork = 'backup.part';

/** What belongs to a database: itself, the log before it, and the index of that. */
export const companions = ['', '-wal', '-shm'];

/** Where a database is, and the copy of it that is made each hour. */
export interface DatabaseFiles {
  readonly folder: string;
  /** `values`: the database is `values.db`. */
  readonly name: string;
  readonly path: string;
  readonly copy: string;
}

/** All that a store may leave in its folder: databases, what belongs to them, copies, those set aside, locks, a backup that is made. */
export function privateFilesOf(folder: string): PrivateFiles[] {
  return [
    { path: folder, names: /^(values|history|audit|hub)\.|\.lock$/ },
    { path: join(folder, backupWork), names: /^/ },
  ];
}

export function filesOf(folder: string, name: string): DatabaseFiles {
  return { folder, name, path: join(folder, `${name}.db`), copy: join(folder, `${name}.copy.db`) };
}

/** Renames a damaged database with all that belongs to it, and gives its new name: `values.damaged-2026-11-22T03-41-33.db`. */
export function setAside({ folder, name, path }: DatabaseFiles, now = new Date()): string {
  const target = nameAside(folder, name, now);
  for (const companion of companions)
    if (exists(path + companion)) renameSync(path + companion, join(folder, target + companion));
  removeOldest(folder, name, target);
  return target;
}

/**
 * Renames what is in the place of the log before a database, or of its index, and is no file: SQLite could not open the database.
 * Gives a sentence for each.
 */
export function clearLog({ folder, name, path }: DatabaseFiles, now = new Date()): string[] {
  const inTheWay = companions.filter(
    (companion) => companion !== '' && exists(path + companion) && !isFile(path + companion),
  );
  if (inTheWay.length === 0) return [];
  const target = nameAside(folder, name, now);
  for (const companion of inTheWay) renameSync(path + companion, join(folder, target + companion));
  removeOldest(folder, name, target);
  return inTheWay.map((companion) => `${path}${companion} is no file, set aside as ${target}${companion}`);
}

/** Puts the copy of the last hour where the database was. */
export function useCopy({ path, copy }: DatabaseFiles): void {
  const part = `${path}.part`;
  rmSync(part, { force: true }); // what else has the name, such as a pipe, is not written to
  copyFileSync(copy, part);
  sync(part);
  for (const companion of companions) rmSync(path + companion, { force: true });
  renameSync(part, path);
}

/** When a file was last written, in milliseconds since 1970; undefined: there is none. */
export function timeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Whether there is anything of this name. */
export function exists(path: string): boolean {
  return timeOf(path) !== undefined;
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Forces a file to the disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function nameAside(folder: string, name: string, now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(':', '-');
  let target = `${name}.damaged-${time}.db`;
  const isTaken = () => companions.some((companion) => exists(join(folder, target + companion)));
  for (let n = 2; isTaken(); n++) target = `${name}.damaged-${time}-${n}.db`;
  return target;
}

/** `newest` was set aside last, whatever the clock showed then. */
function removeOldest(folder: string, name: string, newest: string): void {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${name}.damaged-`));
  const times = new Map<string, number>();
  for (const file of files) {
    const base = file.replace(/-(?:wal|shm)$/, '');
    if (base.endsWith('.db')) times.set(base, Math.max(times.get(base) ?? 0, timeOf(join(folder, file)) ?? 0));
  }
  times.delete(newest);
  const aside = [...times.keys()].sort((a, b) => times.get(a)! - times.get(b)!);
  for (const base of aside.slice(0, 1 - keptAside))
    for (const companion of companions) rmSync(join(folder, base + companion), { recursive: true, force: true });
}
