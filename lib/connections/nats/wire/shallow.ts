// Whether JSON is as flat as what hubs send. To read a megabyte of brackets, or of keys of one object, would hold everything else up for
// many times as long as to look through its bytes.

/** Shorter texts are read soon, whatever they are. */
const shortBytes = 16_384;
/** Hubs send eight levels, and objects of ten keys. */
const maxDepth = 32;
const maxKeys = 64;

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Errors: it is deeper, or has an object of more keys. Whether it is JSON at all is not looked at. */
export function expectShallow(data: Uint8Array, mostKeys = maxKeys): void {
  if (data.length <= shortBytes) return;
  const keys = new Array<number>(maxDepth + 1).fill(0);
  let depth = 0;
  let isInText = false;
  for (let place = 0; place < data.length; place++) {
    const byte = data[place];
    if (isInText) {
      if (byte === backslash) place++;
      else if (byte === quote) isInText = false;
    } else if (byte === quote) isInText = true;
    else if (byte === openList || byte === openObject) {
      if (++depth > maxDepth) throw new Error(`expected at most ${maxDepth} levels`);
      keys[depth] = 0;
    } else if (byte === closeList || byte === closeObject) depth = Math.max(0, depth - 1);
    else if (byte === colon && ++keys[depth]! > mostKeys)
      throw new Error(`expected at most ${mostKeys} keys of an object`);
  }
}
