// Renews the certificate when its files change. Clients are shown the new one once it is whole and its key fits, and the old one until
// then.

import { createHash } from 'node:crypto';
import { HubError, messageOf } from '../../../model/error.ts';
import type { ConnectionEvent, Log } from '../../connection.ts';
import { type Certificate, type CertificateFiles, checkCertificate, noticeOf, whyInvalid } from './certificate.ts';
import { readTexts, stampOf } from './certificate-files.ts';

/** How often the log warns of a certificate that is about to expire. */
const noticeEveryMs = 86_400_000;

export interface Renewal {
  /** Resolves to what `take` needs. Never rejects. */
  stamp(): Promise<string>;
  /** Takes the certificate of the files if it has changed, and tells how things are. */
  take(stamp: string): ConnectionEvent;
  /** Degraded while the files make no sense, and while clients refuse the certificate because of its dates. */
  state(): ConnectionEvent;
}

/** Takes the certificate of the files; `open` shows it to clients. Errors: `cannot-start`, and those of `open`. */
export function startRenewal(files: CertificateFiles, log: Log, open: () => void): Renewal {
  let certificate!: Certificate;
  let digest = '';
  let fault: string | undefined;
  let lastStamp: string | undefined;
  let noticedAt = Number.NEGATIVE_INFINITY;

  /** Returns what the files have; undefined: clients are shown that already. */
  const read = () => {
    const texts = readTexts(files);
    const next = createHash('sha256').update(`${texts.certificate}\n${texts.key}`).digest('base64');
    return next === digest ? undefined : { digest: next, certificate: checkCertificate(files, texts) };
  };
  const show = (found: NonNullable<ReturnType<typeof read>>) => {
    open();
    ({ digest, certificate } = found);
    noticedAt = Number.NEGATIVE_INFINITY;
  };
  const takeFiles = () => {
    let found: ReturnType<typeof read>;
    try {
      found = read();
    } catch (error) {
      throw new HubError('cannot-start', `${messageOf(error)}; clients are shown the certificate before`);
    }
    if (found === undefined) return;
    show(found);
    const { names, validTo } = certificate;
    log.info(
      {},
      `tls: new clients are shown the new certificate, of ${names}, until ${new Date(validTo).toISOString()}`,
    );
  };
  const notice = () => {
    const now = Date.now();
    const text = noticeOf(files, certificate, now);
    if (text === undefined || now - noticedAt < noticeEveryMs) return;
    noticedAt = now;
    log.warn({}, text);
  };
  const state = (): ConnectionEvent => {
    const invalid = whyInvalid(files, certificate, Date.now());
    if (fault !== undefined) return { state: 'degraded', reason: fault };
    return invalid === undefined ? { state: 'running' } : { state: 'degraded', reason: invalid };
  };

  show(read()!);
  notice();
  return {
    stamp: () => stampOf(files),
    take(stamp) {
      if (stamp !== lastStamp || fault !== undefined)
        try {
          takeFiles();
          fault = undefined;
        } catch (error) {
          fault = messageOf(error);
        }
      lastStamp = stamp;
      notice();
      return state();
    },
    state,
  };
}
