// Checks that JSON is no harder to parse than the messages that hubs send. Parsing a megabyte of brackets, different keys or short strings
// would block all other work for many times longer than scanning the bytes.

/** The length below which a message is parsed within some milliseconds, regardless of its content. */
const shortBytes = 32_768;
/** The maximum number of levels and of keys. Hubs send eight levels, and use about forty keys. */
const maxDepth = 32;
const maxKeys = 64;
const longestKey = 64;
/**
 * The maximum number of strings: as many as in the longest turn that is applied as a whole, if each change has a writer, a time and a
 * cause.
 */
const maxTexts = 30_000;
/** The maximum number of values and list ends: twice as many as in such a turn. */
const maxValues = 120_000;

const [quote, backslash] = [0x22, 0x5c];
/** The role of each byte outside strings; most bytes have no role. */
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

/** Throws if the JSON is too deep, or has too many keys, strings or values. Does not check whether the JSON is valid. */
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
      if (what === kind.opening && ++depth > maxDepth)
        throw new Error(`expected at most ${maxDepth} levels of nesting`);
      if (++values > maxValues) throw new Error(`expected at most ${maxValues} values`);
    }
  }
}

/** Returns the index of the closing quote. */
function endOfText(data: Uint8Array, start: number): number {
  let place = start;
  while (place < data.length && data[place] !== quote) place += data[place] === backslash ? 2 : 1;
  return place;
}

/** The seed of the hash, which is random, so that keys with the same hash cannot be constructed. */
const seed = Math.floor(Math.random() * 2 ** 31);

/** The set of distinct keys, each stored by its first occurrence. */
class Keys {
  readonly #data: Uint8Array;
  readonly #most: number;
  #count = 0;
  /** A hash table of keys, with the index after each key's opening quote, or 0. */
  readonly #starts: Int32Array;

  constructor(data: Uint8Array, most: number) {
    this.#data = data;
    this.#most = most;
    this.#starts = new Int32Array(2 ** Math.ceil(Math.log2(4 * most)));
  }

  /** Adds a key; `end` is the index after its closing quote. Throws if there are too many keys. */
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
