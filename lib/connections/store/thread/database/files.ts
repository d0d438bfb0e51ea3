// The files in the folder of a store.

import { closeSync, copyFileSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateFiles } from '../../../persistence.ts';

/** The number of damaged databases that are kept; older ones are deleted. */
const keptAside = 5;

/** The subfolder that contains the copies while a backup is in progress. */
export const backupWork = 'backup.part';

/** The suffixes of a database's files: the database itself, its write-ahead log, and the index of the log. */
export const companions = ['', '-wal', '-shm'];

/** The paths of a database and of its hourly copy, in the folder of a store. */
export interface DatabaseFiles {
  readonly folder: string;
  /** The name of the database without extension: `values` stands for `values.db`. */
  readonly name: string;
  readonly path: string;
  readonly copy: string;
}

/**
 * Returns patterns for all files that a store may have in its folder: databases and their logs, copies, damaged databases, locks, and a
 * backup in progress.
 */
export function privateFilesOf(folder: string): PrivateFiles[] {
  return [
    { path: folder, names: /^(values|history|audit|hub)\.|\.lock$/ },
    { path: join(folder, backupWork), names: /^/ },
  ];
}

export function filesOf(folder: string, name: string): DatabaseFiles {
  return { folder, name, path: join(folder, `${name}.db`), copy: join(folder, `${name}.copy.db`) };
}

/** Renames a damaged database and its write-ahead log, and returns the new name: `values.damaged-2026-11-22T03-41-33.db`. */
export function setAside({ folder, name, path }: DatabaseFiles, now = new Date()): string {
  const target = nameAside(folder, name, now);
  for (const companion of companions)
    if (exists(path + companion)) renameSync(path + companion, join(folder, target + companion));
  removeOldest(folder, name, target);
  return target;
}

/**
 * Renames whatever is at the path of a write-ahead log or of its index but is not a file, because SQLite could not open the database
 * otherwise. Returns one sentence per renamed entry.
 */
export function clearLog({ folder, name, path }: DatabaseFiles, now = new Date()): string[] {
  const inTheWay = companions.filter(
    (companion) => companion !== '' && exists(path + companion) && !isFile(path + companion),
  );
  if (inTheWay.length === 0) return [];
  const target = nameAside(folder, name, now);
  for (const companion of inTheWay) renameSync(path + companion, join(folder, target + companion));
  removeOldest(folder, name, target);
  return inTheWay.map((companion) => `${path}${companion} is not a file and was set aside as ${target}${companion}`);
}

/** Replaces a database with its hourly copy. */
export function useCopy({ path, copy }: DatabaseFiles): void {
  const part = `${path}.part`;
  rmSync(part, { force: true }); // so that the copy is not written to an existing object of another kind, such as a pipe
  copyFileSync(copy, part);
  sync(part);
  for (const companion of companions) rmSync(path + companion, { force: true });
  renameSync(part, path);
}

/** Returns when a file was last written, in milliseconds since 1970; undefined if the file does not exist. */
export function timeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Returns whether a path exists. */
export function exists(path: string): boolean {
  return timeOf(path) !== undefined;
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Forces the contents of a file to disk. */
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

/** Deletes the oldest damaged databases. `newest` is the database that was set aside last, regardless of the clock. */
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
