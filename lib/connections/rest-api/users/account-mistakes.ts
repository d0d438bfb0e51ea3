// What is wrong with who may come in although each setting by itself is right: two accounts of one name, or with one token. One of the two
// would never come in.

import type { SettingMistake } from '../../setting.ts';
import type { AccountSettings } from './accounts.ts';

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
