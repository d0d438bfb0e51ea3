// The text of a file, kept to compare it with a later version. Long text is compressed: thousands of similar lines shrink to a tenth
// or less.

import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';

/** Shorter texts, in characters, are not worth compressing. */
const minPacked = 65_536;
const compress = promisify(brotliCompress);
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 18 } };

export class KeptText {
  /** Undefined once it is packed. */
  #text: string | undefined;
  #packed: Buffer | undefined;
  #isPacking = false;
  /** The text as last unpacked, until the engine needs its memory. Callers look up many places in a row. */
  #unpacked: WeakRef<{ readonly text: string }> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text ?? this.#unpack();
  }

  /** Packs long text in another thread. `bytes` is the text in UTF-8. */
  async pack(bytes: Uint8Array): Promise<void> {
    if (this.#isPacking || this.#text === undefined || this.#text.length < minPacked) return;
    this.#isPacking = true;
    try {
      this.#packed = await compress(bytes, options);
      this.#text = undefined;
    } catch {
      // out of memory, for example: the text stays unpacked
    }
  }

  #unpack(): string {
    const known = this.#unpacked?.deref();
    if (known !== undefined) return known.text;
    const text = brotliDecompressSync(this.#packed!).toString();
    this.#unpacked = new WeakRef({ text });
    return text;
  }
}
