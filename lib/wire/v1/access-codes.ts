// How patchbay.v1 says whether a parameter can be read and written.

import type { Access } from '../../model/parameter.ts';

export const accessCodes = { 'read-write': 'rw', 'read-only': 'r', 'write-only': 'w' } as const satisfies Record<
  Access,
  string
>;

export type AccessCode = (typeof accessCodes)[Access];

const accesses = Object.fromEntries(Object.entries(accessCodes).map(([access, code]) => [code, access]));

export function accessOf(code: AccessCode): Access {
  return accesses[code] as Access;
}
