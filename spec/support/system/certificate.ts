// Certificates that openssl makes, of localhost and 127.0.0.1, signed by themselves.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

export interface CertificateWish {
  /** What openssl is told about the key. */
  readonly key?: readonly string[];
  /** What openssl is told about the dates. */
  readonly dates?: readonly string[];
  /** The names that it is for: `DNS:localhost,IP:127.0.0.1`. */
  readonly names?: string;
}

/** Makes `<name>.crt` and `<name>.key` in a folder; returns the certificate. */
export function makeCertificate(
  folder: string,
  name: string,
  { key = ec, dates = ['-days', '90'], names = 'DNS:localhost,IP:127.0.0.1' }: CertificateWish = {},
): string {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', ['req', '-x509', ...key, '-nodes', ...dates, ...files, ...subject], { stdio: 'ignore' });
  return readFileSync(join(folder, `${name}.crt`), 'utf8');
}

const authority = `[ca]
default_ca = spec
[spec]
database = index.txt
serial = serial.txt
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
`;

/** Makes `<name>.crt` for the key of that name, valid between two times: `20200101000000Z`. */
export function dateCertificate(folder: string, name: string, from: string, to: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  writeFileSync(join(folder, 'authority.cnf'), authority);
  writeFileSync(join(folder, 'index.txt'), '');
  writeFileSync(join(folder, 'serial.txt'), '01\n');
  openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`);
  const dates = ['-startdate', from, '-enddate', to];
  const signing = ['-selfsign', '-keyfile', `${name}.key`, '-in', `${name}.csr`, '-out', `${name}.crt`, '-notext'];
  openssl('ca', '-batch', '-config', 'authority.cnf', ...dates, ...signing);
}
