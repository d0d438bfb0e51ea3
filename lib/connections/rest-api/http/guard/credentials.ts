// HTTP Basic and Bearer (S-13, D-12; RFC 7617, RFC 6750). Where both are configured, either one grants access.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Settings } from '../../settings.ts';

export interface Credentials {
  /** Whether an `Authorization` header grants access. It always does when nothing is configured. */
  accept(authorization: string): boolean;
  /** The value of `WWW-Authenticate` for each configured scheme. */
  readonly challenges: readonly string[];
}

export function createCredentials({ username, password, token }: Settings): Credentials {
  const hasBasic = username !== '' || password !== '';
  const hasBearer = token !== '';
  const challenges = [
    ...(hasBasic ? ['Basic realm="Patchbay", charset="UTF-8"'] : []),
    ...(hasBearer ? ['Bearer realm="Patchbay"'] : []),
  ];
  if (challenges.length === 0) return { challenges, accept: () => true };
  const expectedBasic = digest(`${username}:${password}`);
  const expectedBearer = digest(token);
  return {
    challenges,
    accept(authorization) {
      const [, scheme = '', given = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
      const isBasic = hasBasic && scheme.toLowerCase() === 'basic';
      const isBearer = hasBearer && scheme.toLowerCase() === 'bearer';
      const basic = timingSafeEqual(digest(Buffer.from(given, 'base64').toString('utf8')), expectedBasic);
      const bearer = timingSafeEqual(digest(given), expectedBearer);
      return (isBasic && basic) || (isBearer && bearer);
    },
  };
}

/** All digests have the same length, and the time that it takes to compare them tells nothing. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
