// Texts of others on a terminal. It obeys control characters: one that a client has written could erase what stands there, imitate a line
// of the hub, or type into the shell. Marks of direction turn around what people read. Both are shown as text: `\u001b`.

/**
 * What terminals obey, and what they show in another order or not at all: control characters, marks and changes of direction, line
 * separators, invisible characters, fillers, tags. Joiners within words and of emoji stay, and so do selectors of variants.
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

/** A text as one line that says nothing to a terminal. What was made printable once stays as it is. */
export function printable(text: string): string {
  return text.replace(obeyed, (character) => short.get(character) ?? escapeOf(character));
}

/** The same for a text of several lines: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(obeyedWithinLines, (character) => short.get(character) ?? escapeOf(character));
}

/** The same for JSON, which means what it did. */
export function printableJson(json: string): string {
  return json.replace(obeyedWithinLines, escapeOf);
}

/** Code unit by code unit, as JSON and JavaScript have it. */
function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

// The beginnings of long texts. They are well-formed, also where a cut goes through a character of two code units, and are copies: a
// slice would keep the long text alive for as long as it is kept itself.

/** A text of up to so many UTF-16 code units as it is; of a longer one that much, and `…`. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length)}…`.toWellFormed(); // it joins both parts into a new text, faster than anything else
}

/** As `cutText`, without `…`, and slower: where it can be, the copy has one byte for each character. For those of which many wait. */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : Buffer.from(text.slice(0, length)).toString();
}
