// A decoder for the PNG images on keys: 8 bits per channel and not interlaced, the form that drawing programs and browsers write. All sizes
// are limited, because images come from outside.

import { inflateSync } from 'node:zlib';

/** The maximum width and height of an image, in pixels. */
export const maxImagePixels = 512;
/** The maximum length of an image in base64, in characters. */
export const maxImageLength = 524_288;

/** A decoded image, with four bytes per pixel: red, green, blue and opacity. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The number of channels for each PNG colour type: grey, RGB, palette, grey with opacity, RGB with opacity. */
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Decodes an image in base64, with or without the prefix `data:image/png;base64,`. Errors: `Error` with a readable message. */
export function readImage(text: string): Picture {
  if (text.length > maxImageLength) throw new Error(`expected an image of at most ${maxImageLength} base64 characters`);
  return readPng(Buffer.from(text.replace(/^data:image\/png;base64,/, ''), 'base64'));
}

function readPng(bytes: Buffer): Picture {
  if (!bytes.subarray(0, 8).equals(signature)) throw new Error('expected a PNG image in base64');
  const parts: Buffer[] = [];
  let head: Buffer | undefined;
  let palette: Uint8Array = Buffer.alloc(0);
  let opacity: Uint8Array = Buffer.alloc(0);
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (data.length < length) break;
    if (type === 'IHDR') head = data;
    else if (type === 'PLTE') palette = data;
    else if (type === 'tRNS') opacity = data;
    else if (type === 'IDAT') parts.push(data);
    else if (type === 'IEND') break;
    at += 12 + length;
  }
  if (head === undefined || head.length < 13) throw new Error('expected a complete PNG image');
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const [depth, colours, , , interlace] = [head[8]!, head[9]!, 0, 0, head[12]!];
  const channels = channelsOf[colours];
  if (width < 1 || height < 1 || width > maxImagePixels || height > maxImagePixels)
    throw new Error(
      `expected an image of at most ${maxImagePixels} × ${maxImagePixels} pixels, got ${width} × ${height}`,
    );
  if (depth !== 8 || channels === undefined || interlace !== 0)
    throw new Error('expected a PNG image with 8 bits per channel, not interlaced');
  const rowBytes = width * channels;
  const rows = inflate(parts, height * (rowBytes + 1));
  unfilter(rows, rowBytes, channels, height);
  const data = new Uint8Array(width * height * 4);
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0, from = y * (rowBytes + 1) + 1; x < width; x++, from += channels, to += 4) {
      if (colours === 3) {
        const entry = rows[from]! * 3;
        data[to] = palette[entry] ?? 0;
        data[to + 1] = palette[entry + 1] ?? 0;
        data[to + 2] = palette[entry + 2] ?? 0;
        data[to + 3] = opacity[rows[from]!] ?? 255;
        continue;
      }
      const isGrey = channels < 3;
      data[to] = rows[from]!;
      data[to + 1] = rows[isGrey ? from : from + 1]!;
      data[to + 2] = rows[isGrey ? from : from + 2]!;
      data[to + 3] = channels === 2 ? rows[from + 1]! : channels === 4 ? rows[from + 3]! : 255;
    }
  }
  return { width, height, data };
}

function inflate(parts: readonly Buffer[], length: number): Uint8Array {
  let rows: Buffer;
  try {
    rows = inflateSync(Buffer.concat(parts), { maxOutputLength: length });
  } catch {
    throw new Error('expected a complete PNG image');
  }
  if (rows.length < length) throw new Error('expected a complete PNG image');
  return rows;
}

/** Reverses the row filters in place, as described in section 9 of the PNG specification. */
function unfilter(rows: Uint8Array, rowBytes: number, channels: number, height: number): void {
  for (let y = 0; y < height; y++) {
    const start = y * (rowBytes + 1) + 1;
    const filter = rows[start - 1]!;
    if (filter > 4) throw new Error('expected a complete PNG image');
    if (filter === 0) continue;
    for (let x = 0; x < rowBytes; x++) {
      const at = start + x;
      const left = x < channels ? 0 : rows[at - channels]!;
      const up = y === 0 ? 0 : rows[at - rowBytes - 1]!;
      const upLeft = x < channels || y === 0 ? 0 : rows[at - rowBytes - 1 - channels]!;
      const predicted =
        filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : paeth(left, up, upLeft);
      rows[at] = (rows[at]! + predicted) & 255;
    }
  }
}

function paeth(left: number, up: number, upLeft: number): number {
  const guess = left + up - upLeft;
  const [byLeft, byUp, byBoth] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - upLeft)];
  if (byLeft <= byUp && byLeft <= byBoth) return left;
  return byUp <= byBoth ? up : upLeft;
}
