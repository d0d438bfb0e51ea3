// How somebody comes in by the page to sign in, and goes: passwords and codes are exchanged for cookies. All of it is audited.

import { HubError } from '../../../../model/error.ts';
import type { DeviceKind } from '../../../../wire/http/users.ts';
import type { LimitHits } from '../../limits/limit-hits.ts';
import type { Devices, Invitation } from '../../users/devices.ts';
import { type Directory, KnownHeaders } from '../../users/directory.ts';
import type { Guest } from '../../users/visitor.ts';
import type { Attempts } from './attempts.ts';
import type { Witness } from './witness.ts';

export interface EntryOptions {
  readonly directory: Directory;
  readonly devices: Devices;
  readonly attempts: Attempts;
  readonly witness: Witness;
  readonly hits: LimitHits;
  /** The name of the cookie without its prefix: browsers send cookies of a host to all of its ports. */
  readonly cookieName: () => string;
  readonly hasTls: boolean;
}

const cookieSeconds = 400 * 24 * 3600;
/** With it a browser takes a cookie by HTTPS alone, and from the host itself (RFC 6265bis section 4.1.3.2). */
const securePrefix = '__Host-';
/** What a token looks like: nothing else is looked for. */
const tokenForm = /^[\w-]{43}$/;

export class Entry {
  readonly #options: EntryOptions;
  /** By the header `Cookie`. */
  readonly #known = new KnownHeaders();

  constructor(options: EntryOptions) {
    this.#options = options;
  }

  get directory(): Directory {
    return this.#options.directory;
  }

  get devices(): Devices {
    return this.#options.devices;
  }

  get witness(): Witness {
    return this.#options.witness;
  }

  /** Compares a password; not when whoever sent it has gone before its turn. Errors: `unauthorized`, `too-many-attempts`, `unavailable`. */
  async check(user: string, password: string, address: string, isGone: () => boolean): Promise<void> {
    const { attempts, witness, directory } = this.#options;
    const guest = await directory.withPassword(user, password, attempts.asker(address, user, isGone));
    if (guest !== undefined) return attempts.right(address, user);
    witness.note(user, address, 'refused', 'by the page to sign in');
    throw (
      attempts.wrong(address, user) ??
      new HubError('unauthorized', 'user, password: expected those of a user of this hub')
    );
  }

  /** What a code is good for. Errors: `unauthorized`, `too-many-attempts`. */
  exchange(code: string, address: string): Invitation {
    const { attempts, witness, devices } = this.#options;
    const invitation = devices.exchange(code);
    if (invitation !== undefined) return invitation;
    witness.note('', address, 'refused', 'by a link that is good for nothing');
    throw (
      attempts.wrong(address, '') ??
      new HubError('unauthorized', 'code: expected that of a link which nobody has opened yet; each is good once')
    );
  }

  /** Lets a device in; it is known by the first of the cookies from then on. Errors: `unauthorized` when there is no such user any more. */
  admit(user: string, kind: DeviceKind, name: string, whence: Whence): Admitted {
    const { address } = whence;
    const { devices, witness, hits } = this.#options;
    if (kind === 'browser' && devices.makeRoom(user)) hits.add('browsersPerUser', address);
    const token = devices.admit(user, kind, name);
    witness.note(user, address, 'in', kind === 'kiosk' ? `kiosk "${name}", by its link` : `by the page, ${name}`);
    return { guest: devices.find(token)!, cookies: this.#cookies(whence, token) };
  }

  /**
   * Ends the device that asks, and all others of which its browser has a cookie: it would come in as one of these. Returns the cookies that it
   * keeps.
   */
  signOut(user: string, device: string, whence: Whence): string[] {
    const { witness, devices } = this.#options;
    witness.note(user, whence.address, 'out', '');
    devices.end(device);
    for (const guest of this.#guestsOf(whence.cookie)) if (guest.device !== undefined) devices.end(guest.device);
    return this.#cookies(whence, undefined);
  }

  /** The name of the cookie of who has signed in, where no proxy speaks HTTPS for the hub. */
  get cookieName(): string {
    const { cookieName, hasTls } = this.#options;
    return hasTls ? securePrefix + cookieName() : cookieName();
  }

  /** Who comes with a header `Cookie`; undefined: nobody. */
  find(cookie: string): Guest | undefined {
    const known = this.#known.find(cookie);
    if (known !== undefined) return known;
    const [guest] = this.#guestsOf(cookie);
    if (guest !== undefined) this.#known.add(cookie, guest);
    return guest;
  }

  /** Reads cookies anew from now on, so that devices which come are noted again. To be called now and then. */
  forget(): void {
    this.#known.clear();
  }

  /**
   * Everybody of whom a header has a cookie. Any page of the host, on whichever port, can set some of the same name, and have the browser send
   * them first. So each is looked for, at first those that such a page cannot set by plain HTTP. A header has no more than fit into 4 KB.
   */
  *#guestsOf(cookie: string): Generator<Guest> {
    const name = this.#options.cookieName();
    const pairs = cookie.split(/[;,]/).map((pair) => pair.trim().split('=', 2));
    for (const wanted of [securePrefix + name, name])
      for (const [key, value = ''] of pairs)
        if (key === wanted && tokenForm.test(value)) {
          const guest = this.#options.devices.find(value);
          if (guest !== undefined) yield guest;
        }
  }

  /** What a browser keeps: a token, or without one nothing. By HTTPS it also forgets what it got before the hub knew of HTTPS. */
  #cookies({ isSecure, cookie }: Pick<Whence, 'isSecure' | 'cookie'>, token: string | undefined): string[] {
    const name = this.#options.cookieName();
    const set = (key: string, value: string, seconds: number) =>
      `${key}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
    const own = set(isSecure ? securePrefix + name : name, token ?? '', token === undefined ? 0 : cookieSeconds);
    const hasOld = isSecure && cookie.split(/[;,]/).some((pair) => pair.trim().startsWith(`${name}=`));
    return hasOld ? [own, set(name, '', 0)] : [own];
  }
}

/** Where somebody comes in, and how. */
export interface Whence {
  readonly address: string;
  /** Whether by HTTPS. */
  readonly isSecure: boolean;
  /** The header `Cookie`. */
  readonly cookie: string;
}

export interface Admitted {
  readonly guest: Guest;
  /** Each is the value of a header `Set-Cookie`. */
  readonly cookies: readonly string[];
}
