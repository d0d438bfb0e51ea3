// Reads a backup as a stream with limited memory: forwards each file while reading it, and compares all files with the manifest at the end.

import { createHash } from 'node:crypto';
import { HubError, messageOf } from '../model/error.ts';
import { type BackupFile, type Manifest, manifestName, maxFiles, maxManifestBytes, readManifest } from './manifest.ts';
import { blockBytes, decodeHeader, decodePax, paddingOf, type TarEntry } from './tar-header.ts';

/** The maximum size of the pax records before a file, in bytes. They contain at most a path and a size. */
const maxPaxBytes = 64 * 1024;

/** Receives the files in a backup one after another, while the backup is being read. */
export interface BackupTarget {
  begin(path: string): Promise<void>;
  /** Writes bytes to the current file. The buffer is valid only during the call. */
  write(bytes: Buffer): Promise<void>;
  end(): Promise<void>;
}

/**
 * Reads a backup from a stream of bytes, and passes its files to the target. Errors: `bad-request` if the backup is incomplete or has been
 * altered; any error from the source or the target.
 */
export async function readBackup(source: AsyncIterable<Uint8Array>, target: BackupTarget): Promise<Manifest> {
  const input = new Input(source);
  const files = new Map<string, BackupFile>();
  let manifest: Manifest | undefined;
  for (let entry = await nextEntry(input); entry !== undefined; entry = await nextEntry(input)) {
    const { path, size } = entry;
    expectPath(path);
    if (manifest !== undefined || files.has(path) || files.size >= maxFiles)
      throw refused(`expected at most ${maxFiles} files, each once, with ${manifestName} last, got ${path}`);
    if (path === manifestName) {
      if (size > maxManifestBytes) throw refused(`${path}: expected at most ${maxManifestBytes} bytes, got ${size}`);
      manifest = readManifest(await input.take(size));
    } else {
      const hash = createHash('sha256');
      await target.begin(path);
      await input.pass(size, async (bytes) => {
        hash.update(bytes);
        await target.write(bytes);
      });
      await target.end();
      files.set(path, { path, size, sha256: hash.digest('hex') });
    }
    await input.take(paddingOf(size));
  }
  if (manifest === undefined)
    throw refused(`expected ${manifestName} as the last file, got none: the backup is incomplete`);
  expectSame(manifest, files);
  return manifest;
}

async function nextEntry(input: Input): Promise<TarEntry | undefined> {
  let known: Partial<TarEntry> = {};
  for (;;) {
    const { kind, ...entry } = decode(await input.take(blockBytes));
    if (kind === 'end') return undefined;
    if (kind === 'file') return { ...entry, ...known };
    if (!(entry.size <= maxPaxBytes)) throw refused(`expected a header of at most ${maxPaxBytes} bytes, got more`);
    known = decodePax(await input.take(entry.size));
    await input.take(paddingOf(entry.size));
  }
}

function decode(block: Buffer): ReturnType<typeof decodeHeader> {
  try {
    return decodeHeader(block);
  } catch (error) {
    throw refused(messageOf(error));
  }
}

/** Checks the path of a file in a backup. Throws if the path leads outside the folder. */
function expectPath(path: string): void {
  const segments = path.split('/');
  const isInside = segments.every((segment) => !['', '.', '..'].includes(segment)) && !/[\\\0]|^[a-z]:/i.test(path);
  if (!isInside) throw refused(`expected a path inside the folder, got ${JSON.stringify(path)}`);
}

function expectSame({ files: expected }: Manifest, files: ReadonlyMap<string, BackupFile>): void {
  for (const { path, size, sha256 } of expected) {
    const found = files.get(path);
    if (found === undefined) throw refused(`${path}: this file is missing from the backup`);
    if (found.size !== size || found.sha256 !== sha256)
      throw refused(`${path}: expected ${size} bytes with the SHA-256 ${sha256}, got different content`);
  }
  if (files.size !== expected.length) throw refused(`expected ${expected.length} files, got ${files.size}`);
}

function refused(message: string): HubError {
  return new HubError('bad-request', message);
}

/** Reads from a stream of bytes that arrives in pieces of any length. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the next `length` bytes in one buffer. */
  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    await this.pass(length, async (bytes) => void parts.push(Buffer.from(bytes)));
    return Buffer.concat(parts);
  }

  /** Passes the next `length` bytes to `give`, piece by piece. */
  async pass(length: number, give: (bytes: Buffer) => Promise<void>): Promise<void> {
    if (!Number.isSafeInteger(length) || length < 0) throw refused('expected a file size, got an invalid number');
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0) await this.#read();
      const bytes = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(bytes.length);
      left -= bytes.length;
      await give(bytes);
    }
  }

  async #read(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done) throw refused('expected more data, got the end of the file: the backup is incomplete');
    this.#rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}
