// Reads files named by users. Files are opened without blocking, the kind of the open file is checked, and only regular files up to a
// maximum size are read. Therefore, a named pipe, a device or an endless file never blocks the caller, even if it has just replaced a
// regular file.

import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { groupDigits } from '../model/digits.ts';
import { messageOf } from '../model/error.ts';
import { withinTicks } from '../model/time/wall-clock.ts';
import { awaitAnswer } from '../model/waiting-threads.ts';

/**
 * The maximum time that a disk may take to read a file while this process is running, in milliseconds. A network file system that hangs
 * must not block the caller.
 */
const readDeadlineMs = 30_000;
/** The size of the first piece of a file that reports no length, such as a file in `/proc`, in bytes. */
const leastPieceBytes = 64 * 1024;

/**
 * Open flags that make `open` return immediately, without waiting for the writer of a named pipe or for a terminal line. Windows has no
 * such flags.
 */
const waitless = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
/** The flags for opening an unknown file for reading. */
export const readFlags = constants.O_RDONLY | waitless;
/** Like `readFlags`, for a path that must not be a symbolic link. */
export const readFlagsWithoutLinks = readFlags | (constants.O_NOFOLLOW ?? 0);

/**
 * Thrown if a file was not read. `message` names the object at the path, as a continuation after `got `: `a named pipe`. `cause` is the
 * file system error.
 */
export class FileError extends Error {
  /** The code of the file system error, such as `ENOENT`; undefined if there is no such error. */
  readonly code: string | undefined;
  /** A lower bound for the length of the file, in bytes. Set only if the file is too long. */
  readonly bytes: number | undefined;

  constructor(message: string, { cause, bytes }: { readonly cause?: unknown; readonly bytes?: number } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FileError';
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code;
    this.bytes = bytes;
  }
}

/** Reads a whole file of at most `maxBytes` in the thread pool. Errors: `FileError`. */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  const answered = awaitAnswer({});
  const reading = readLater(path, maxBytes).finally(answered);
  reading.catch(() => {}); // the read may fail after the deadline
  const bytes = await withinTicks(reading, (ms) => ms >= readDeadlineMs);
  if (bytes === undefined) throw new FileError(`no answer from the disk within ${readDeadlineMs / 1000} s`);
  return bytes;
}

/** Reads a whole file synchronously. Use this only for small files. Errors: `FileError`. */
export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  let descriptor: number | undefined;
  try {
    expectRegular(statSync(path), maxBytes); // opening a device may have side effects
    descriptor = openSync(path, readFlags);
    const content = new Content(expectRegular(fstatSync(descriptor), maxBytes), maxBytes);
    while (content.wants) content.add(readSync(descriptor, content.room));
    return content.bytes;
  } catch (error) {
    throw asFileError(error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Opens a file to be read in pieces. The caller closes the file. Errors: `FileError`. */
export async function openRegularFile(path: string, maxBytes?: number): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    expectRegular(await stat(path), maxBytes);
    file = await open(path, readFlags);
    expectRegular(await file.stat(), maxBytes);
    return file;
  } catch (error) {
    await file?.close();
    throw asFileError(error);
  }
}

async function readLater(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openRegularFile(path, maxBytes);
  try {
    const content = new Content(await file.stat(), maxBytes);
    while (content.wants) content.add((await file.read(content.room)).bytesRead);
    return content.bytes;
  } catch (error) {
    throw asFileError(error);
  } finally {
    await file.close();
  }
}

/** Collects the bytes of a file that is read piece by piece. Errors: `FileError` as soon as there are too many bytes. */
class Content {
  readonly #maxBytes: number;
  #buffer: Buffer;
  #filled = 0;
  #isWhole = false;

  constructor({ size }: Stats, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#buffer = Buffer.allocUnsafe(size > 0 ? size + 1 : Math.min(leastPieceBytes, maxBytes + 1));
  }

  /** Whether more bytes of the file are expected. */
  get wants(): boolean {
    return !this.#isWhole;
  }

  /** The buffer into which the next bytes are read. */
  get room(): Buffer {
    if (this.#filled === this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(2 * this.#buffer.length, this.#maxBytes + 1));
      this.#buffer.copy(larger);
      this.#buffer = larger;
    }
    return this.#buffer.subarray(this.#filled);
  }

  add(bytes: number): void {
    this.#filled += bytes;
    this.#isWhole = bytes === 0;
    if (this.#filled > this.#maxBytes) throw tooLarge(this.#filled, this.#maxBytes);
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#filled);
  }
}

/** Returns the stats of a file if they describe a regular file that is not too large. Errors: `FileError`. */
export function expectRegular(found: Stats, maxBytes = Number.POSITIVE_INFINITY): Stats {
  if (!found.isFile()) throw new FileError(kindOf(found));
  if (found.size > maxBytes) throw tooLarge(found.size, maxBytes);
  return found;
}

/** Returns the name for the kind of a directory entry that is not a regular file: `a named pipe`. */
export function kindOf(found: Stats | Dirent): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a named pipe';
  if (found.isSocket()) return 'a socket';
  if (found.isSymbolicLink()) return 'a link';
  return found.isBlockDevice() || found.isCharacterDevice() ? 'a device' : 'something else';
}

function tooLarge(bytes: number, maxBytes: number): FileError {
  return new FileError(`one of ${groupDigits(bytes)} bytes or more; the hub reads at most ${groupDigits(maxBytes)}`, {
    bytes,
  });
}

/** The message in a `FileError` if no file has the given name. */
export const nothing = 'none';

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOENT', nothing],
  ['ENOTDIR', nothing],
  ['ELOOP', 'a loop of links'],
  ['ENAMETOOLONG', 'a name that is too long'],
  ['ENXIO', 'a socket or a device'],
  ['EISDIR', 'a folder'],
  ['EACCES', 'one that the user of the hub may not read'],
  ['EPERM', 'one that the user of the hub may not read'],
]);

/** Converts any file system error to a `FileError`, which names the object at the path. */
export function asFileError(error: unknown): FileError {
  if (error instanceof FileError) return error;
  const { code, path } = error as NodeJS.ErrnoException;
  const isLink =
    code === 'ENOENT' && path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink) return new FileError('a broken link', { cause: error });
  return new FileError(reasons.get(code ?? '') ?? `an error: ${messageOf(error)}`, { cause: error });
}

/** Thrown for bytes that are not text. `line` and `column` are the location of the first invalid byte. */
export class EncodingError extends FileError {
  readonly position: { readonly line: number; readonly column: number };

  constructor(message: string, line: number, column: number) {
    super(message);
    this.position = { line, column };
  }
}

/** Decodes UTF-8 strictly. Errors: `EncodingError`. */
export function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new EncodingError('UTF-16: save it as UTF-8', 1, 1);
  let line = 1;
  for (let at = 0; ; line++) {
    const end = bytes.indexOf(0x0a, at);
    const part = bytes.subarray(at, end < 0 ? bytes.length : end);
    if (!isUtf8(part) || end < 0) throw new EncodingError('bytes that are not UTF-8', line, columnOf(part));
    at = end + 1;
  }
}

/** Returns the column of the first invalid character in a line of bytes. */
function columnOf(line: Buffer): number {
  let column = 1;
  for (let at = 0; at < line.length; ) {
    const first = line[at]!;
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > 1 && !isUtf8(line.subarray(at, at + length))) break;
    column += length === 4 ? 2 : 1;
    at += length;
  }
  return column;
}
