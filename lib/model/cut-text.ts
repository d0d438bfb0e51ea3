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
