// Finds the known name that is most similar to an unknown name.

import { closest, distance } from 'fastest-levenshtein';

/** The maximum length of a name that is compared, in characters. */
const maxComparedLength = 400;
/**
 * The maximum product of the unknown name's length and the number of known names of a similar length. With this limit, a search takes a few
 * milliseconds at most, because clients may send any name.
 */
const maxComparedCharacters = 200_000;

/**
 * Returns the message for an unknown name, with the most similar known name, if there is one: `unknown setting "prt", did you mean "port"?`
 */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const isShort = known.length > 0 && known.length <= 20;
  const list = isShort ? `, expected one of ${known.join(', ')}` : '';
  return `unknown ${what} "${name}"${nearest === undefined ? list : `, did you mean "${nearest}"?`}`;
}

/**
 * Returns the most similar known name: preferably a name that differs only in case, then a name at a short edit distance, then the shortest
 * name that begins with the given name. Returns undefined if no name is similar. The comparison is skipped if there are too many names of a
 * similar length.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const cased = known.find((one) => one.length === name.length && one.toLowerCase() === lower);
  if (cased !== undefined && cased !== name) return cased;
  const farthest = name.length < 4 ? Math.min(1, name.length - 1) : Math.max(2, name.length / 3);
  if (name.length > maxComparedLength) return undefined;
  const candidates = known.filter(({ length }) => Math.abs(length - name.length) <= farthest);
  if (candidates.length * name.length > maxComparedCharacters) return undefined;
  const nearest = candidates.length === 0 ? undefined : closest(name, candidates);
  if (nearest !== undefined && distance(name, nearest) <= farthest) return nearest;
  const letters = (word: string) => [...word].sort().join('');
  if (name.length < 4) return candidates.find((one) => letters(one) === letters(name));
  return known.filter((one) => one.startsWith(name)).sort((a, b) => a.length - b.length)[0];
}
