// Who comes with which header, so that credentials are read and compared once. Programs send the same header with every request, and to compare it
// with the one that was sent before takes a few nanoseconds; to hash it takes as long as to read it.

import type { Guest } from './visitor.ts';

/** How many headers are known at once. */
const maxKnown = 10_000;
/** So many of those that came last have a place of their own. */
const places = 1024;

export class KnownHeaders {
  readonly #guests = new Map<string, Guest>();
  readonly #headers: (string | undefined)[] = Array.from({ length: places });
  readonly #placed: (Guest | undefined)[] = Array.from({ length: places });
  /** The one that came last: of a client that pipelines it is the next one as well. */
  #lastHeader: string | undefined;
  #lastGuest: Guest | undefined;

  /** Who has come with a header before, and has not left. */
  find(header: string): Guest | undefined {
    if (header === this.#lastHeader) return present(this.#lastGuest);
    const place = placeOf(header);
    const isInPlace = header === this.#headers[place];
    const guest = present(isInPlace ? this.#placed[place] : this.#guests.get(header));
    if (guest === undefined) return undefined;
    if (!isInPlace) {
      this.#headers[place] = header;
      this.#placed[place] = guest;
    }
    this.#lastHeader = header;
    this.#lastGuest = guest;
    return guest;
  }

  add(header: string, guest: Guest): void {
    if (guest.hasLeft) return;
    if (this.#guests.size >= maxKnown) this.#guests.delete(this.#guests.keys().next().value!);
    this.#guests.set(header, guest);
    this.#headers[placeOf(header)] = this.#lastHeader = undefined;
  }

  /** Forgets everybody. */
  clear(): void {
    this.#guests.clear();
    this.#headers.fill(undefined);
    this.#placed.fill(undefined);
    this.#lastHeader = this.#lastGuest = undefined;
  }
}

function present(guest: Guest | undefined): Guest | undefined {
  return guest?.hasLeft ? undefined : guest;
}

/** Tokens differ in any of their characters, and base64 may end with `=`. */
function placeOf(header: string): number {
  const { length } = header;
  return (
    (length +
      31 * header.charCodeAt(length - 1) +
      67 * header.charCodeAt(length - 3) +
      129 * header.charCodeAt(length - 5)) &
    (places - 1)
  );
}
