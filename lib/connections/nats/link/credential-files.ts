// The files with which a hub authenticates to the servers: certificates, key and credentials. Each session reads the files again, so that
// renewed files take effect.

import { createSecureContext } from 'node:tls';
import type { Authenticator } from '@nats-io/transport-node';
import { decodeUtf8, readRegularFile } from '../../../files/regular-file.ts';
import { messageOf } from '../../../model/error.ts';
import { shownPath } from '../../../model/secret.ts';
import type { ResolvePath } from '../../setting.ts';
import type { NatsSettings } from '../settings.ts';

/** The maximum size of a PEM file or a credentials file, in bytes. */
const maxPemBytes = 1024 * 1024;

type Files = NonNullable<NatsSettings['tls']>;

/** The contents of the files; undefined for files that are not configured. */
interface TlsTexts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Reads the files. Errors: an error that names the invalid file and the expected content. */
export async function readTlsFiles(files: Files, resolvePath: ResolvePath): Promise<TlsTexts> {
  const read = async (setting: keyof Files) => {
    if (files[setting] === '') return undefined;
    try {
      return decodeUtf8(await readRegularFile(resolvePath(files[setting]), maxPemBytes));
    } catch (error) {
      throw new Error(`tls.${setting}: expected a PEM file, got "${shownPath(files[setting])}" (${whyUnread(error)})`);
    }
  };
  const [ca, cert, key] = await Promise.all([read('caFile'), read('certFile'), read('keyFile')]);
  check('caFile: expected certificates', { ca });
  check('certFile: expected a certificate', { cert });
  check('keyFile: expected a private key without a passphrase', { key });
  check('keyFile: expected the private key of the certificate', { cert, key });
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

/** Returns the reason why a file could not be read: the operating system's error message, or the kind of object at the path. */
function whyUnread(error: unknown): string {
  return messageOf((error as Error).cause ?? error);
}

function check(expected: string, texts: { [Name in keyof TlsTexts]: string | undefined }): void {
  const [beginning] = Object.values(texts);
  try {
    if (beginning !== undefined && !beginning.includes('-----BEGIN ')) throw new Error('no PEM block');
    createSecureContext(texts);
  } catch (error) {
    throw new Error(`tls.${expected} in PEM form, got a file that cannot be used (${messageOf(error)})`);
  }
}

/**
 * Reads a credentials file as written by `nsc`: a JWT that names the user, and the seed that proves the user's identity. Errors: an error
 * that names the kind of file but never contains its content.
 */
export async function readCredentials(path: string, resolvePath: ResolvePath): Promise<Authenticator> {
  const { credsAuthenticator, nkeys } = await import('@nats-io/transport-node');
  const expected = `credentials.file: expected a credentials file, got "${shownPath(path)}"`;
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
    throw new Error(`${expected}, which does not contain both a user JWT and a seed`);
  }
}
