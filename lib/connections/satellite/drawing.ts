// Draws a key: its background colour, an image, and its text in the largest size that fits. Bitmaps are sent in base64, where the three
// bytes of a pixel are exactly four characters. So a key is drawn in base64: a pixel is a number whose four bytes are these characters, the
// first one in the lowest byte, because all supported processors are little-endian.

import { capitalTop, letterOf, letterSpace, lettersOf, lineHeight, spaceWidth } from './font.ts';
import type { Picture } from './png.ts';

/** The maximum width and height of a bitmap, in pixels. */
export const maxBitmapPixels = 256;
/** The maximum number of rasterized letters in the cache, across all sizes. */
const maxKeptLetters = 2048;

export interface KeyFace {
  readonly text: string;
  /** The background colour, in the form `#rrggbb`. */
  readonly color: string;
  readonly textColor: string;
  readonly picture: Picture | undefined;
}

/**
 * Draws a key as a square bitmap with sides of `size` pixels. The red, green and blue bytes of each pixel, in base64, become an item of
 * `pixels`, row by row.
 */
export function drawKey({ text, color, textColor, picture }: KeyFace, size: number, pixels: Uint32Array): void {
  pixels.fill(encode(...rgbOf(color)));
  if (picture !== undefined) drawPicture(pixels, size, picture);
  if (text !== '') drawText(pixels, size, text, rgbOf(textColor), shadesOf(color, textColor));
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

/** Returns the pixels between two colours in the form `#rrggbb`, by the opacity of the second one, from 0 to 255. */
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
  let y = (size - lines.length * height) / 2 + capitalTop * unit;
  for (const { letters, width } of lines) {
    let x = (size - width * unit) / 2;
    for (const letter of letters) {
      const drawn = drawnLetter(letter, unit);
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

/** Draws the strokes of a letter on a raster with a margin, and cuts off the empty rows and columns at its edges. */
function rasterize(letter: string, unit: number): DrawnLetter {
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
  const covered: [x: number, y: number, coverage: number][] = [];
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const coverage = coverageAt(x, y);
      if (coverage > 0) covered.push([x, y, coverage]);
    }
  if (covered.length === 0) return { left, top, width: 0, height: 0, coverage: new Uint8Array(), advance };
  const [fromX, toX] = rangeOf(covered.map(([x]) => x));
  const [fromY, toY] = rangeOf(covered.map(([, y]) => y));
  const [width, height] = [toX - fromX + 1, toY - fromY + 1];
  const coverage = new Uint8Array(width * height);
  for (const [x, y, one] of covered) coverage[(y - fromY) * width + x - fromX] = one;
  return { left: fromX, top: fromY, width, height, coverage, advance };
}

function rangeOf(numbers: readonly number[]): [least: number, most: number] {
  return [Math.min(...numbers), Math.max(...numbers)];
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
  { left: ownLeft, top: ownTop, width, height, coverage }: DrawnLetter,
  x: number,
  y: number,
  [red, green, blue]: Rgb,
  shades: Uint32Array,
): void {
  const [left, top] = [x + ownLeft, y + ownTop];
  const [fromX, toX] = [Math.max(0, -left), Math.min(width, size - left)];
  const [fromY, toY] = [Math.max(0, -top), Math.min(height, size - top)];
  const background = shades[0];
  for (let row = fromY; row < toY; row++) {
    let from = row * width + fromX;
    let to = (top + row) * size + left + fromX;
    for (let column = fromX; column < toX; column++, from++, to++) {
      const covered = coverage[from]!;
      if (covered === 0) continue;
      if (pixels[to] === background) pixels[to] = shades[covered]!;
      else drawOver(pixels, to, red, green, blue, covered);
    }
  }
}
