// The header of a file in a tar archive: ustar, preceded by a pax header if the path is long or the file is large (IEEE Std 1003.1, pax,
// "ustar Interchange Format"). Every tar program can read this format.

export const blockBytes = 512;
/** The length of the end-of-archive marker, in bytes. */
export const endBytes = 2 * blockBytes;

const maxUstarPath = 100;
const maxUstarBytes = 8 ** 11;
const sumAt = 148;
const sumBytes = 8;

export interface TarEntry {
  readonly path: string;
  readonly size: number;
}

/** Returns the number of padding bytes in the last block of a file, given the file's size in bytes. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** Encodes the blocks that precede the content of a file. `time` is in milliseconds since 1970. */
export function encodeHeader({ path, size }: TarEntry, time: number): Buffer {
  const isLong = Buffer.byteLength(path) > maxUstarPath;
  const isLarge = size >= maxUstarBytes;
  const header = encodeBlock(isLong ? 'long-path' : path, isLarge ? 0 : size, '0', time);
  if (!isLong && !isLarge) return header;
  const records = Buffer.from((isLong ? record('path', path) : '') + (isLarge ? record('size', String(size)) : ''));
  const padding = Buffer.alloc(paddingOf(records.length));
  return Buffer.concat([encodeBlock('PaxHeader', records.length, 'x', time), records, padding, header]);
}

/** A decoded block: the header of a file, the header of pax records, or the end of the archive. */
export interface DecodedBlock extends TarEntry {
  readonly kind: 'file' | 'pax' | 'end';
}

/** Decodes a header block. Throws if the block is not a header, or is the header of something other than a file. */
export function decodeHeader(block: Buffer): DecodedBlock {
  if (block.every((byte) => byte === 0)) return { kind: 'end', path: '', size: 0 };
  if (readOctal(block, sumAt, sumBytes) !== sumOf(block)) throw new Error('expected a tar header, got other data');
  const flag = String.fromCharCode(block[156]!);
  const [name, prefix] = [readText(block, 0, 100), readText(block, 345, 155)];
  const path = prefix === '' ? name : `${prefix}/${name}`;
  const size = readOctal(block, 124, 12);
  if (flag === 'x') return { kind: 'pax', path, size };
  if (flag !== '0' && flag !== '\0')
    throw new Error(`${path}: expected a file, got an entry of type ${JSON.stringify(flag)}`);
  return { kind: 'file', path, size };
}

/** Decodes pax records, which give the path or size of the file that follows. */
export function decodePax(records: Buffer): Partial<TarEntry> {
  const found = new Map<string, string>();
  for (let at = 0; at < records.length; ) {
    const space = records.indexOf(' ', at);
    const length = Number(records.toString('latin1', at, space));
    if (space < 0 || !(length > 0)) break;
    const text = records.toString('utf8', space + 1, at + length - 1);
    found.set(text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1));
    at += length;
  }
  const [path, size] = [found.get('path'), found.get('size')];
  return { ...(path !== undefined && { path }), ...(size !== undefined && { size: Number(size) }) };
}

function encodeBlock(path: string, size: number, flag: string, time: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => `${Math.floor(value).toString(8).padStart(digits, '0')}\0`;
  block.write(path, 0, 100);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(time / 1000, 11), 136);
  block.write(' '.repeat(sumBytes), sumAt);
  block.write(flag, 156);
  block.write('ustar\x0000', 257);
  block.write(`${octal(sumOf(block), 6)} `, sumAt);
  return block;
}

/** Returns the checksum of a header block: the sum of all bytes, where the bytes of the checksum field count as spaces. */
function sumOf(block: Buffer): number {
  let sum = sumBytes * 0x20;
  for (const [index, byte] of block.entries()) if (index < sumAt || index >= sumAt + sumBytes) sum += byte;
  return sum;
}

/** Encodes a pax record, which starts with its own length, including the length field. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (length !== rest + String(length).length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function readOctal(block: Buffer, at: number, bytes: number): number {
  const text = readText(block, at, bytes).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

function readText(block: Buffer, at: number, bytes: number): string {
  const end = block.indexOf(0, at);
  return block.toString('utf8', at, end < 0 ? at + bytes : Math.min(end, at + bytes));
}
