// What a header `Authorization` holds (RFC 7617, RFC 6750).

export type Credentials =
  | { readonly user: string; readonly password: string }
  | { readonly user: ''; readonly token: string };

/** Reads the credentials of HTTP Basic and Bearer; undefined: they are of no scheme that the hub knows, or make no sense. */
export function readCredentials(authorization: string): Credentials | undefined {
  const [, scheme = '', given = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { user: '', token: given };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const text = Buffer.from(given, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
