// The certificate of HTTPS and its key, read from their files: one sentence for each thing that can be wrong with them. The
// library that serves them would say the same three words for all.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { HubError, messageOf } from '../../../model/error.ts';

/** Where the files are. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** What stands in them. */
export interface CertificateTexts {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate that clients can be shown. */
export interface Certificate {
  /** For whom it is: `DNS:hub.example, IP Address:10.0.0.7`. */
  readonly names: string;
  /** In milliseconds since 1970. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** A PEM file beyond this is none. */
export const maxPemBytes = 1024 * 1024;

const dayMs = 86_400_000;
/** How long before its end a certificate is warned of; who renews by itself has done so by then. */
export const noticeMs = 30 * dayMs;
const leastRsaBits = 2048;
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const keysWanted = `an RSA key of ${leastRsaBits} bits or more, an EC key on P-256, P-384 or P-521, or an Ed25519 key`;

/** Checks that the files hold a certificate and its key. Errors: `cannot-start`, with what is wrong in which file. */
export function checkCertificate(files: CertificateFiles, { certificate: text, key }: CertificateTexts): Certificate {
  const inCertificate = `tls.certFile: ${files.certFile}`;
  const inKey = `tls.keyFile: ${files.keyFile}`;
  const certificate = readCertificate(inCertificate, text);
  const privateKey = readKey(inKey, key);
  const kind = kindOf(privateKey);
  if (kind !== undefined) throw wrong(inKey, keysWanted, kind);
  if (!certificate.checkPrivateKey(privateKey))
    throw wrong(inKey, `the key of the certificate in ${files.certFile}`, 'that of another one');
  return {
    names: certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', '),
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
  };
}

/** Why clients will not take a certificate at a time; undefined while they do. */
export function whyInvalid(files: CertificateFiles, { validFrom, validTo }: Certificate, now: number) {
  const expected = `tls.certFile: ${files.certFile}: expected a certificate that is valid today`;
  if (now < validFrom) return `${expected}, got one that is valid from ${dateOf(validFrom)}`;
  if (now > validTo) return `${expected}, got one that has expired on ${dateOf(validTo)}`;
  return undefined;
}

/** What is to be told of a certificate that ends within 30 days, or has ended. */
export function noticeOf(files: CertificateFiles, { validTo }: Certificate, now: number): string | undefined {
  if (validTo - now > noticeMs || now > validTo) return undefined;
  const days = Math.floor((validTo - now) / dayMs);
  const when = days === 0 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`;
  return `tls.certFile: ${files.certFile}: the certificate expires ${when}, on ${dateOf(validTo)}`;
}

/** What the file system said of a file, as the sentence of a mistake. */
export function unreadable(setting: keyof CertificateFiles, file: string, error: unknown): HubError {
  if (error instanceof HubError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  return wrong(`tls.${setting}: ${file}`, 'a PEM file', reasons.get(code) ?? messageOf(error));
}

export function tooLarge(setting: keyof CertificateFiles, file: string, bytes: number): HubError {
  return wrong(`tls.${setting}: ${file}`, `a PEM file of at most ${maxPemBytes} bytes`, `one of ${bytes}`);
}

const reasons = new Map([
  ['ENOENT', 'no file'],
  ['ENOTDIR', 'no file'],
  ['EISDIR', 'a folder'],
  ['EACCES', 'one that the user of the hub may not read'],
  ['EPERM', 'one that the user of the hub may not read'],
]);

function readCertificate(where: string, text: string): X509Certificate {
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw wrong(where, 'a certificate in PEM form', contentOf(text));
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw wrong(where, 'a certificate in PEM form', `one that cannot be read (${messageOf(error)})`);
  }
}

function readKey(where: string, text: string): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw wrong(where, 'a private key in PEM form', contentOf(text));
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text))
    throw wrong(
      where,
      'a private key without a passphrase',
      'an encrypted one; "openssl pkey" takes the passphrase off',
    );
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw wrong(where, 'a private key in PEM form', `one that cannot be read (${messageOf(error)})`);
  }
}

/** What is wrong with the kind of a key; undefined: nothing. */
function kindOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  if (type === 'rsa') {
    const bits = details.modulusLength ?? 0;
    return bits < leastRsaBits ? `an RSA key of ${bits} bits` : undefined;
  }
  if (type === 'ec')
    return curves.includes(details.namedCurve ?? '') ? undefined : `an EC key on ${details.namedCurve}`;
  return type === 'ed25519' ? undefined : `a key of the kind ${type}`;
}

/** What stands in a file instead of what it should have. */
function contentOf(text: string): string {
  if (text.trim() === '') return 'an empty file';
  const [, label] = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text) ?? [];
  return label === undefined ? 'no PEM at all' : `"${label}"`;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function wrong(where: string, expected: string, got: string): HubError {
  return new HubError('cannot-start', `${where}: expected ${expected}, got ${got}`);
}
