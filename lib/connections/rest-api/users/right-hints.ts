// What settings of users work and are probably not meant: rights to parameters that there are none of, and users who may do nothing.

import { describe } from '../../../model/error.ts';
import type { DeclaredAddresses } from '../../connection.ts';
import type { SettingHint } from '../../setting.ts';
import { createGlobFilter } from '../filters/address-glob.ts';
import type { AccountSettings } from './accounts.ts';
import type { RightSettings } from './user-settings.ts';

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
