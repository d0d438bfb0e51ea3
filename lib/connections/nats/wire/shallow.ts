// Whether JSON is as flat as what hubs send. To read a megabyte of brackets, or of keys of one object, would hold everything else up for
// many times as long as to look through its bytes.

/** Shorter texts are read within some milliseconds, whatever they are. */
const shortBytes = 131_072;
/** Hubs send eight levels, and objects of ten keys. */
const maxDepth = 32;
const maxKeys = 64;

const [quote, backslash] = [0x22, 0x5c];
/** What each byte may be outside of texts; most are nothing of that. */
const kind = { nothing: 0, opening: 1, closing: 2, colon: 3, quote: 4 } as const;
const kinds = new Uint8Array(256);
for (const [character, what] of [
  ['[', kind.opening],
  ['{', kind.opening],
  [']', kind.closing],
  ['}', kind.closing],
  [':', kind.colon],
  ['"', kind.quote],
] as const)
  kinds[character.charCodeAt(0)] = what;

/** Errors: it is deeper, or has an object of more keys. Whether it is JSON at all is not looked at. */
export function expectShallow(data: Uint8Array, mostKeys = maxKeys): void {
  if (data.length <= shortBytes) return;
  const keys = new Array<number>(maxDepth + 1).fill(0);
  let depth = 0;
  for (let place = 0; place < data.length; place++) {
    const what = kinds[data[place]!];
    if (what === kind.nothing) continue;
    if (what === kind.quote) place = endOfText(data, place + 1);
    else if (what === kind.opening) {
      if (++depth > maxDepth) throw new Error(`expected at most ${maxDepth} levels`);
      keys[depth] = 0;
    } else if (what === kind.closing) depth = Math.max(0, depth - 1);
    else if (++keys[depth]! > mostKeys) throw new Error(`expected at most ${mostKeys} keys of an object`);
  }
}

/** The place of the quote that ends a text. */
function endOfText(data: Uint8Array, start: number): number {
  let place = start;
  while (place < data.length && data[place] !== quote) place += data[place] === backslash ? 2 : 1;
  return place;
}
