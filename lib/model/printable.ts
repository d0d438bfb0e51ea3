// Makes text from outside safe for terminals. A terminal obeys control characters: a client could use them to erase lines, to imitate the
// hub's output, or to type into the shell. Direction marks reorder text on the screen. Both kinds of characters are shown as escapes:
// `\u001b`.

/**
 * The characters that terminals obey, reorder or hide: control characters, direction marks, line separators, invisible characters, fillers
 * and tags. Joiners within words and emoji, and variation selectors, are kept.
 */
const source =
  '[\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\ufff9-\\ufffb]|(?![\\u200c\\u200d\\p{Variation_Selector}])\\p{Default_Ignorable_Code_Point}';
const obeyed = new RegExp(source, 'gu');
const obeyedWithinLines = new RegExp(`(?![\\n\\t])(?:${source})`, 'gu');
const short: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Returns a string as one line that is safe for a terminal. Idempotent. */
export function printable(text: string): string {
  return text.replace(obeyed, (character) => short.get(character) ?? escapeOf(character));
}

/** Like `printable`, for multi-line text. Keeps line breaks and tabs. */
export function printableLines(text: string): string {
  return text.replace(obeyedWithinLines, (character) => short.get(character) ?? escapeOf(character));
}

/** Escapes characters in JSON like `printable`, without changing the JSON's meaning. */
export function printableJson(json: string): string {
  return json.replace(obeyedWithinLines, escapeOf);
}

/** Returns the escapes for a character, one per UTF-16 code unit, in JSON and JavaScript notation. */
function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

// The beginnings of long strings. A beginning is well-formed, even if the cut splits a surrogate pair, and is a copy: a slice would keep
// the whole string alive.

/** Truncates a string to this many UTF-16 code units, followed by `…`. Shorter strings are returned unchanged. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length)}…`.toWellFormed(); // joins both parts into a new string, which is the fastest way
}

/**
 * Truncates like `cutText`, but more slowly and without `…`. If possible, the copy uses one byte per character. Intended for strings that
 * are kept in large numbers.
 */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length)).toString();
}
