// Finds users by their credentials. Credentials are compared only once: a client that sends the same credentials again is recognized until
// its user changes in the settings.
import { HubError } from '../../../model/error.ts';
import type { HubPort } from '../../hub-port.ts';
import { type Account, type AccountSettings, accountOf, accountsOf, digestOf, isOpen, noRights } from './accounts.ts';
import { type Asker, type PasswordCheck, whenItsTurn } from './passwords.ts';
import { openPrincipal, type Principal, SignedInUser } from './principal.ts';
import { Rights } from './rights.ts';

/** The length below which a token could be guessed by trying all possibilities, in characters. */
const leastTokenLength = 16;

/** A principal that loses access. `mayReturn` means that only its rights have changed, and its credentials are still valid. */
export interface Departure {
  readonly signedIn: SignedInUser;
  readonly mayReturn: boolean;
}

export class Directory {
  readonly #hub: HubPort;
  readonly #open: Principal | undefined;
  /** The principal for a client without credentials if a request requires no credentials; it has no rights. */
  readonly stranger: SignedInUser;
  #accounts = new Map<string, Account>();
  #byToken = new Map<string, Account>();
  /** The users who sent a token, keyed by `Authorization` header. */
  readonly knownByToken = new KnownHeaders();
  readonly #knownByPassword = new KnownHeaders();
  /** The principals, keyed by account and device: one for each account, and one for each device of an account. */
  readonly #signedIn = new Map<Account, Map<string | undefined, SignedInUser>>();
  #anonymous: Account | undefined;

  constructor(settings: AccountSettings, hub: HubPort) {
    this.#hub = hub;
    this.#open = isOpen(settings) ? openPrincipal(hub) : undefined;
    this.stranger = new SignedInUser('', undefined, accountOf('', noRights, hub).rights, hub);
    this.#take(settings);
  }

  /** The principal of all clients if the hub is open; undefined if the hub is not open. */
  get everybody(): Principal | undefined {
    return this.#open;
  }

  get accounts(): Iterable<Account> {
    return this.#accounts.values();
  }

  /** The principal for clients without credentials; undefined if such clients are not admitted. */
  get anonymous(): SignedInUser | undefined {
    return this.#anonymous && this.signedInBy(this.#anonymous, undefined);
  }

  /** Whether the setting `users` names users, who can sign in on a page. */
  hasUsers = false;

