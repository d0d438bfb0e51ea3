// Keeps the text of a file, to be compared with a later version. A long text is compressed: thousands of similar lines shrink to a tenth of
// their size or less.

import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';

/** The minimum length, in characters, of a text that is worth compressing. */
const minPacked = 65_536;
const compress = promisify(brotliCompress);
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 18 } };

export class KeptText {
  /** The uncompressed text; undefined after the text was compressed. */
  #text: string | undefined;
  #packed: Buffer | undefined;
  #isPacking = false;
  /** The text as last decompressed. It is kept until the engine needs the memory, because callers look up many locations in a row. */
  #unpacked: WeakRef<{ readonly text: string }> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text ?? this.#unpack();
  }

  /** Compresses a long text in another thread. `bytes` is the same text in UTF-8. */
  async pack(bytes: Uint8Array): Promise<void> {
    if (this.#isPacking || this.#text === undefined || this.#text.length < minPacked) return;
    this.#isPacking = true;
    try {
      this.#packed = await compress(bytes, options);
      this.#text = undefined;
    } catch {
      // out of memory, for example: the text stays uncompressed
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
