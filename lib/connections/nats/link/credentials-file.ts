// A file of credentials, as `nsc` writes it: a JWT that says who signs in, and the seed that proves it. It is read anew for each
// session, so that a renewed one is taken.

import type { Authenticator } from '@nats-io/transport-node';
import { readRegularFile } from '../../../files/regular-file.ts';
import { shownPath } from '../../../model/secret.ts';
import type { ResolvePath } from '../../setting.ts';
import { maxPemBytes, whyUnread } from './tls-files.ts';

/** Errors: what the file is in place of what was expected; never what is in it. */
export async function readCredentials(path: string, resolvePath: ResolvePath): Promise<Authenticator> {
  const { credsAuthenticator, nkeys } = await import('@nats-io/transport-node');
  const expected = `credentials.file: expected a file of credentials, got "${shownPath(path)}"`;
  let text: Buffer;
  try {
    text = await readRegularFile(resolvePath(path), maxPemBytes);
  } catch (error) {
    throw new Error(`${expected} (${whyUnread(error)})`);
  }
  try {
    const [, seed = ''] = /-BEGIN USER NKEY SEED-+\s+(\S+)\s+-+END/.exec(text.toString()) ?? [];
    nkeys.fromSeed(new TextEncoder().encode(seed));
    const authenticator = credsAuthenticator(text);
    authenticator('nonce');
    return authenticator;
  } catch {
    throw new Error(`${expected}, which has no JWT and seed of a user`);
  }
}