  get hasPasswords(): boolean {
    return [...this.#accounts.values()].some(({ password }) => password !== undefined);
  }

  get hasTokens(): boolean {
    return this.#byToken.size > 0;
  }

  account(name: string): Account | undefined {
    return this.#accounts.get(name);
  }

  /** Returns the user who sent an `Authorization` header before; undefined if the header is not known. */
  known(authorization: string): SignedInUser | undefined {
    return this.knownByToken.find(authorization) ?? this.#knownByPassword.find(authorization);
  }

  /** Remembers the user who sent an `Authorization` header. */
  remember(authorization: string, signedIn: SignedInUser, isToken: boolean): void {
    (isToken ? this.knownByToken : this.#knownByPassword).add(authorization, signedIn);
  }

  /**
   * Returns the user with a token; undefined if there is no such user. The comparison of a short token may have to wait. Errors:
   * `unavailable`.
   */
  withToken(token: string, asker: Asker): SignedInUser | undefined | Promise<SignedInUser | undefined> {
    const find = () => {
      const account = this.#byToken.get(digestOf(token));
      return account && this.signedInBy(account, undefined);
    };
    const isGuessable = token.length < leastTokenLength;
    return (isGuessable ? whenItsTurn(asker) : undefined)?.then(find) ?? find();
  }

  /**
   * Returns the user with a name and a password; undefined if either is wrong. The search takes the same time for known and unknown users
   * and, if all scrypt hashes have the same parameters, regardless of the password. Errors: `unavailable`.
   */
  withPassword(
    user: string,
    password: string,
    asker: Asker,
  ): SignedInUser | undefined | Promise<SignedInUser | undefined> {
    const account = this.#accounts.get(user);
    const check = account?.password;
    const slowest = this.#slowestCheck;
    const letIn = () => (this.#accounts.get(user) === account ? this.signedInBy(account!, undefined) : undefined);
    const refuse = () =>
      check?.isHashed === slowest?.isHashed
        ? undefined
        : slowest?.takeAsLong(password, asker)?.then((): undefined => undefined);
    const isRight = check?.isRight(password, asker) ?? false;
    if (isRight instanceof Promise) return isRight.then((isIt) => (isIt ? letIn() : refuse()));
    return isRight ? letIn() : refuse();
  }

  /** Returns the principal of an account, or of one of the account's devices. */
  signedInBy(account: Account, device: string | undefined): SignedInUser {
    let signedInUsers = this.#signedIn.get(account);
    if (signedInUsers === undefined) {
      signedInUsers = new Map();
      this.#signedIn.set(account, signedInUsers);
    }
    let signedIn = signedInUsers.get(device);
    if (signedIn === undefined) {
      signedIn = new SignedInUser(account.name, device, account.rights, this.#hub);
      signedInUsers.set(device, signedIn);
    }
    return signedIn;
  }

  /**
   * Returns a principal for a manager who sees the hub as a user: the principal reads what the user reads, changes nothing, and leaves with
   * the manager. `isNew` means that the manager did not see the hub as this user before. Errors: `not-found`.
   */
  seenBy(manager: SignedInUser, name: string): { readonly seen: SignedInUser; readonly isNew: boolean } {
    const account = this.#accounts.get(name);
    if (account === undefined) throw new HubError('not-found', `see as: expected the name of a user, got "${name}"`);
    const device = `viewed by ${manager.device ?? manager.name}`;
    const signedInUsers = this.#signedIn.get(account) ?? new Map<string | undefined, SignedInUser>();
    this.#signedIn.set(account, signedInUsers);
    const known = signedInUsers.get(device);
    if (known !== undefined) return { seen: known, isNew: false };
    const rights = new Rights({ ...account.rights.settings, write: [], edit: [] }, this.#hub);
    const seen = new SignedInUser(name, device, rights, this.#hub);
    signedInUsers.set(device, seen);
    seen.onLeave(manager.onLeave(() => this.endDevice(name, device)));
    return { seen, isNew: true };
  }

  /**
   * Applies changed settings. When this method returns, principals whose rights or credentials have changed have lost access. `changes`
   * describes the changed users.
   */
  adopt(settings: AccountSettings): { readonly departures: Departure[]; readonly changes: string[] } {
    const before = [...this.#accounts.values(), ...(this.#anonymous ? [this.#anonymous] : [])];
    const anonymous = this.#anonymous;
    const accounts = this.#accounts;
    this.#take(settings);
    const changes = changesOf([...accounts.values(), anonymous], [...this.#accounts.values(), this.#anonymous]);
    const departures: Departure[] = [];
    for (const account of before) {
      const after = account === anonymous ? this.#anonymous : this.#accounts.get(account.name);
      if (after === account) continue;
      const mayReturn = after !== undefined && after.credentialsKey === account.credentialsKey;
      for (const signedIn of this.#signedIn.get(account)?.values() ?? [])
        departures.push({ signedIn, mayReturn: mayReturn || (after !== undefined && signedIn.device !== undefined) });
      this.#signedIn.delete(account);
    }
    for (const { signedIn } of departures) signedIn.leave();
    return { departures, changes };
  }

  /** Removes the principal of a device and returns it; returns undefined if the device has not been used since the start. */
  endDevice(user: string, device: string): SignedInUser | undefined {
    const account = this.#accounts.get(user);
    const signedInUsers = account && this.#signedIn.get(account);
    const signedIn = signedInUsers?.get(device);
    if (signedIn === undefined) return undefined;
    signedInUsers!.delete(device);
    signedIn.leave();
    return signedIn;
  }

  /** Forgets a parameter that the hub has removed. */
  forget(address: string): void {
    for (const [account, signedInUsers] of this.#signedIn) {
      account.rights.forget(address);
      for (const { rights, view } of signedInUsers.values()) {
        rights.forget(address);
        view.forget(address);
      }
    }
  }

  /** Replaces the accounts with those in the settings. Unchanged accounts remain the same objects. */
  #take(settings: AccountSettings): void {
    const known = this.#accounts;
    this.hasUsers = Object.keys(settings.users).length > 0;
    const accounts = accountsOf(settings, this.#hub).map((account) => sameOr(account, known.get(account.name)));
    this.#accounts = new Map(accounts.map((account) => [account.name, account]));
    this.#byToken = new Map(
      accounts.flatMap((account) =>
        account.tokenDigest === undefined ? [] : [[account.tokenDigest, account] as const],
      ),
    );
    const { anonymous } = settings;
    this.#anonymous =
      anonymous === undefined || this.#open !== undefined
        ? undefined
        : sameOr(accountOf('', { ...noRights, ...anonymous }, this.#hub), this.#anonymous);
  }

  /** The check that takes longest to reject a password. */
  get #slowestCheck(): PasswordCheck | undefined {
    const checks = [...this.#accounts.values()].flatMap(({ password }) => password ?? []);
    return checks.find(({ isHashed }) => isHashed) ?? checks[0];
  }
}

function sameOr(account: Account, known: Account | undefined): Account {
  const isSame = known?.credentialsKey === account.credentialsKey && known.rightsKey === account.rightsKey;
  return isSame ? known : account;
}

type Accounts = readonly (Account | undefined)[];

/** Returns sentences that describe the changed users. */
function changesOf(before: Accounts, after: Accounts): string[] {
  const [old, now] = [before, after].map(byName) as [Map<string, Account>, Map<string, Account>];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    if (was === is) return [];
    if (was === undefined) return [`${name} was added`];
    if (is === undefined) return [`${name} was removed`];
    return [
      ...(was.rightsKey === is.rightsKey ? [] : [`${name} has new rights`]),
      ...(was.credentialsKey === is.credentialsKey ? [] : [`${name} has new credentials`]),
    ];
  });
}

function byName(accounts: Accounts): Map<string, Account> {
  return new Map(accounts.flatMap((account) => (account === undefined ? [] : [[nameOf(account), account] as const])));
}

/** Describes a user in a sentence: `user "ann"`. A user with all rights may have a password or a token but no name. */
function nameOf({ name, password, tokenDigest }: Account): string {
  if (name !== '') return `user "${name}"`;
  const hasCredentials = password !== undefined || tokenDigest !== undefined;
  return hasCredentials ? 'the user without a name' : 'anonymous access';
}

// Finds users by header, so that credentials are parsed and compared only once. Programs send the same header with every request: comparing
// a header with the previous one takes a few nanoseconds, whereas hashing takes as long as parsing.

/** The maximum number of headers that are remembered. */
const maxKnown = 10_000;
/** The number of slots in the table of recent headers. */
const places = 1024;

export class KnownHeaders {
  readonly #signedIn = new Map<string, SignedInUser>();
  readonly #headers: (string | undefined)[] = Array.from({ length: places });
  readonly #placed: (SignedInUser | undefined)[] = Array.from({ length: places });
  /** The previous header, which is probably the same as the next one if a client pipelines. */
  #lastHeader: string | undefined;
  #lastSignedIn: SignedInUser | undefined;

  /** Returns the user who sent a header before; undefined if the header is unknown or the user has lost access. */
  find(header: string): SignedInUser | undefined {
    if (header === this.#lastHeader) return present(this.#lastSignedIn);
    const place = placeOf(header);
    const isInPlace = header === this.#headers[place];
    const signedIn = present(isInPlace ? this.#placed[place] : this.#signedIn.get(header));
    if (signedIn === undefined) return undefined;
    if (!isInPlace) {
      this.#headers[place] = header;
      this.#placed[place] = signedIn;
    }
    this.#lastHeader = header;
    this.#lastSignedIn = signedIn;
    return signedIn;
  }

  add(header: string, signedIn: SignedInUser): void {
    if (signedIn.hasLeft) return;
    if (this.#signedIn.size >= maxKnown) this.#signedIn.delete(this.#signedIn.keys().next().value!);
    this.#signedIn.set(header, signedIn);
    this.#headers[placeOf(header)] = this.#lastHeader = undefined;
  }

  /** Forgets all users. */
  clear(): void {
    this.#signedIn.clear();
    this.#headers.fill(undefined);
    this.#placed.fill(undefined);
    this.#lastHeader = this.#lastSignedIn = undefined;
  }
}

function present(signedIn: SignedInUser | undefined): SignedInUser | undefined {
  return signedIn?.hasLeft ? undefined : signedIn;
}

/** Returns the slot for a header in the table. Tokens may differ in any character, and base64 may end with `=`. */
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
