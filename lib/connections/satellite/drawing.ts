// Draws a key: its background colour, an image, and its text in the largest size that fits. A bitmap contains three bytes per pixel (red,
// green, blue), row by row.

import { capitalTop, letterOf, letterSpace, lettersOf, lineHeight, spaceWidth } from './font.ts';
import type { Picture } from './png.ts';

/** The maximum width and height of a bitmap, in pixels. */
export const maxBitmapPixels = 256;
/** The maximum number of rasterized letters in the cache, across all sizes. */
const maxKeptLetters = 2048;

/** The memory that all bitmaps share. Thousands of new buffers per second would keep the garbage collector busy. */
const canvas = Buffer.alloc(maxBitmapPixels * maxBitmapPixels * 3);

export interface KeyFace {
  readonly text: string;
  /** The background colour, in the form `#rrggbb`. */
  readonly color: string;
  readonly textColor: string;
  readonly picture: Picture | undefined;
}

/** Draws a key as a square bitmap with sides of `size` pixels. The bitmap is valid until the next call. */
export function drawKey({ text, color, textColor, picture }: KeyFace, size: number): Buffer {
  const bitmap = canvas.subarray(0, size * size * 3);
  fill(bitmap, rgbOf(color));
  if (picture !== undefined) drawPicture(bitmap, size, picture);
  if (text !== '') drawText(bitmap, size, text, rgbOf(textColor));
  return bitmap;
}

type Rgb = readonly [number, number, number];

/** Returns the red, green and blue values of a colour in the form `#rrggbb`, from 0 to 255. */
export function rgbOf(color: string): Rgb {
  const number = Number.parseInt(color.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

function fill(bitmap: Buffer, [red, green, blue]: Rgb): void {
  if (red === green && green === blue) bitmap.fill(red);
  else {
    for (let at = 0; at < 48 && at < bitmap.length; at += 3) {
      bitmap[at] = red;
      bitmap[at + 1] = green;
      bitmap[at + 2] = blue;
    }
    for (let filled = 48; filled < bitmap.length; filled *= 2) bitmap.copyWithin(filled, 0, filled);
  }
}

/** Scales a picture to fit the key and draws it in the middle. Each pixel is the average of the picture's pixels that it covers. */
function drawPicture(bitmap: Buffer, size: number, { width, height, data }: Picture): void {
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
      const to = ((top + y) * size + left + x) * 3;
      const under = count * 255 - opacity;
      bitmap[to] = (red + bitmap[to]! * under) / (count * 255);
      bitmap[to + 1] = (green + bitmap[to + 1]! * under) / (count * 255);
      bitmap[to + 2] = (blue + bitmap[to + 2]! * under) / (count * 255);
    }
  }
}

/** The text sizes, largest first. Each number is the height of the key in grid units. */
const textSizes = [18, 21, 25, 29, 34, 40, 48];

function drawText(bitmap: Buffer, size: number, text: string, color: Rgb): void {
  const { lines, unit } = layOut(text, size);
  const height = lineHeight * unit;
  let y = (size - lines.length * height) / 2 + capitalTop * unit;
  for (const { letters, width } of lines) {
    let x = (size - width * unit) / 2;
    for (const letter of letters) {
      const drawn = drawnLetter(letter, unit);
      blend(bitmap, size, drawn, Math.round(x), Math.round(y), color);
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

/** A rasterized letter. `coverage` contains a value from 0 to 255 for each pixel. */
interface DrawnLetter {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly coverage: Uint8Array;
  /** The width of the letter, in grid units. */
  readonly advance: number;
}

const kept = new Map<number, Map<string, DrawnLetter>>();
let keptCount = 0;

function drawnLetter(letter: string, unit: number): DrawnLetter {
  let letters = kept.get(unit);
  let drawn = letters?.get(letter);
  if (drawn === undefined) {
    if (++keptCount > maxKeptLetters) {
      kept.clear();
      keptCount = 1;
      letters = undefined;
    }
    if (letters === undefined) {
      letters = new Map();
      kept.set(unit, letters);
    }
    drawn = rasterize(letter, unit);
    letters.set(letter, drawn);
  }
  return drawn;
}

function rasterize(letter: string, unit: number): DrawnLetter {
  const { segments, width: advance } = letterOf(letter);
  const radius = Math.max(0.6, unit * 0.45);
  const margin = Math.ceil(radius + 1);
  const top = Math.floor(-3 * unit) - margin;
  const width = Math.ceil(advance * unit) + 2 * margin;
  const height = Math.ceil(8 * unit) + margin - top;
  const coverage = new Uint8Array(width * height);
  if (segments.length > 0)
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        let nearest = Number.POSITIVE_INFINITY;
        for (const [x1, y1, x2, y2] of segments)
          nearest = Math.min(nearest, distance((x - margin) / unit, (y + top) / unit, x1, y1, x2, y2));
        coverage[y * width + x] = Math.round(255 * Math.min(1, Math.max(0, radius + 0.5 - nearest * unit)));
      }
  return { left: -margin, top, width, height, coverage, advance };
}

function distance(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / length));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

function blend(bitmap: Buffer, size: number, letter: DrawnLetter, x: number, y: number, [red, green, blue]: Rgb): void {
  const [left, top] = [x + letter.left, y + letter.top];
  const [fromX, toX] = [Math.max(0, -left), Math.min(letter.width, size - left)];
  const [fromY, toY] = [Math.max(0, -top), Math.min(letter.height, size - top)];
  for (let row = fromY; row < toY; row++) {
    let from = row * letter.width + fromX;
    let to = ((top + row) * size + left + fromX) * 3;
    for (let column = fromX; column < toX; column++, from++, to += 3) {
      const covered = letter.coverage[from]!;
      if (covered === 0) continue;
      const under = 255 - covered;
      bitmap[to] = (red * covered + bitmap[to]! * under) / 255;
      bitmap[to + 1] = (green * covered + bitmap[to + 1]! * under) / 255;
      bitmap[to + 2] = (blue * covered + bitmap[to + 2]! * under) / 255;
    }
  }
}
