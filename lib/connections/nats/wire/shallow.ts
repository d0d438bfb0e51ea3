// Whether JSON is no harder to read than what hubs send. To read a megabyte of brackets, of keys that all differ, or of short texts would
// hold everything else up for many times as long as to look through its bytes.

/** Shorter texts are read within some milliseconds, whatever they are. */
const shortBytes = 32_768;
/** Hubs send eight levels, and know some forty keys. */
const maxDepth = 32;
const maxKeys = 64;
const longestKey = 64;
/** As many as a turn has of the greatest length that is taken as one, where each change says who made it, when and why. */
const maxTexts = 30_000;
/** Values, and ends of lists: twice as many as such a turn has. */
const maxValues = 120_000;

const [quote, backslash] = [0x22, 0x5c];
/** What each byte may be outside of texts; most are nothing of that. */
const kind = { nothing: 0, opening: 1, closing: 2, colon: 3, quote: 4, comma: 5 } as const;
const kinds = new Uint8Array(256);
for (const [character, what] of [
  ['[', kind.opening],
  ['{', kind.opening],
  [']', kind.closing],
  ['}', kind.closing],
  [':', kind.colon],
  ['"', kind.quote],
  [',', kind.comma],
] as const)
  kinds[character.charCodeAt(0)] = what;

/** Errors: it is deeper, or has more keys, texts or values. Whether it is JSON at all is not looked at. */
export function expectShallow(data: Uint8Array, mostKeys = maxKeys): void {
  if (data.length <= shortBytes) return;
  const keys = new Keys(data, mostKeys);
  let [depth, texts, values, start] = [0, 0, 0, 0];
  for (let place = 0; place < data.length; place++) {
    const what = kinds[data[place]!];
    if (what === kind.nothing) continue;
    if (what === kind.quote) {
      start = place + 1;
      place = endOfText(data, start);
      if (++texts > maxTexts) throw new Error(`expected at most ${maxTexts} texts`);
    } else if (what === kind.colon) keys.add(start, place);
    else if (what === kind.closing) depth = Math.max(0, depth - 1);
    else {
      if (what === kind.opening && ++depth > maxDepth) throw new Error(`expected at most ${maxDepth} levels`);
      if (++values > maxValues) throw new Error(`expected at most ${maxValues} values`);
    }
  }
}

/** The place of the quote that ends a text. */
function endOfText(data: Uint8Array, start: number): number {
  let place = start;
  while (place < data.length && data[place] !== quote) place += data[place] === backslash ? 2 : 1;
  return place;
}

/** Nobody knows beforehand which keys have the same hash. */
const seed = Math.floor(Math.random() * 2 ** 31);

/** The keys that differ from one another, where they first stand. */
class Keys {
  readonly #data: Uint8Array;
  readonly #most: number;
  #count = 0;
  /** By hash: behind its quote, or 0. */
  readonly #starts: Int32Array;

  constructor(data: Uint8Array, most: number) {
    this.#data = data;
    this.#most = most;
    this.#starts = new Int32Array(2 ** Math.ceil(Math.log2(4 * most)));
  }

  /** `end` is behind the quote that ends the key. Errors: these are too many. */
  add(start: number, end: number): void {
    const data = this.#data;
    const starts = this.#starts;
    if (end - start > longestKey) throw new Error(`expected keys of at most ${longestKey} characters`);
    let hash = seed;
    for (let place = start; place < end; place++) hash = Math.imul(hash ^ data[place]!, 0x01000193);
    for (let index = hash >>> 16; ; index++) {
      const known = starts[index & (starts.length - 1)]!;
      if (known === 0) {
        if (++this.#count > this.#most) throw new Error(`expected at most ${this.#most} different keys`);
        starts[index & (starts.length - 1)] = start;
        return;
      }
      let length = 0;
      while (length < end - start && data[known + length] === data[start + length]) length++;
      if (length === end - start) return;
    }
  }
}
