// Draws a key: its background colour, an image, and its text in the largest size that fits. Bitmaps are sent in base64, where the three
// bytes of a pixel are exactly four characters. So a key is drawn in base64: a pixel is a number whose four bytes are these characters, the
// first one in the lowest byte, because all supported processors are little-endian.

import { capitalTop, letterOf, letterSpace, lettersOf, lineHeight, spaceWidth } from './font.ts';
import type { Picture } from './png.ts';

/** The maximum width and height of a bitmap, in pixels. */
export const maxBitmapPixels = 256;
/** The length of a pixel in base64, in bytes. */
const pixelBytes = 4;
/** The maximum number of rasterized letters in the cache, across all sizes. */
const maxKeptLetters = 2048;
/** The maximum size of all bitmaps in the cache, in bytes. */
const maxKeptBitmapBytes = 8 * 1_048_576;
/** The maximum number of recently drawn faces that are remembered. A face that is drawn again while it is remembered enters the cache. */
const maxRecentFaces = 4096;

export interface KeyFace {
  readonly text: string;
  /** The background colour, in the form `#rrggbb`. */
  readonly color: string;
  readonly textColor: string;
  readonly picture: Picture | undefined;
}

const bitmaps = new Map<string, Buffer>();
let keptBytes = 0;
const recentFaces = new Set<string>();
const pictureNumbers = new WeakMap<Picture, number>();
let lastPictureNumber = 0;

/** Returns the length of a bitmap with sides of `size` pixels, in bytes. */
export function bitmapBytes(size: number): number {
  return size * size * pixelBytes;
}

/** Returns the bitmap of a key if it is in the cache. Callers must not change it. */
export function keptBitmap(face: KeyFace, size: number): Buffer | undefined {
  return bitmaps.get(nameOf(face, size));
}

/**
 * Draws a key as a square bitmap with sides of `size` pixels: its red, green and blue bytes in base64, row by row. `bitmap` must start at
 * the beginning of its `ArrayBuffer`. A face that is drawn a second time enters the cache, because several keys show it, or a key shows it
 * repeatedly.
 */
export function drawKey(face: KeyFace, size: number, bitmap: Buffer): void {
  const { text, color, textColor, picture } = face;
  const pixels = new Uint32Array(bitmap.buffer, 0, size * size);
  pixels.fill(encode(...rgbOf(color)));
  if (picture !== undefined) drawPicture(pixels, size, picture);
  if (text !== '') drawText(pixels, size, text, rgbOf(textColor), shadesOf(color, textColor));
  const name = nameOf(face, size);
  if (recentFaces.delete(name)) keepBitmap(name, Buffer.from(bitmap));
  else remember(name);
}

function nameOf({ text, color, textColor, picture }: KeyFace, size: number): string {
  return `${size} ${color} ${textColor} ${picture === undefined ? '' : numberOf(picture)} ${text}`;
}

function remember(name: string): void {
  recentFaces.add(name);
  if (recentFaces.size <= maxRecentFaces) return;
  const [oldest] = recentFaces;
  recentFaces.delete(oldest!);
}

function keepBitmap(name: string, bitmap: Buffer): void {
  bitmaps.set(name, bitmap);
  keptBytes += bitmap.length;
  for (const [oldest, { length }] of bitmaps) {
    if (keptBytes <= maxKeptBitmapBytes) return;
    bitmaps.delete(oldest);
    keptBytes -= length;
  }
}

/** Returns a number that stands for a decoded image. */
function numberOf(picture: Picture): number {
  const number = pictureNumbers.get(picture) ?? ++lastPictureNumber;
  pictureNumbers.set(picture, number);
  return number;
}

type Rgb = readonly [red: number, green: number, blue: number];

