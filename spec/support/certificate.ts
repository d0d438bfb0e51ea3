// Certificates that openssl makes, of localhost and 127.0.0.1, signed by themselves.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

export interface CertificateWish {
  /** What openssl is told about the key. */
  readonly key?: readonly string[];
  /** What openssl is told about the dates. */
  readonly dates?: readonly string[];
}

/** Makes `<name>.crt` and `<name>.key` in a folder; returns the certificate. */
export function makeCertificate(
  folder: string,
  name: string,
  { key = ec, dates = ['-days', '90'] }: CertificateWish = {},
): string {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...key, '-nodes', ...dates, ...files, ...subject], { stdio: 'ignore' });
  return readFileSync(join(folder, `${name}.crt`), 'utf8');
}
