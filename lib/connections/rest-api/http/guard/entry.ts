// Signs users in and out through the sign-in page: exchanges passwords and codes for cookies. All sign-ins, refusals and sign-outs are
// audited.

import { HubError } from '../../../../model/error.ts';
import { createLogGate, type LogGate } from '../../../../model/log-gate.ts';
import type { HttpRequest } from '../../../../net/uws.ts';
import type { DeviceKind } from '../../../../wire/http/user-shapes.ts';
import type { ConnectionContext } from '../../../connection.ts';
import type { HubPort } from '../../../hub-port.ts';
import { shownPath } from '../../input/request-path.ts';
import type { LimitHits } from '../../limits/limit-hits.ts';
import { networkOf } from '../../limits/network.ts';
import { shownAddress } from '../../proxies/ip-address.ts';
import type { Settings } from '../../settings.ts';
import { isOpen } from '../../users/accounts.ts';
import type { Devices, Invitation } from '../../users/devices.ts';
import { type Directory, KnownHeaders } from '../../users/directory.ts';
import type { SignedInUser } from '../../users/principal.ts';
import type { Attempts } from './attempts.ts';

interface EntryOptions {
  readonly directory: Directory;
  readonly devices: Devices;
  readonly attempts: Attempts;
  readonly auditSink: AuditSink;
  readonly hits: LimitHits;
  /**
   * Returns the name of the sign-in cookie without its prefix. Browsers send the cookies of a host to all ports of the host, so each hub
   * needs a different name.
   */
  readonly cookieName: () => string;
  readonly hasTls: boolean;
}

const cookieSeconds = 400 * 24 * 3600;
/** The prefix with which a browser accepts a cookie only over HTTPS and only from the host itself (RFC 6265bis section 4.1.3.2). */
const securePrefix = '__Host-';
/** The form of a token in a cookie. Values of any other form are not looked up. */
const tokenForm = /^[\w-]{43}$/;

export class Entry {
  readonly #options: EntryOptions;
  /** The signed-in users, keyed by the value of the `Cookie` header. */
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

  get auditSink(): AuditSink {
    return this.#options.auditSink;
  }

  /**
   * Notes and counts wrong credentials that do not belong to a user, such as the secret of a webhook. Returns the error if there were too
   * many attempts, otherwise undefined.
   */
  refuse(address: string, cause: string): HubError | undefined {
    const { attempts, auditSink } = this.#options;
    auditSink.note('', address, 'refused', cause);
    return attempts.wrong(address, '');
  }

  /**
   * Checks the password of a user, unless the client has disconnected before its turn. Errors: `unauthorized`, `too-many-attempts`,
   * `unavailable`.
   */
  async check(user: string, password: string, address: string, isGone: () => boolean): Promise<void> {
    const { attempts, auditSink, directory } = this.#options;
    const signedIn = await directory.withPassword(user, password, attempts.asker(address, user, isGone));
    if (signedIn !== undefined) return attempts.right(address, user);
    auditSink.note(user, address, 'refused', 'by the sign-in page');
    throw attempts.wrong(address, user) ?? new HubError('unauthorized', 'incorrect username or password');
  }

  /** Returns the invitation that belongs to the code in a kiosk link; each code works once. Errors: `unauthorized`, `too-many-attempts`. */
  exchange(code: string, address: string): Invitation {
    const { attempts, auditSink, devices } = this.#options;
    const invitation = devices.exchange(code);
    if (invitation !== undefined) return invitation;
    auditSink.note('', address, 'refused', 'by an invalid link');
    throw (
      attempts.wrong(address, '') ??
      new HubError('unauthorized', 'code: expected the code of an unopened link; a link works only once')
    );
  }