/** Returns the red, green and blue values of a colour in the form `#rrggbb`, from 0 to 255. */
export function rgbOf(color: string): Rgb {
  const number = Number.parseInt(color.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

const digits = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const valueOfDigit = new Uint8Array(128);
for (const [value, digit] of digits.entries()) valueOfDigit[digit] = value;

function encode(red: number, green: number, blue: number): number {
  const first = digits[red >> 2]! | (digits[((red & 3) << 4) | (green >> 4)]! << 8);
  return first | (digits[((green & 15) << 2) | (blue >> 6)]! << 16) | (digits[blue & 63]! << 24);
}

/** The maximum number of pairs of colours whose shades are kept, at 1 KiB each. */
const maxKeptShades = 256;
const keptShades = new Map<string, Uint32Array>();

/** Returns the pixels between two colours in the form `#rrggbb`, one for each opacity of the second colour, from 0 to 255. */
function shadesOf(under: string, over: string): Uint32Array {
  const colors = under + over;
  let shades = keptShades.get(colors);
  if (shades === undefined) {
    if (keptShades.size >= maxKeptShades) keptShades.clear();
    shades = new Uint32Array(256).fill(encode(...rgbOf(under)));
    for (const opacity of shades.keys()) drawOver(shades, opacity, ...rgbOf(over), opacity);
    keptShades.set(colors, shades);
  }
  return shades;
}

/** Draws a colour over a pixel. The colour and its opacity are integers from 0 to 255. */
function drawOver(pixels: Uint32Array, at: number, red: number, green: number, blue: number, opacity: number): void {
  const pixel = pixels[at]!;
  const [a, b] = [valueOfDigit[pixel & 127]!, valueOfDigit[(pixel >> 8) & 127]!];
  const [c, d] = [valueOfDigit[(pixel >> 16) & 127]!, valueOfDigit[pixel >>> 24]!];
  const under = 255 - opacity;
  pixels[at] = encode(
    ((red * opacity + ((a << 2) | (b >> 4)) * under) / 255) | 0,
    ((green * opacity + (((b & 15) << 4) | (c >> 2)) * under) / 255) | 0,
    ((blue * opacity + (((c & 3) << 6) | d) * under) / 255) | 0,
  );
}

/** Scales a picture to fit the key and draws it in the middle. Each pixel is the average of the picture's pixels that it covers. */
function drawPicture(pixels: Uint32Array, size: number, { width, height, data }: Picture): void {
  const scale = Math.min(size / width, size / height);
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  const [left, top] = [(size - across) >> 1, (size - down) >> 1];
  for (let y = 0; y < down; y++) {
    const fromY = Math.floor((y * height) / down);
    const toY = Math.max(fromY + 1, Math.floor(((y + 1) * height) / down));
    for (let x = 0; x < across; x++) {
      const fromX = Math.floor((x * width) / across);
      const toX = Math.max(fromX + 1, Math.floor(((x + 1) * width) / across));
      let [red, green, blue, opacity, count] = [0, 0, 0, 0, 0];
      for (let sourceY = fromY; sourceY < toY; sourceY++)
        for (let sourceX = fromX; sourceX < toX; sourceX++) {
          const at = (sourceY * width + sourceX) * 4;
          const alpha = data[at + 3]!;
          red += data[at]! * alpha;
          green += data[at + 1]! * alpha;
          blue += data[at + 2]! * alpha;
          opacity += alpha;
          count++;
        }
      if (opacity === 0) continue;
      const to = (top + y) * size + left + x;
      drawOver(pixels, to, (red / opacity) | 0, (green / opacity) | 0, (blue / opacity) | 0, (opacity / count) | 0);
    }
  }
}

/** The text sizes, largest first. Each number is the height of the key in grid units. */
const textSizes = [18, 21, 25, 29, 34, 40, 48];

function drawText(pixels: Uint32Array, size: number, text: string, color: Rgb, shades: Uint32Array): void {
  const { lines, unit } = layOut(text, size);
  const height = lineHeight * unit;
  const drawnLetters = lettersOfSize(size, unit);
  let y = (size - lines.length * height) / 2 + capitalTop * unit;
  for (const { letters, width } of lines) {
    let x = (size - width * unit) / 2;
    for (const letter of letters) {
      const drawn = drawnLetter(drawnLetters, letter, size, unit);
      blend(pixels, size, drawn, Math.round(x), Math.round(y), color, shades);
      x += (drawn.advance + letterSpace) * unit;
    }
    y += height;
  }
}

interface TextLine {
  readonly letters: readonly string[];
  /** The width of the line, in grid units. */
  readonly width: number;
}

/**
 * Breaks a text into lines, in the largest size in which the whole text fits. In the smallest size, words that are too long are broken, and
 * lines that do not fit are dropped.
 */
function layOut(text: string, size: number): { readonly lines: readonly TextLine[]; readonly unit: number } {
  const words = text.split(/\r?\n|\\n/).map((line) => line.split(' ').map(lettersOf));
  for (const part of textSizes) {
    const unit = size / part;
    const isLast = part === textSizes.at(-1);
    const most = (size - 4) / unit;
    const lines = words.flatMap((line) => breakLine(line, most, isLast));
    const room = Math.floor((size / unit + 1) / lineHeight);
    if (isLast) return { lines: lines.slice(0, Math.max(1, room)), unit };
    if (lines.length <= room && lines.every(({ width }) => width <= most)) return { lines, unit };
  }
  throw new Error('unreachable: the last size fits');
}

function breakLine(words: readonly (readonly string[])[], most: number, breaksWords: boolean): TextLine[] {
  const lines: { letters: string[]; width: number }[] = [];
  let line: { letters: string[]; width: number } = { letters: [], width: 0 };
  for (const word of words) {
    const width = widthOf(word);
    if (line.letters.length > 0 && line.width + 2 * letterSpace + spaceWidth + width > most) {
      lines.push(line);
      line = { letters: [], width: 0 };
    }
    if (line.letters.length > 0) {
      line.letters.push(' ');
      line.width += letterSpace + spaceWidth;
    }
    for (const letter of word) {
      const own = letterOf(letter).width + (line.letters.length > 0 ? letterSpace : 0);
      if (breaksWords && line.letters.length > 0 && line.width + own > most) {
        lines.push(line);
        line = { letters: [], width: -letterSpace };
      }
      line.letters.push(letter);
      line.width += own;
    }
  }
  return [...lines, line];
}

function widthOf(word: readonly string[]): number {
  return word.reduce((sum, letter) => sum + letterOf(letter).width + letterSpace, -letterSpace);
}

/** A rasterized letter for keys of one size. The lists describe each pixel that the letter covers. */
interface DrawnLetter {
  readonly columns: Int16Array;
  readonly rows: Int16Array;
  /** How far each pixel is from the letter's origin in a bitmap: its row times the size of the bitmap, plus its column. */
  readonly offsets: Int32Array;
  /** How much of each pixel the letter covers, from 1 to 255. */
  readonly coverage: Uint8Array;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** The width of the letter, in grid units. */
  readonly advance: number;
}

/** The rasterized letters, keyed by the size of the key, by grid unit, and by letter. */
const kept = new Map<number, Map<number, Map<string, DrawnLetter>>>();
let keptCount = 0;

function lettersOfSize(size: number, unit: number): Map<string, DrawnLetter> {
  const units = kept.get(size) ?? new Map<number, Map<string, DrawnLetter>>();
  kept.set(size, units);
  const letters = units.get(unit) ?? new Map<string, DrawnLetter>();
  units.set(unit, letters);
  return letters;
}

function drawnLetter(letters: Map<string, DrawnLetter>, letter: string, size: number, unit: number): DrawnLetter {
  let drawn = letters.get(letter);
  if (drawn === undefined) {
    if (++keptCount > maxKeptLetters) {
      kept.clear();
      keptCount = 0;
    }
    drawn = rasterize(letter, size, unit);
    letters.set(letter, drawn);
  }
  return drawn;
}

/** Draws the strokes of a letter on a raster with a margin, and keeps the pixels that the strokes cover. */
function rasterize(letter: string, size: number, unit: number): DrawnLetter {
  const { segments, width: advance } = letterOf(letter);
  const radius = Math.max(0.6, unit * 0.45);
  const margin = Math.ceil(radius + 1);
  const [left, top] = [-margin, Math.floor(-3 * unit) - margin];
  const [right, bottom] = [Math.ceil(advance * unit) + margin, Math.ceil(8 * unit) + margin];
  const coverageAt = (x: number, y: number) => {
    let nearest = Number.POSITIVE_INFINITY;
    for (const [x1, y1, x2, y2] of segments) nearest = Math.min(nearest, distance(x / unit, y / unit, x1, y1, x2, y2));
    return Math.round(255 * Math.min(1, Math.max(0, radius + 0.5 - nearest * unit)));
  };
  const columns: number[] = [];
  const rows: number[] = [];
  const coverage: number[] = [];
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const covered = coverageAt(x, y);
      if (covered === 0) continue;
      columns.push(x);
      rows.push(y);
      coverage.push(covered);
    }
  return {
    columns: Int16Array.from(columns),
    rows: Int16Array.from(rows),
    offsets: Int32Array.from(columns, (x, index) => rows[index]! * size + x),
    coverage: Uint8Array.from(coverage),
    ...{ left: Math.min(0, ...columns), right: Math.max(0, ...columns) },
    ...{ top: Math.min(0, ...rows), bottom: Math.max(0, ...rows), advance },
  };
}

function distance(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / length));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

/** Draws a letter. `shades` contains the pixels for each coverage where the key has its background colour. */
function blend(
  pixels: Uint32Array,
  size: number,
  letter: DrawnLetter,
  x: number,
  y: number,
  color: Rgb,
  shades: Uint32Array,
): void {
  const { columns, rows, offsets, coverage } = letter;
  const isInside = x + letter.left >= 0 && x + letter.right < size && y + letter.top >= 0 && y + letter.bottom < size;
  const background = shades[0];
  const origin = y * size + x;
  for (let index = 0; index < offsets.length; index++) {
    const to = origin + offsets[index]!;
    if (!isInside && !contains(size, x + columns[index]!, y + rows[index]!)) continue;
    if (pixels[to] === background) pixels[to] = shades[coverage[index]!]!;
    else drawOver(pixels, to, color[0], color[1], color[2], coverage[index]!);
  }
}

function contains(size: number, x: number, y: number): boolean {
  return x >= 0 && x < size && y >= 0 && y < size;
}
