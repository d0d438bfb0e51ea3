// Line breaks of a text that is edited: a text area makes a line feed of each of them (HTML, "API value"), so those that
// nobody touched are put back as they were.

const breaks = /\r\n|\r|\n/g;

/** As a text area shows it. */
export function withLineFeeds(text: string): string {
  return text.replace(breaks, '\n');
}

/**
 * What was edited, with the line breaks of the text that it was made from: before and behind what was changed each as it was,
 * within it those that the text begins with; `\n` where it had none.
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

/** A `\r` and the `\n` of the next piece are two breaks; side by side they would be one. */
function joined(left: string, right: string): string {
  return left.endsWith('\r') && right.startsWith('\n') ? `${left}\n${right}` : left + right;
}

/** Where in a text a place of what is shown of it is. */
function placeOf(shownPlace: number, original: string): number {
  let place = shownPlace;
  for (const { index, 0: mark } of original.matchAll(breaks)) {
    if (index >= place) break;
    place += mark.length - 1;
  }
  return place;
}
