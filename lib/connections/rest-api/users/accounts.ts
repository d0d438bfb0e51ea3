// The users of a connection, as its settings have them: who has which credentials and rights.
import { createHash } from 'node:crypto';
import { describe } from '../../../model/error.ts';
import type { DeclaredAddresses } from '../../connection.ts';
import type { Parameters } from '../../hub-port.ts';
import type { SettingHint, SettingMistake } from '../../setting.ts';
import { createGlobFilter } from '../filters/address-glob.ts';
import { createPasswordCheck, type PasswordCheck } from './passwords.ts';
import { Rights } from './rights.ts';
import type { RightSettings, UserSettings } from './user-settings.ts';

/** One user. Two accounts of a name are equal if their keys are. */
export interface Account {
  readonly name: string;
  readonly rights: Rights;
  /** undefined: it has none. */
  readonly password: PasswordCheck | undefined;
  readonly tokenDigest: string | undefined;
  readonly credentialsKey: string;
  /** Equal for the same password, whatever token there is beside it. */
  readonly passwordKey: string;
  readonly rightsKey: string;
}

/** The settings of a connection that say who may come in. */
export interface AccountSettings {
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly users: Readonly<Record<string, UserSettings>>;
  readonly anonymous?: RightSettings | undefined;
}

const everything = { read: ['**'], write: ['**'], deny: [], dashboards: [], manage: true, metrics: true };
/** Whoever has no rights at all. */
export const noRights = { read: [], write: [], deny: [], dashboards: [], manage: false, metrics: false };

/** Whether the hub is open to everybody: the settings grant nothing to anybody. */
export function isOpen({ username, password, token, users, anonymous }: AccountSettings): boolean {
  return username + password + token === '' && Object.keys(users).length === 0 && anonymous === undefined;
}

/** The accounts of the settings; `username`, `password` and `token` are those of one user with all rights. */
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

/** Digests have the same length, and do not tell what they are of. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

// What is wrong with who may come in although each setting by itself is right: two accounts of one name, or with one token. One of the two
// would never come in.

/** The mistakes of the accounts: that of a name at `username`, that of a token at the later one of two. No message tells a token. */
export function accountMistakes({ username, token, users }: AccountSettings): SettingMistake[] {
  const path = ['username'];
  const message = `expected a name that none of the users has, "${username}" is one of them`;
  return [...(Object.hasOwn(users, username) ? [{ path, message }] : []), ...tokenMistakes(token, users)];
}

function tokenMistakes(token: string, users: AccountSettings['users']): SettingMistake[] {
  const owners = new Map(token === '' ? [] : [[token, 'the connection']]);
  return Object.entries(users).flatMap(([name, user]) => {
    if (user.token === undefined) return [];
    const owner = owners.get(user.token);
    if (owner === undefined) owners.set(user.token, `"${name}"`);
    const message = `expected a token that nobody else has, it is also that of ${owner}`;
    return owner === undefined ? [] : [{ path: ['users', name, 'token'], message }];
  });
}

// What settings of users work and are probably not meant: rights to parameters that there are none of, and users who may do nothing.

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

const noRight = 'expected a right, one of read, write, dashboards, manage and metrics, this user has none';

function mayDoAnything({ read, write, dashboards, manage, metrics }: AccountSettings['users'][string]): boolean {
  return read.length + write.length + dashboards.length > 0 || manage || metrics;
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
        message: `expected a glob of parameters that there are, got ${describe(glob)}, which matches none`,
      })),
  );
}

/** Looks only at the connection that the glob names, where it names one. */
function matchesAny(glob: string, declared: DeclaredAddresses): boolean {
  const connectionId = /^([^*/]+)\//.exec(glob)?.[1];
  const addresses = declared(connectionId);
  if (addresses === undefined) return true;
  const matches = createGlobFilter(glob);
  for (const address of addresses) if (matches(address)) return true;
  return false;
}
