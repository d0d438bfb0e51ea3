// Reads files that people name. It opens without waiting, looks at what was opened, and reads regular files alone, and of these no more
// than a bound: a named pipe, a device or a file without end holds nobody up, whatever stood there a moment ago.

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

/** How long a disk may take to give a file, while this process works: a network that hangs must not hang whoever reads. */
const readDeadlineMs = 30_000;
/** The first piece of a file that does not say how long it is, as those of `/proc`. */
const leastPieceBytes = 64 * 1024;

/** Opening waits for nobody: not for a writer of a named pipe, not for the line of a terminal. Windows has no such flags. */
const waitless = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
/** The flags to open a file for reading, of which nobody knows what it is. */
export const readFlags = constants.O_RDONLY | waitless;
/** The same for a name that must not be a link. */
export const readFlagsWithoutLinks = readFlags | (constants.O_NOFOLLOW ?? 0);

/**
 * A file was not read. `message` says what is there in place of it, and goes on from `got `: `a named pipe`. `cause` is the error of the
 * file system, where it has refused.
 */
export class FileError extends Error {
  /** That of the file system, where it has refused. */
  readonly code: string | undefined;
  /** How long it is at least, where it is too long. */
  readonly bytes: number | undefined;

  constructor(message: string, { cause, bytes }: { readonly cause?: unknown; readonly bytes?: number } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FileError';
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code;
    this.bytes = bytes;
  }
}

/** Reads a whole file in other threads. Errors: `FileError`. */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  const answered = awaitAnswer({});
  const reading = readLater(path, maxBytes).finally(answered);
  reading.catch(() => {}); // it may fail after the deadline
  const bytes = await withinTicks(reading, (ms) => ms >= readDeadlineMs);
  if (bytes === undefined) throw new FileError(`no answer of the disk within ${readDeadlineMs / 1000} s`);
  return bytes;
}

/** Reads a whole file at once, while everybody waits: for small ones. Errors: `FileError`. */
export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  let descriptor: number | undefined;
  try {
    expectRegular(statSync(path), maxBytes); // to open a device may do something
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

/** Opens a file to be read piece by piece; whoever opens it closes it. Errors: `FileError`. */
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

/** The bytes of a file as they are read. Errors: `FileError` once they are too many. */
class Content {
  readonly #maxBytes: number;
  #buffer: Buffer;
  #filled = 0;
  #isWhole = false;

  constructor({ size }: Stats, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#buffer = Buffer.allocUnsafe(size > 0 ? size + 1 : Math.min(leastPieceBytes, maxBytes + 1));
  }

  /** Whether the end has not come yet. */
  get wants(): boolean {
    return !this.#isWhole;
  }

  /** Where the next bytes go. */
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

/** What was opened, if it is a file of such a size. Errors: `FileError`. */
export function expectRegular(found: Stats, maxBytes = Number.POSITIVE_INFINITY): Stats {
  if (!found.isFile()) throw new FileError(kindOf(found));
  if (found.size > maxBytes) throw tooLarge(found.size, maxBytes);
  return found;
}

/** What an entry of the file system is that is no regular file. */
export function kindOf(found: Stats | Dirent): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a named pipe';
  if (found.isSocket()) return 'a socket';
  if (found.isSymbolicLink()) return 'a link';
  return found.isBlockDevice() || found.isCharacterDevice() ? 'a device' : 'something else';
}

function tooLarge(bytes: number, maxBytes: number): FileError {
  return new FileError(`one of ${groupDigits(bytes)} bytes or more, at most ${groupDigits(maxBytes)} are read`, {
    bytes,
  });
}

/** What a `FileError` says where nothing has the name. */
export const nothing = 'none';

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOENT', nothing],
  ['ENOTDIR', nothing],
  ['ELOOP', 'links that lead in a circle'],
  ['ENAMETOOLONG', 'a name that is too long'],
  ['ENXIO', 'a socket or a device'],
  ['EISDIR', 'a folder'],
  ['EACCES', 'one that the user of the hub may not read'],
  ['EPERM', 'one that the user of the hub may not read'],
]);

/** Any error of the file system as one that says what is there. */
export function asFileError(error: unknown): FileError {
  if (error instanceof FileError) return error;
  const { code, path } = error as NodeJS.ErrnoException;
  const isLink =
    code === 'ENOENT' && path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink) return new FileError('a link that leads nowhere', { cause: error });
  return new FileError(reasons.get(code ?? '') ?? `an error: ${messageOf(error)}`, { cause: error });
}

/** Bytes that are no text: `line` and `column` are where the first of them is. */
export class EncodingError extends FileError {
  readonly position: { readonly line: number; readonly column: number };

  constructor(message: string, line: number, column: number) {
    super(message);
    this.position = { line, column };
  }
}

/** The text that bytes are in UTF-8. Errors: `EncodingError`. */
export function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new EncodingError('UTF-16: save it as UTF-8', 1, 1);
  let line = 1;
  for (let at = 0; ; line++) {
    const end = bytes.indexOf(0x0a, at);
    const part = bytes.subarray(at, end < 0 ? bytes.length : end);
    if (!isUtf8(part) || end < 0) throw new EncodingError('bytes that are no UTF-8', line, columnOf(part));
    at = end + 1;
  }
}

/** The column of the first character of a line that is none. */
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
