// Computes the font size at which text fills its space, and the line breaks, which are only between words.

export interface Fitted {
  readonly lines: readonly string[];
  /** The font size in pixels. At the smallest readable size, the text may still not fit. */
  readonly size: number;
}

export interface Place {
  readonly width: number;
  readonly height: number;
}

/** The height of a line, relative to the font size. */
const lineHeight = 1.15;
/** The fraction of the height that a single line may take. */
const mostOfHeight = 0.8;
/** The fraction of the width that is available for text; the rest is margin and tolerance for inexact measuring. */
const share = 0.94;
/** The maximum number of words for which line breaks are computed; the browser wraps longer strings. */
const maxWords = 16;

/**
 * Returns the largest font size at which a text fits into a space, and the lines into which the text is broken. `widthOf` measures text at
 * a font size of one pixel.
 */
export function fitInto(text: string, { width, height }: Place, widthOf: (text: string) => number): Fitted {
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length > maxWords) {
    const area = Math.max(1e-6, widthOf(text) * lineHeight);
    return { lines: [text], size: share * Math.sqrt((width * height) / area) };
  }
  let best: Fitted = { lines: [text], size: 0 };
  for (const limit of limitsOf(words, widthOf)) {
    const lines = wrap(words, limit, widthOf);
    const widest = Math.max(...lines.map(widthOf), 1e-6);
    const size = Math.min(
      (share * width) / widest,
      (mostOfHeight * height) / lineHeight,
      height / lineHeight / lines.length,
    );
    if (size > best.size * 1.01) best = { lines, size };
  }
  return best;
}

/** Returns the widths at which line breaks change, which are the widths of all sequences of words, the widest first. */
function limitsOf(words: readonly string[], widthOf: (text: string) => number): number[] {
  const runs = words.flatMap((_, from) =>
    words.slice(from).map((_, more) => words.slice(from, from + more + 1).join(' ')),
  );
  return runs.map(widthOf).sort((one, other) => other - one);
}

function wrap(words: readonly string[], limit: number, widthOf: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && widthOf(longer) <= limit) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
