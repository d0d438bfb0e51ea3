// Passwords as texts that do not tell them: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, the PHC string format, with scrypt (RFC 7914).

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { describe } from '../../../model/error.ts';
import { PasswordQueue } from './password-queue.ts';

/** What a password costs whoever guesses: about 0.2 s, and 32 MB. */
const usual = { ln: 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;
/** What a text may ask for. */
const mostMemoryBytes = 256 * 1024 * 1024;

const phc = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z\d+/]{11,86})\$([A-Za-z\d+/]{22,86})$/;

interface Scrypt {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const derive = promisify(
  (password: string, salt: Buffer, length: number, options: object, done: (error: Error | null, key: Buffer) => void) =>
    scrypt(password.normalize('NFC'), salt, length, options, done),
);

/** Makes the text of a password. */
export async function makePasswordText(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await hashOf(password, { ...usual, salt, hash: Buffer.alloc(hashBytes) });
  return `$scrypt$ln=${usual.ln},r=${usual.r},p=${usual.p}$${base64(salt)}$${base64(hash)}`;
}

/** Reads the setting of a password: one that is no such text is the password itself. */
export function readPasswordText(text: string): { readonly scrypt?: Scrypt; readonly mistake?: string } {
  if (text === '') return { mistake: 'expected a password, or what "patchbay password" prints, got "" (string)' };
  if (!text.startsWith('$scrypt$')) return {};
  const expected = 'expected what "patchbay password" prints, $scrypt$ln=15,r=8,p=3$<salt>$<hash>';
  const [, ln, r, p, salt = '', hash = ''] = phc.exec(text) ?? [];
  if (ln === undefined) return { mistake: `${expected}, got ${describe(text.slice(0, 24))}` };
  const read = {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
  const isPossible = read.ln >= 1 && read.r >= 1 && read.p >= 1 && memoryOf(read) <= mostMemoryBytes;
  if (!isPossible)
    return { mistake: `${expected} of at most ${mostMemoryBytes / 1024 / 1024} MB, got ln=${ln},r=${r},p=${p}` };
  return { scrypt: read };
}

/** Of all REST API connections. */
const queue = new PasswordQueue();

/** Whether a password, which comes from a network, is that of a text. Errors: `unavailable` when too many are being compared. */
export function isPassword(password: string, wanted: Scrypt, network: string): Promise<boolean> {
  return queue.add(network, async () => timingSafeEqual(await hashOf(password, wanted), wanted.hash));
}

function hashOf(password: string, { ln, r, p, salt, hash }: Scrypt): Promise<Buffer> {
  const options = { N: 2 ** ln, r, p, maxmem: 2 * mostMemoryBytes };
  return derive(password, salt, hash.length, options);
}

function memoryOf({ ln, r, p }: Pick<Scrypt, 'ln' | 'r' | 'p'>): number {
  return 128 * r * (2 ** ln + p);
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
