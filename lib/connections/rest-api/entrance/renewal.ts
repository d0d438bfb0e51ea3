// Renews the certificate when its files change. Clients are shown the new one once it is whole and its key fits, and the old one until
// then.

import { createHash } from 'node:crypto';
import { HubError, messageOf } from '../../../model/error.ts';
import type { ConnectionEvent, Log } from '../../connection.ts';
import { type Certificate, type CertificateFiles, checkCertificate, noticeOf, whyInvalid } from './certificate.ts';
import { readTexts, stampOf } from './certificate-files.ts';

/** How often the log warns of a certificate that is about to expire. */
const noticeEveryMs = 86_400_000;

export class Renewal {
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #open: () => void;
  /** What clients are shown, and the digest of its files. */
  #certificate: Certificate;
  #digest: string;
  /** Why the files make no sense; undefined: they do. */
  #fault: string | undefined = undefined;
  #lastStamp: string | undefined = undefined;
  #noticedAt = Number.NEGATIVE_INFINITY;

  /** Takes the certificate of the files; `open` shows it to clients. Errors: `cannot-start`, and those of `open`. */
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

  /** Resolves to what `take` needs. Never rejects. */
  stamp(): Promise<string> {
    return stampOf(this.#files);
  }

  /** Takes the certificate of the files if it has changed, and tells how things are. */
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

  /** Degraded while the files make no sense, and while clients refuse the certificate because of its dates. */
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
    this.#log.info({}, `tls: new clients are shown the new certificate, of ${names}, until ${until}`);
  }

  #readNew(): ReturnType<typeof readNew> {
    try {
      return readNew(this.#files, this.#digest);
    } catch (error) {
      throw new HubError('cannot-start', `${messageOf(error)}; clients are shown the certificate before`);
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

/** Reads and checks the files; undefined: their digest is still `shown`. Errors: `cannot-start`. */
function readNew(files: CertificateFiles, shown: string): { certificate: Certificate; digest: string } | undefined {
  const texts = readTexts(files);
  const digest = createHash('sha256').update(`${texts.certificate}\n${texts.key}`).digest('base64');
  return digest === shown ? undefined : { digest, certificate: checkCertificate(files, texts) };
}
