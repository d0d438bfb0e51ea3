// Writes a backup piece by piece: first the files, then the manifest.

import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { type BackupFile, type ManifestHead, manifestName, writeManifest } from './manifest.ts';
import { encodeHeader, endBytes, paddingOf } from './tar-header.ts';

/** The maximum length of a piece of the backup, in bytes. */
const pieceBytes = 256 * 1024;

/** A file that is part of a backup. The file must not change until the backup is complete. */
export interface StagedFile {
  /** The file's path in the backup. */
  readonly path: string;
  /** The file's path on disk. */
  readonly place: string;
  readonly size: number;
}

/** Returns the length of the whole backup in bytes, before the backup is written. */
export function backupBytes(head: ManifestHead, files: readonly StagedFile[]): number {
  const unknown = files.map(({ path, size }) => ({ path, size, sha256: '0'.repeat(64) }));
  const manifest = { path: manifestName, size: writeManifest(head, unknown).length };
  const lengthOf = (entry: { path: string; size: number }) =>
    encodeHeader(entry, Date.parse(head.time)).length + entry.size + paddingOf(entry.size);
  return [...files, manifest].reduce((sum, entry) => sum + lengthOf(entry), endBytes);
}

/** Yields the bytes of a backup, in pieces. Errors: file system errors, and an error if a file has changed since it was staged. */
export function* writeBackup(head: ManifestHead, files: readonly StagedFile[]): Generator<Buffer, void, void> {
  const time = Date.parse(head.time);
  const written: BackupFile[] = [];
  for (const { path, place, size } of files) {
    const hash = createHash('sha256');
    yield encodeHeader({ path, size }, time);
    for (const piece of readPieces(place, size)) {
      hash.update(piece);
      yield piece;
    }
    yield Buffer.alloc(paddingOf(size));
    written.push({ path, size, sha256: hash.digest('hex') });
  }
  const manifest = writeManifest(head, written);
  yield encodeHeader({ path: manifestName, size: manifest.length }, time);
  yield manifest;
  yield Buffer.alloc(paddingOf(manifest.length) + endBytes);
}

function* readPieces(place: string, size: number): Generator<Buffer, void, void> {
  const descriptor = openSync(place, 'r');
  try {
    for (let at = 0; at < size; ) {
      const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, size - at));
      const bytes = readSync(descriptor, piece, 0, piece.length, at);
      if (bytes === 0) throw new Error(`${place}: expected ${size} bytes, got ${at}`);
      at += bytes;
      yield piece.subarray(0, bytes);
    }
  } finally {
    closeSync(descriptor);
  }
}
