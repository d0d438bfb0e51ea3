// Checks the certificate of HTTPS and its key. Each thing that can be wrong with them has a sentence of its own; the library that
// serves them says the same three words for everything.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { asFileError, nothing } from '../../../files/regular-file.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import { shownPath } from '../../../model/secret.ts';

/** The paths of the two files. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The contents of the two files. */
export interface CertificateTexts {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate that the hub can show to clients. */
export interface Certificate {
  /** The names that it is for: `DNS:hub.example, IP Address:10.0.0.7`. */
  readonly names: string;
  /** In milliseconds since 1970. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** A longer file is no PEM file. */
export const maxPemBytes = 1024 * 1024;

const dayMs = 86_400_000;
/** The log warns of a certificate so long before its end. Programs that renew certificates have done so by then. */
const noticeMs = 30 * dayMs;
const leastRsaBits = 2048;
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const keysWanted = `an RSA key of ${leastRsaBits} bits or more, an EC key on P-256, P-384 or P-521, or an Ed25519 key`;

/** Checks that the files have a certificate and its key. Errors: `cannot-start`, with the file and what is wrong in it. */
export function checkCertificate(files: CertificateFiles, { certificate: text, key }: CertificateTexts): Certificate {
  const inCertificate = `tls.certFile: ${shownPath(files.certFile)}`;
  const inKey = `tls.keyFile: ${shownPath(files.keyFile)}`;
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

/** Why clients refuse a certificate at a time; undefined: they accept it. */
export function whyInvalid(files: CertificateFiles, { validFrom, validTo }: Certificate, now: number) {
  const expected = `tls.certFile: ${files.certFile}: expected a certificate that is valid today`;
  if (now < validFrom) return `${expected}, got one that is valid from ${dateOf(validFrom)}`;
  if (now > validTo) return `${expected}, got one that has expired on ${dateOf(validTo)}`;
  return undefined;
}

/** What the log says of a certificate that expires within 30 days; undefined: nothing. */
export function noticeOf(files: CertificateFiles, { validTo }: Certificate, now: number): string | undefined {
  if (validTo - now > noticeMs || now > validTo) return undefined;
  const days = Math.floor((validTo - now) / dayMs);
  const when = days === 0 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`;
  return `tls.certFile: ${files.certFile}: the certificate expires ${when}, on ${dateOf(validTo)}`;
}

/** An error of the file system as the sentence of a mistake. */
export function unreadable(setting: keyof CertificateFiles, file: string, error: unknown): HubError {
  const { message, bytes } = asFileError(error);
  if (bytes !== undefined)
    return wrong(`tls.${setting}: ${shownPath(file)}`, `a PEM file of at most ${maxPemBytes} bytes`, `one of ${bytes}`);
  return wrong(`tls.${setting}: ${shownPath(file)}`, 'a PEM file', message === nothing ? 'no file' : message);
}

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

/** What a key is that is not of a good kind; undefined: it is. */
function kindOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  if (type === 'rsa') {
    const bits = details.modulusLength ?? 0;
    return bits < leastRsaBits ? `an RSA key of ${bits} bits` : undefined;
  }
  if (type === 'ec')
    return curves.includes(details.namedCurve ?? '') ? undefined : `an EC key on ${details.namedCurve}`;
  return type === 'ed25519' ? undefined : `a key of the kind ${type}`;
}

/** What a file has instead of what it should have. */
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