  /**
   * Signs a device in. From then on, the first of the returned cookies identifies the device. Errors: `unauthorized` if the user no longer
   * exists.
   */
  admit(user: string, kind: DeviceKind, name: string, sender: Sender, dashboard?: string): Admitted {
    const { address } = sender;
    const { devices, auditSink, hits } = this.#options;
    if (kind === 'browser' && devices.makeRoom(user)) hits.add('browsersPerUser', address);
    const token = devices.admit(user, kind, name, dashboard);
    auditSink.note(user, address, 'in', kind === 'kiosk' ? `kiosk "${name}", by its link` : `by the page, ${name}`);
    return { signedIn: devices.find(token)!, cookies: this.#cookies(sender, token) };
  }

  /**
   * Signs a device out, along with all other devices in the browser's cookies, which would otherwise sign the browser in again. Returns the
   * values of `Set-Cookie` that delete the cookies.
   */
  signOut(user: string, device: string, sender: Sender): string[] {
    const { auditSink, devices } = this.#options;
    auditSink.note(user, sender.address, 'out', '');
    devices.end(device);
    for (const signedIn of this.#signedInOf(sender.cookie))
      if (signedIn.device !== undefined) devices.end(signedIn.device);
    return this.#cookies(sender, undefined);
  }

  /** The name of the sign-in cookie, unless a proxy provides HTTPS for the hub: the cookie then has a prefix. */
  get cookieName(): string {
    const { cookieName, hasTls } = this.#options;
    return hasTls ? securePrefix + cookieName() : cookieName();
  }

  /** Returns the user who is signed in by a `Cookie` header; undefined if no user is signed in. */
  find(cookie: string): SignedInUser | undefined {
    const known = this.#known.find(cookie);
    if (known !== undefined) return known;
    const [signedIn] = this.#signedInOf(cookie);
    if (signedIn !== undefined) this.#known.add(cookie, signedIn);
    return signedIn;
  }

  /** Clears the cache of parsed cookies, so that the visits of devices are recorded again. Call this occasionally. */
  forget(): void {
    this.#known.clear();
  }

  /**
   * Yields all users who are signed in by the cookies in a header. Any page on the same host, on any port, can set cookies with the same
   * name that come first. So every cookie is looked up, beginning with cookies that such a page cannot set over plain HTTP. A header has at
   * most 4 KB.
   */
  *#signedInOf(cookie: string): Generator<SignedInUser> {
    const name = this.#options.cookieName();
    const pairs = cookie.split(/[;,]/).map((pair) => pair.trim().split('=', 2));
    for (const wanted of [securePrefix + name, name])
      for (const [key, value = ''] of pairs)
        if (key === wanted && tokenForm.test(value)) {
          const signedIn = this.#options.devices.find(value);
          if (signedIn !== undefined) yield signedIn;
        }
  }

  /**
   * Returns the values of `Set-Cookie` that set the sign-in cookie to a token or, without a token, delete the cookie. Over HTTPS, also
   * deletes the cookie that was set before the hub used HTTPS.
   */
  #cookies({ isSecure, cookie }: Pick<Sender, 'isSecure' | 'cookie'>, token: string | undefined): string[] {
    const name = this.#options.cookieName();
    const set = (key: string, value: string, seconds: number) =>
      `${key}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
    const own = set(isSecure ? securePrefix + name : name, token ?? '', token === undefined ? 0 : cookieSeconds);
    const hasOld = isSecure && cookie.split(/[;,]/).some((pair) => pair.trim().startsWith(`${name}=`));
    return hasOld ? [own, set(name, '', 0)] : [own];
  }
}

/** The client that sent a request, and how the request was sent. */
export interface Sender {
  readonly address: string;
  /** Whether the request was sent over HTTPS. */
  readonly isSecure: boolean;
  /** The value of the `Cookie` header. */
  readonly cookie: string;
}

export interface Admitted {
  readonly signedIn: SignedInUser;
  /** The values of the `Set-Cookie` headers in the answer. */
  readonly cookies: readonly string[];
}

// Reports sign-ins, refusals, sign-outs and changed rights to the audit of a store, or to the log if there is no store. Guessing floods
// neither of them: after the first attempt, further attempts from a network within a minute share one entry.

type Coming = 'in' | 'refused' | 'out' | 'invited' | 'revoked';

const gatedMs = 60_000;

type Context = Pick<ConnectionContext<unknown>, 'id' | 'log' | 'withoutSecrets'>;

export class AuditSink {
  readonly #context: Context;
  readonly #hub: Pick<HubPort, 'persistence'>;
  readonly #gate: LogGate;

  /** `context` is the context of the REST API connection, whose ID precedes the user in each entry. */
  constructor(context: Context, hub: Pick<HubPort, 'persistence'>, intervalMs = gatedMs) {
    this.#context = context;
    this.#hub = hub;
    this.#gate = createLogGate(
      (count) => this.#report(`${context.id} many addresses`, 'refused', 'wrong credentials', count),
      intervalMs,
    );
  }

  /** Records an event of a user at an address. `user` may be a claimed name, or even a token that was entered instead of a name. */
  note(user: string, address: string, after: Coming, cause: string): void {
    const { id, withoutSecrets } = this.#context;
    const report = (count?: number) => {
      const name = withoutSecrets(user).slice(0, 64);
      this.#report(
        `${id} ${name === '' ? '' : `${name} `}${shownAddress(address)}`,
        after,
        withoutSecrets(cause),
        count,
      );
    };
    if (after === 'refused') this.#gate(networkOf(address), report);
    else report();
  }

  /** Records changes to users that were made by saving flow files. Each change is one sentence. */
  noteUsers(changes: readonly string[]): void {
    for (const change of changes) this.#report(`${this.#context.id} flow files`, 'changed', change);
  }

  #report(user: string, after: string, cause: string, count = 1): void {
    const { persistence } = this.#hub;
    if (persistence.archive?.audit !== undefined) {
      persistence.note({ kind: 'sign-in', user, address: '', after, cause, count });
      return;
    }
    const times = count > 1 ? ` (${count} times within a minute)` : '';
    const sentence = `sign-in: ${user}: ${after}${cause && `, ${cause}`}${times}`;
    this.#context.log.info({}, sentence, after === 'changed' ? sentence : `sign-in ${after} ${user}`); // a reload reports several changes
  }
}

// Owners are clients with the credentials of the hub. They may read everything, including flow files with their secrets. A hub without
// credentials accepts only programs on its own machine as owners.

/** The headers by which the hub recognizes that a proxy forwarded a request, which only seems to come from this machine. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** Creates a function that checks whether a request that the guard has admitted comes from an owner. Errors: `forbidden`. */
export function createOwnerCheck(settings: Settings) {
  const { allowedHosts, trustedProxies } = settings;
  const hasCredentials = !isOpen(settings);
  const isBehindProxy = allowedHosts.length + trustedProxies.length > 0;
  return (request: HttpRequest, address: string): void => {
    if (hasCredentials) return;
    const isPassedOn = isBehindProxy || proxyHeaders.some((header) => request.getHeader(header) !== '');
    if (isLoopback(address) && !isPassedOn) return;
    const expected = "expected a hub with credentials, or a program on the hub's own machine without a proxy";
    throw new HubError(
      'forbidden',
      `${shownPath(request.getUrl())}: ${expected}, got ${shownAddress(address)}; set credentials with users, username or token`,
    );
  };
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || /^(0000:){7}0001$/.test(address);
}
