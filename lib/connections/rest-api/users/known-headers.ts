// Who comes with which header, so that credentials are read and compared once. Programs send the same header with every request, and to compare it
// with the one that was sent before takes a few nanoseconds; to hash it takes as long as to read it.

import type { Guest } from './visitor.ts';

/** How many headers are known at once. */
const maxKnown = 10_000;
/** So many of those that came last have a place of their own. */
const places = 1024;

export class KnownHeaders {
  readonly #guests = new Map<string, Guest>();
  readonly #lastHeaders: (string | undefined)[] = Array.from({ length: places });
  readonly #lastGuests: (Guest | undefined)[] = Array.from({ length: places });

  /** Who has come with a header before, and has not left. */
  find(header: string): Guest | undefined {
    const place = placeOf(header);
    if (header === this.#lastHeaders[place]) return present(this.#lastGuests[place]);
    const guest = present(this.#guests.get(header));
    if (guest === undefined) return undefined;
    this.#lastHeaders[place] = header;
    this.#lastGuests[place] = guest;
    return guest;
  }

  add(header: string, guest: Guest): void {
    if (guest.hasLeft) return;
    if (this.#guests.size >= maxKnown) this.#guests.delete(this.#guests.keys().next().value!);
    this.#guests.set(header, guest);
    this.#lastHeaders[placeOf(header)] = undefined;
  }

  /** Forgets everybody. */
  clear(): void {
    this.#guests.clear();
    this.#lastHeaders.fill(undefined);
    this.#lastGuests.fill(undefined);
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
