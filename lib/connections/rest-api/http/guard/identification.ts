// Finds out who asks: by credentials, which are compared once at a time, or by the cookie of who has signed in.

import { encodeText, type HttpRequest } from '../../../../net/uws.ts';
import { networkOf } from '../../limits/network.ts';
import { notLetIn } from '../../users/present.ts';
import type { Guest } from '../../users/visitor.ts';
import type { Attempt, Attempts } from './attempts.ts';
import { type Credentials, readCredentials } from './credentials.ts';
import type { Entry } from './entry.ts';
import type { Purpose } from './purpose.ts';

const cookieHeader = encodeText('cookie');

export class Identification {
  readonly #entry: Entry;
  readonly #attempts: Attempts;
  /** Credentials that are being compared. */
  readonly #comparing = new Map<string, Promise<Guest>>();

  constructor(entry: Entry, attempts: Attempts) {
    this.#entry = entry;
    this.#attempts = attempts;
  }

  /** Who comes with these credentials. Errors: `unauthorized`, `too-many-attempts`. */
  byCredentials(authorization: string, addressOf: () => string): Guest | Promise<Guest> {
    const { directory } = this.#entry;
    if (!this.#attempts.isQuiet) this.#attempts.check(addressOf, readCredentials(authorization)?.user); // before anything is compared
    const known = directory.known(authorization);
    if (known !== undefined) return known;
    const claimed = readCredentials(authorization);
    const under = this.#comparing.get(authorization);
    if (under !== undefined) return under;
    const address = addressOf();
    const attempt = this.#attempts.begin(address, claimed?.user);
    const letIn = (guest: Guest | undefined) => this.#letIn(guest, attempt, authorization, address, claimed);
    if (claimed === undefined) return letIn(undefined);
    if ('token' in claimed) return letIn(directory.withToken(claimed.token));
    const guest = directory.withPassword(claimed.user, claimed.password, networkOf(address));
    if (!(guest instanceof Promise)) return letIn(guest);
    const found = guest
      .catch((error: unknown) => {
        attempt.end('not compared');
        throw error;
      })
      .then(letIn)
      .finally(() => this.#comparing.delete(authorization));
    this.#comparing.set(authorization, found);
    return found;
  }

  /** Who has signed in with the browser that asks; undefined: nobody. */
  byCookie(request: HttpRequest): Guest | undefined {
    const cookie = request.getHeader(cookieHeader);
    return cookie === '' ? undefined : this.#entry.find(cookie);
  }

  /** Who asks without saying who it is. Errors: `unauthorized`. */
  nobody({ need }: Purpose): Guest {
    const { anonymous, stranger } = this.#entry.directory;
    const nobody = anonymous ?? (need === 'nothing' ? stranger : undefined);
    if (nobody === undefined) throw notLetIn();
    return nobody;
  }

  #letIn(
    guest: Guest | undefined,
    attempt: Attempt,
    authorization: string,
    address: string,
    claimed: Credentials | undefined,
  ): Guest {
    const { directory, witness } = this.#entry;
    if (claimed === undefined || guest === undefined || guest.hasLeft) {
      attempt.end('wrong');
      witness.note(claimed?.user ?? '', address, 'refused', 'by credentials');
      throw notLetIn();
    }
    attempt.end('right');
    directory.remember(authorization, guest, 'token' in claimed);
    witness.note(guest.name, address, 'in', 'by credentials');
    return guest;
  }
}
