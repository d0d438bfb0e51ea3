// Checks the HTTPS certificate and its key. uWebSockets.js reports the same error in all cases; here, each error has its own message.
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { asFileError, nothing, readRegularFileSync } from '../../../files/regular-file.ts';
import { HubError, messageOf } from '../../../model/error.ts';
import { shownPath } from '../../../model/secret.ts';
import type { ConnectionEvent, Log } from '../../connection.ts';

/** The paths of a certificate and of its private key. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The PEM contents of the certificate file and of the key file. */
interface CertificateTexts {
  readonly certificate: string;
  readonly key: string;
}

/** A checked certificate that the hub can present to clients. */
interface Certificate {
  /** The names for which the certificate is valid: `DNS:hub.example, IP Address:10.0.0.7`. */
  readonly names: string;
  /** The beginning and end of the validity period, in milliseconds since 1970. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** The maximum size of a PEM file, in bytes. */
const maxPemBytes = 1024 * 1024;

const dayMs = 86_400_000;
/**
 * The time before a certificate expires from which the log warns about the expiry, in milliseconds. By then, programs that renew
 * certificates have already done so.
 */
const noticeMs = 30 * dayMs;
const leastRsaBits = 2048;
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const keysWanted = `an RSA key of ${leastRsaBits} bits or more, an EC key on P-256, P-384 or P-521, or an Ed25519 key`;

/** Checks that the two files contain a certificate and its private key. Errors: `cannot-start`, which names the file and its error. */
function checkCertificate(files: CertificateFiles, { certificate: text, key }: CertificateTexts): Certificate {
  const inCertificate = `tls.certFile: ${shownPath(files.certFile)}`;
  const inKey = `tls.keyFile: ${shownPath(files.keyFile)}`;
  const certificate = readCertificate(inCertificate, text);
  const privateKey = readKey(inKey, key);
  const kind = kindOf(privateKey);
  if (kind !== undefined) throw wrong(inKey, keysWanted, kind);
  if (!certificate.checkPrivateKey(privateKey))
    throw wrong(inKey, `the private key of the certificate in ${files.certFile}`, 'the key of another certificate');
  return {
    names: certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', '),
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
  };
}

/** Returns why the certificate is not valid at a given time (not yet valid, or expired), or undefined if it is valid. */
export function whyInvalid(files: CertificateFiles, { validFrom, validTo }: Certificate, now: number) {
  const expected = `tls.certFile: ${files.certFile}: expected a certificate that is valid today`;
  if (now < validFrom) return `${expected}, got one that is valid from ${dateOf(validFrom)}`;
  if (now > validTo) return `${expected}, got one that expired on ${dateOf(validTo)}`;
  return undefined;
}

/** Returns the warning about a certificate that expires within 30 days; undefined for any other certificate. */
export function noticeOf(files: CertificateFiles, { validTo }: Certificate, now: number): string | undefined {
  if (validTo - now > noticeMs || now > validTo) return undefined;
  const days = Math.floor((validTo - now) / dayMs);
  const when = days === 0 ? 'within a day' : days === 1 ? 'in 1 day' : `in ${days} days`;
  return `tls.certFile: ${files.certFile}: the certificate expires ${when}, on ${dateOf(validTo)}`;
}

/** Converts a file system error to the error `cannot-start`, which names the setting and the file. */
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
    throw wrong(where, 'a certificate in PEM form', `a file that cannot be used (${messageOf(error)})`);
  }
}

function readKey(where: string, text: string): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw wrong(where, 'a private key in PEM form', contentOf(text));
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text))
    throw wrong(where, 'a private key without a passphrase', 'an encrypted one; "openssl pkey" removes the passphrase');
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw wrong(where, 'a private key in PEM form', `a file that cannot be used (${messageOf(error)})`);
  }
}

/** Describes a key whose kind or length is not supported; returns undefined if the key is supported. */
function kindOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  if (type === 'rsa') {
    const bits = details.modulusLength ?? 0;
    return bits < leastRsaBits ? `an RSA key of ${bits} bits` : undefined;
  }
  if (type === 'ec')
    return curves.includes(details.namedCurve ?? '') ? undefined : `an EC key on ${details.namedCurve}`;
  return type === 'ed25519' ? undefined : `a key of type ${type}`;
}

/** Describes the content of a file that lacks the expected PEM block. */
function contentOf(text: string): string {
  if (text.trim() === '') return 'an empty file';
  const [, label] = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text) ?? [];
  return label === undefined ? 'no PEM block' : `"${label}"`;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function wrong(where: string, expected: string, got: string): HubError {
  return new HubError('cannot-start', `${where}: expected ${expected}, got ${got}`);
}

