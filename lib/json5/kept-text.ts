// The text of a file that is kept to be compared with what the file says later. A long one is held packed: of thousands of lines that are
// much alike a tenth is left, or less.

import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';

/** Characters from which on it is worth it. */
const minPacked = 65_536;
const compress = promisify(brotliCompress);
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 18 } };

export class KeptText {
  /** Undefined once it is packed. */
  #text: string | undefined;
  #packed: Buffer | undefined;
  #isPacking = false;
  /** What was unpacked last, for as long as the engine does not need its memory: many places are asked for one after another. */
  #unpacked: WeakRef<{ readonly text: string }> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text ?? this.#unpack();
  }

  /** Packs a long text, in another thread, and tells when that is done; `bytes` has it in UTF-8. */
  async pack(bytes: Uint8Array): Promise<void> {
    if (this.#isPacking || this.#text === undefined || this.#text.length < minPacked) return;
    this.#isPacking = true;
    try {
      this.#packed = await compress(bytes, options);
      this.#text = undefined;
    } catch {
      // such as for want of memory: it stays as it is
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
