// The users of a connection, as defined in its settings, with their credentials and rights.
import { createHash } from 'node:crypto';
import { describe } from '../../../model/error.ts';
import type { DeclaredAddresses } from '../../connection.ts';
import type { Parameters } from '../../hub-port.ts';
import type { SettingHint, SettingMistake } from '../../setting.ts';
import { createGlobFilter } from '../filters/address-glob.ts';
import { createPasswordCheck, type PasswordCheck } from './passwords.ts';
import { Rights } from './rights.ts';
import type { RightSettings, UserSettings } from './user-settings.ts';

/** A user as defined in the settings. Two accounts with the same name are equal if their keys are equal. */
export interface Account {
  readonly name: string;
  readonly rights: Rights;
  /** Checks the password of the user; undefined if the account has no password. */
  readonly password: PasswordCheck | undefined;
  readonly tokenDigest: string | undefined;
  readonly credentialsKey: string;
  /** A key that is equal for accounts with the same password, regardless of the token. */
  readonly passwordKey: string;
  readonly rightsKey: string;
}

/** The settings of a connection that control access. */
export interface AccountSettings {
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly users: Readonly<Record<string, UserSettings>>;
  readonly anonymous?: RightSettings | undefined;
}

const everything = { read: ['**'], write: ['**'], deny: [], dashboards: [], edit: ['**'], manage: true, metrics: true };
/** The rights of a client that may do nothing. */
export const noRights = { read: [], write: [], deny: [], dashboards: [], edit: [], manage: false, metrics: false };

/** Returns whether the hub is open to every client, because the settings define no users, rights or credentials. */
export function isOpen({ username, password, token, users, anonymous }: AccountSettings): boolean {
  return username + password + token === '' && Object.keys(users).length === 0 && anonymous === undefined;
}

/** Returns the accounts in the settings. `username`, `password` and `token` define one user with all rights. */
export function accountsOf(settings: AccountSettings, hub: Parameters): Account[] {
  const { username, password, token, users } = settings;
  const hasBasic = username !== '' || password !== '';
  const owner = { ...everything, password: hasBasic ? password : undefined, token: token === '' ? undefined : token };
  const accounts = Object.entries(users).map(([name, user]) => accountOf(name, user, hub));
  return hasBasic || token !== '' ? [accountOf(username, owner, hub), ...accounts] : accounts;
}

export function accountOf(
  name: string,
  { password, token, ...rights }: Rights['settings'] & { password?: string | undefined; token?: string | undefined },
  hub: Parameters,
): Account {
  return {
    name,
    rights: new Rights(rights, hub),
    password: password === undefined ? undefined : createPasswordCheck(password),
    tokenDigest: token === undefined ? undefined : digestOf(token),
    credentialsKey: digestOf(JSON.stringify([password, token])),
    passwordKey: digestOf(JSON.stringify([password, undefined])),
    rightsKey: JSON.stringify(rights),
  };
}

/** Returns the SHA-256 digest of a token or password in base64url. All digests have the same length, and no digest reveals its input. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

// Errors in combinations of settings that are valid on their own: two accounts with the same name or token. One of the two users could
// never sign in.

/**
 * Returns an error for each name or token that two accounts share. An error about a name is located at `username`, an error about a token
 * at the later of the two tokens. No message contains a token.
 */
export function accountMistakes({ username, token, users }: AccountSettings): SettingMistake[] {
  const path = ['username'];
  const message = `expected a name that no user has, got "${username}"`;
  return [...(Object.hasOwn(users, username) ? [{ path, message }] : []), ...tokenMistakes(token, users)];
}

function tokenMistakes(token: string, users: AccountSettings['users']): SettingMistake[] {
  const owners = new Map(token === '' ? [] : [[token, 'the connection']]);
  return Object.entries(users).flatMap(([name, user]) => {
    if (user.token === undefined) return [];
    const owner = owners.get(user.token);
    if (owner === undefined) owners.set(user.token, `"${name}"`);
    const message = `expected a unique token; this one also belongs to ${owner}`;
    return owner === undefined ? [] : [{ path: ['users', name, 'token'], message }];
  });
}

// Hints for valid settings that are probably not intended: rights to parameters that do not exist, and users without rights.

export function rightHints(
  { users, anonymous }: Pick<AccountSettings, 'users' | 'anonymous'>,
  declared: DeclaredAddresses,
): SettingHint[] {
  const known = new Map<string, boolean>();
  const isMatched = (glob: string) => {
    const isIt = known.get(glob) ?? matchesAny(glob, declared);
    known.set(glob, isIt);
    return isIt;
  };
  return [
    ...Object.entries(users).flatMap(([name, user]) => [
      ...(mayDoAnything(user) ? [] : [{ path: ['users', name], message: noRight }]),
      ...idleGlobs(['users', name], user, isMatched),
    ]),
    ...(anonymous === undefined ? [] : idleGlobs(['anonymous'], anonymous, isMatched)),
  ];
}

const noRight = 'expected one of the rights read, write, dashboards, edit, manage and metrics; this user has none';

function mayDoAnything({ read, write, dashboards, edit, manage, metrics }: AccountSettings['users'][string]): boolean {
  return read.length + write.length + dashboards.length + edit.length > 0 || manage || metrics;
}

function idleGlobs(
  path: SettingHint['path'],
  rights: RightSettings,
  isMatched: (glob: string) => boolean,
): SettingHint[] {
  return (['read', 'write', 'deny'] as const).flatMap((right) =>
    [...rights[right].entries()]
      .filter(([, glob]) => !isMatched(glob))
      .map(([index, glob]) => ({
        path: [...path, right, index],
        message: `expected a glob that matches a parameter, got ${describe(glob)}`,
      })),
  );
}

/**
 * Returns whether a glob matches a declared parameter. If the glob names a connection, only the parameters of this connection are searched.
 * Returns true if the parameters are not known.
 */
function matchesAny(glob: string, declared: DeclaredAddresses): boolean {
  const connectionId = /^([^*/]+)\//.exec(glob)?.[1];
  const addresses = declared(connectionId);
  if (addresses === undefined) return true;
  const matches = createGlobFilter(glob);
  for (const address of addresses) if (matches(address)) return true;
  return false;
}
