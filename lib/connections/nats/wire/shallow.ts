// Checks that JSON is no harder to parse than the messages that hubs send. Parsing a megabyte of brackets, of different keys or of short
// strings would block all other work many times longer than scanning the bytes.

/** The length below which a message is parsed within a few milliseconds regardless of its content, in bytes. */
const shortBytes = 32_768;
/**
 * The maximum nesting depth, and the maximum number of distinct keys. The messages that hubs send have eight levels and about forty keys.
 */
const maxDepth = 32;
const maxKeys = 64;
const longestKey = 64;
/**
 * The maximum number of strings. The longest turn that is applied as a whole has this many strings if each change has a writer, a time and
 * a cause.
 */
const maxTexts = 30_000;
/** The maximum number of values and list ends: twice as many as in such a turn. */
const maxValues = 120_000;

const [quote, backslash] = [0x22, 0x5c];
/** The role of each byte outside strings. Most bytes have no role. */
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

/**
 * Checks the structure of JSON without parsing it. Does not check whether the JSON is valid. Errors: `Error` if the JSON is too deep or
 * contains too many keys, strings or values.
 */
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
      if (++texts > maxTexts) throw new Error(`expected at most ${maxTexts} strings`);
    } else if (what === kind.colon) keys.add(start, place);
    else if (what === kind.closing) depth = Math.max(0, depth - 1);
    else {
      if (what === kind.opening && ++depth > maxDepth)
        throw new Error(`expected at most ${maxDepth} levels of nesting`);
      if (++values > maxValues) throw new Error(`expected at most ${maxValues} values`);
    }
  }
}

/** Returns the index of the closing quotation mark. */
function endOfText(data: Uint8Array, start: number): number {
  let place = start;
  while (place < data.length && data[place] !== quote) place += data[place] === backslash ? 2 : 1;
  return place;
}

/** The random seed of the hash function. With a random seed, nobody can construct keys that have the same hash. */
const seed = Math.floor(Math.random() * 2 ** 31);

/** The set of distinct keys. Each key is stored as the position of its first occurrence. */
class Keys {
  readonly #data: Uint8Array;
  readonly #most: number;
  #count = 0;
  /** A hash table of keys. Each entry is the index after the key's opening quotation mark, or 0 if the entry is empty. */
  readonly #starts: Int32Array;

  constructor(data: Uint8Array, most: number) {
    this.#data = data;
    this.#most = most;
    this.#starts = new Int32Array(2 ** Math.ceil(Math.log2(4 * most)));
  }

  /** Adds a key that begins at `start`; `end` is the index after its closing quotation mark. Errors: `Error` if there are too many keys. */
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
