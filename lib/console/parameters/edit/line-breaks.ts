// Line breaks in an edited text. A text area converts each line break to a line feed (HTML, "API value"). This file restores the line
// breaks that were not edited.

const breaks = /\r\n|\r|\n/g;

/** Returns the text as a text area normalizes it, with a line feed for each line break. */
export function withLineFeeds(text: string): string {
  return text.replace(breaks, '\n');
}

/**
 * Returns the edited text with the original line breaks. Before and after the change, line breaks are restored. Within the change, line
 * breaks are like the first line break in the original, or `\n` if the original has no line breaks.
 */
export function restoreLineBreaks(edited: string, original: string): string {
  const shown = withLineFeeds(original);
  if (shown === original || edited === original) return edited;
  const shortest = Math.min(edited.length, shown.length);
  let head = 0;
  while (head < shortest && edited[head] === shown[head]) head++;
  let tail = 0;
  while (tail < shortest - head && edited.at(-1 - tail) === shown.at(-1 - tail)) tail++;
  const usual = original.match(breaks)![0];
  const changed = edited.slice(head, edited.length - tail).replaceAll('\n', usual);
  const before = original.slice(0, placeOf(head, original));
  const behind = original.slice(placeOf(shown.length - tail, original));
  return [before, changed, behind].reduce(joined);
}

/**
 * Joins two pieces of a text. A `\r` at the end of one piece and a `\n` at the beginning of the next piece are two line breaks, which would
 * become one if they were adjacent.
 */
function joined(left: string, right: string): string {
  return left.endsWith('\r') && right.startsWith('\n') ? `${left}\n${right}` : left + right;
}

/** Converts an index in the displayed text to an index in the original text. */
function placeOf(shownPlace: number, original: string): number {
  let place = shownPlace;
  for (const { index, 0: mark } of original.matchAll(breaks)) {
    if (index >= place) break;
    place += mark.length - 1;
  }
  return place;
}
