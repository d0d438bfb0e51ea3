// How somebody comes in by the page to sign in, and goes: passwords and codes are exchanged for cookies. All of it is audited.

import { HubError } from '../../../../model/error.ts';
import type { DeviceKind } from '../../../../wire/http/operation/users.ts';
import type { LimitHits } from '../../limits/limit-hits.ts';
import type { Devices } from '../../users/devices.ts';
import type { Directory } from '../../users/directory.ts';
import type { Invitation } from '../../users/kiosk-links.ts';
import { KnownHeaders } from '../../users/known-headers.ts';
import type { Guest } from '../../users/visitor.ts';
import type { Attempts } from './attempts.ts';
import type { Witness } from './witness.ts';

export interface EntryOptions {
  readonly directory: Directory;
  readonly devices: Devices;
  readonly attempts: Attempts;
  readonly witness: Witness;
  readonly hits: LimitHits;
  /** The name of the cookie: browsers send cookies of a host to all of its ports. */
  readonly cookieName: () => string;
  readonly isSecure: boolean;
}

const cookieSeconds = 400 * 24 * 3600;

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

  /** Lets a device in; it is known by the cookie from then on. Errors: `unauthorized` when there is no such user any more. */
  admit(user: string, kind: DeviceKind, name: string, address: string): { guest: Guest; cookie: string } {
    const { devices, witness, hits } = this.#options;
    if (kind === 'browser' && devices.makeRoom(user)) hits.add('browsersPerUser', address);
    const token = devices.admit(user, kind, name);
    witness.note(user, address, 'in', kind === 'kiosk' ? `kiosk "${name}", by its link` : `by the page, ${name}`);
    return { guest: devices.find(token)!, cookie: this.#cookie(token, cookieSeconds) };
  }

  signOut(user: string, device: string, address: string): void {
    this.#options.witness.note(user, address, 'out', '');
    this.#options.devices.end(device);
  }

  /** The name of the cookie of who has signed in. */
  get cookieName(): string {
    return this.#options.cookieName();
  }

  /** Has a browser forget its cookie. */
  noCookie(): string {
    return this.#cookie('', 0);
  }

  /** Who comes with a header `Cookie`; undefined: nobody. */
  find(cookie: string): Guest | undefined {
    const known = this.#known.find(cookie);
    if (known !== undefined) return known;
    const guest = this.#read(cookie);
    if (guest !== undefined) this.#known.add(cookie, guest);
    return guest;
  }

  /** Reads cookies anew from now on, so that devices which come are noted again. To be called now and then. */
  forget(): void {
    this.#known.clear();
  }

  #read(cookie: string): Guest | undefined {
    const name = this.#options.cookieName();
    for (const part of cookie.split(';')) {
      const [key, value] = part.trim().split('=', 2);
      if (key === name && value !== undefined) return this.#options.devices.find(value);
    }
    return undefined;
  }

  #cookie(token: string, seconds: number): string {
    const { cookieName, isSecure } = this.#options;
    const cookie = `${cookieName()}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
    return isSecure ? `${cookie}; Secure` : cookie;
  }
}