// Reads the files of a certificate and its key. Symbolic links are followed, because programs that renew a certificate replace such links.

/** Reads the certificate and the private key. Errors: `cannot-start`, which names the file. */
export function readTexts({ certFile, keyFile }: CertificateFiles): CertificateTexts {
  return { certificate: readPem('certFile', certFile), key: readPem('keyFile', keyFile) };
}

/**
 * Resolves to a string that changes as soon as the certificate file or the key file is replaced, written, created or deleted. Never
 * rejects.
 */
async function stampOf({ certFile, keyFile }: CertificateFiles): Promise<string> {
  return (await Promise.all([stampOfFile(certFile), stampOfFile(keyFile)])).join(' ');
}

async function stampOfFile(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(file);
    return [dev, ino, size, mtimeMs, ctimeMs].join(':');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

function readPem(setting: keyof CertificateFiles, file: string): string {
  try {
    return readRegularFileSync(file, maxPemBytes).toString();
  } catch (error) {
    throw unreadable(setting, file, error);
  }
}

// Renews the certificate when its files change. The hub presents the old certificate to new clients until the new certificate is complete
// and matches its key.

/** The interval at which the log repeats the warning about a certificate that is about to expire, in milliseconds. */
const noticeEveryMs = 86_400_000;

export class Renewal {
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #open: () => void;
  /** The certificate that the hub presents, and the digest of the files from which the certificate was loaded. */
  #certificate: Certificate;
  #digest: string;
  /** The error in the current files; undefined if there is no error. */
  #fault: string | undefined = undefined;
  #lastStamp: string | undefined = undefined;
  #noticedAt = Number.NEGATIVE_INFINITY;

  /** Loads the certificate from the files; `open` presents it to clients. Errors: `cannot-start`; any error from `open`. */
  constructor(files: CertificateFiles, log: Log, open: () => void) {
    this.#files = files;
    this.#log = log;
    this.#open = open;
    const { certificate, digest } = readNew(files, '')!;
    open();
    this.#certificate = certificate;
    this.#digest = digest;
    this.#notice();
  }

  /** Resolves to the current stamp of the files, for `take`. Never rejects. */
  stamp(): Promise<string> {
    return stampOf(this.#files);
  }

  /** Loads the certificate from the files if their stamp has changed, and returns the state of the entrance. */
  take(stamp: string): ConnectionEvent {
    if (stamp !== this.#lastStamp || this.#fault !== undefined)
      try {
        this.#takeFiles();
        this.#fault = undefined;
      } catch (error) {
        this.#fault = messageOf(error);
      }
    this.#lastStamp = stamp;
    this.#notice();
    return this.state();
  }

  /** Returns *degraded* while the files have an error, or while clients refuse the certificate because of its dates. */
  state(): ConnectionEvent {
    const reason = this.#fault ?? whyInvalid(this.#files, this.#certificate, Date.now());
    return reason === undefined ? { state: 'running' } : { state: 'degraded', reason };
  }

  #takeFiles(): void {
    const found = this.#readNew();
    if (found === undefined) return;
    this.#open();
    this.#certificate = found.certificate;
    this.#digest = found.digest;
    this.#noticedAt = Number.NEGATIVE_INFINITY;
    const { names, validTo } = found.certificate;
    const until = new Date(validTo).toISOString();
    this.#log.info({}, `tls: certificate renewed: ${names}, valid until ${until}`);
  }

  #readNew(): ReturnType<typeof readNew> {
    try {
      return readNew(this.#files, this.#digest);
    } catch (error) {
      throw new HubError('cannot-start', `${messageOf(error)}; the previous certificate remains in use`);
    }
  }

  #notice(): void {
    const text = noticeOf(this.#files, this.#certificate, Date.now());
    const nowMs = performance.now();
    if (text === undefined || nowMs - this.#noticedAt < noticeEveryMs) return;
    this.#noticedAt = nowMs;
    this.#log.warn({}, text);
  }
}

/** Reads and checks the files; returns undefined if `shown` is the digest of their contents. Errors: `cannot-start`. */
function readNew(files: CertificateFiles, shown: string): { certificate: Certificate; digest: string } | undefined {
  const texts = readTexts(files);
  const digest = createHash('sha256').update(`${texts.certificate}\n${texts.key}`).digest('base64');
  return digest === shown ? undefined : { digest, certificate: checkCertificate(files, texts) };
}
