// Makes text from outside safe for terminals. A terminal obeys control characters: a client could use them to erase lines, to imitate output of
// the hub, or to type into the shell. Direction marks reorder text on the screen. Both are shown as text: `\u001b`.

/**
 * The characters that terminals obey, reorder or hide: control characters, direction marks, line separators, invisible characters, fillers,
 * tags. Joiners within words and emoji are kept, and so are variation selectors.
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

/** Returns text as one line that is safe on a terminal. Idempotent. */
export function printable(text: string): string {
  return text.replace(obeyed, (character) => short.get(character) ?? escapeOf(character));
}

/** Like `printable`, for text of several lines; keeps line breaks and tabs. */
export function printableLines(text: string): string {
  return text.replace(obeyedWithinLines, (character) => short.get(character) ?? escapeOf(character));
}

/** Escapes JSON like `printable`, without changing its meaning. */
export function printableJson(json: string): string {
  return json.replace(obeyedWithinLines, escapeOf);
}

/** Escapes each code unit in the notation of JSON and JavaScript. */
function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

// The beginnings of long texts. They are well-formed, even if the cut splits a surrogate pair, and they are copies: a slice would keep the
// whole text alive.

/** Returns text of at most this many UTF-16 code units unchanged, and cuts longer text, followed by `…`. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length)}…`.toWellFormed(); // joins both parts into new text, which is the fastest way
}

/**
 * Cuts like `cutText`, but without `…` and slower: if possible, the copy has one byte per character. For texts that are kept in large
 * numbers.
 */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length)).toString();
}
