// Reads the files of a certificate and its key. It follows links, since programs that renew a certificate swap them.

import { stat } from 'node:fs/promises';
import { readRegularFileSync } from '../../../files/regular-file.ts';
import { type CertificateFiles, type CertificateTexts, maxPemBytes, unreadable } from './certificate.ts';

/** Reads both files. Errors: `cannot-start`, with the file. */
export function readTexts({ certFile, keyFile }: CertificateFiles): CertificateTexts {
  return { certificate: readPem('certFile', certFile), key: readPem('keyFile', keyFile) };
}

/** Resolves to a text that changes as soon as one of the files is replaced, written to, created or deleted. Never rejects. */
export async function stampOf({ certFile, keyFile }: CertificateFiles): Promise<string> {
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
