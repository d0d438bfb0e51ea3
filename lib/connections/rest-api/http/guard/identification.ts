// Finds out who asks: by credentials, which are compared once at a time, or by the cookie of who has signed in.
import { encodeText, type HttpRequest, type HttpResponse } from '../../../../net/uws.ts';
import { joinedHeaders } from '../../input/joined-headers.ts';
import { hasGone, remoteAddressOf } from '../../proxies/remote-address.ts';
import { notLetIn } from '../../users/present.ts';
import type { Guest } from '../../users/visitor.ts';
import type { Attempts } from './attempts.ts';
import type { Entry } from './entry.ts';
import type { Purpose } from './purpose.ts';

const cookieHeader = encodeText('cookie');

export class Identification {
  readonly #entry: Entry;
  readonly #attempts: Attempts;
  /** Credentials that are being compared, by address, and who waits for that. There are at most as many as there are connections. */
  readonly #comparing = new Map<string, { readonly found: Promise<Guest>; readonly responses: HttpResponse[] }>();

  constructor(entry: Entry, attempts: Attempts) {
    this.#entry = entry;
    this.#attempts = attempts;
  }

  /** Who comes with these credentials. Errors: `unauthorized`, `too-many-attempts`, `unavailable`. */
  byCredentials(authorization: string, response: HttpResponse): Guest | Promise<Guest> {
    const { directory } = this.#entry;
    const known = directory.known(authorization);
    if (known !== undefined) return known;
    const claimed = readCredentials(authorization);
    const address = remoteAddressOf(response);
    const letIn = (guest: Guest | undefined) => this.#letIn(guest, authorization, address, claimed);
    if (claimed === undefined) return letIn(undefined);
    const key = `${address} ${authorization}`; // whoever guesses elsewhere waits longer
    const under = this.#comparing.get(key);
    if (under !== undefined) {
      under.responses.push(response);
      return under.found;
    }
    const responses = [response];
    const asker = this.#attempts.asker(address, claimed.user, () => responses.every(hasGone));
    const guest =
      'token' in claimed
        ? directory.withToken(claimed.token, asker)
        : directory.withPassword(claimed.user, claimed.password, asker);
    if (!(guest instanceof Promise)) return letIn(guest);
    const found = guest.then(letIn).finally(() => this.#comparing.delete(key));
    this.#comparing.set(key, { found, responses });
    return found;
  }

  /** Who has signed in with the browser that asks; undefined: nobody. */
  byCookie(request: HttpRequest): Guest | undefined {
    const cookie = request.getHeader(cookieHeader);
    if (cookie === '') return undefined;
    const guest = this.#entry.find(cookie);
    if (guest !== undefined) return guest;
    const [all = ''] = joinedHeaders(request, 'cookie');
    return all === cookie ? undefined : this.#entry.find(all);
  }

  /** Who asks without saying who it is. Errors: `unauthorized`. */
  nobody({ need }: Purpose): Guest {
    const { anonymous, stranger } = this.#entry.directory;
    const nobody = anonymous ?? (need === 'nothing' ? stranger : undefined);
    if (nobody === undefined) throw notLetIn();
    return nobody;
  }

  #letIn(guest: Guest | undefined, authorization: string, address: string, claimed: Credentials | undefined): Guest {
    const { directory, witness } = this.#entry;
    const user = claimed?.user ?? '';
    if (claimed === undefined || guest === undefined || guest.hasLeft) {
      witness.note(user, address, 'refused', 'by credentials');
      throw this.#attempts.wrong(address, user) ?? notLetIn();
    }
    this.#attempts.right(address, user);
    directory.remember(authorization, guest, 'token' in claimed);
    witness.note(guest.name, address, 'in', 'by credentials');
    return guest;
  }
}

// What a header `Authorization` holds (RFC 7617, RFC 6750).

type Credentials = { readonly user: string; readonly password: string } | { readonly user: ''; readonly token: string };

/** Reads the credentials of HTTP Basic and Bearer; undefined: they are of no scheme that the hub knows, or make no sense. */
export function readCredentials(authorization: string): Credentials | undefined {
  const [, scheme = '', given = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { user: '', token: given };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const text = Buffer.from(given, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
