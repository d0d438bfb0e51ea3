// Devices have tokens of their own: browsers that somebody has signed in with, and kiosks that were invited by a link. Of a token only the
// digest is kept. With a file they outlive the hub.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { HubError, messageOf } from '../../../model/error.ts';
import { type Device, type DeviceKind, deviceKinds } from '../../../wire/http/operation/users.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { Log } from '../../connection.ts';
import { digestOf } from './accounts.ts';
import type { Departure, Directory } from './directory.ts';
import type { Guest } from './visitor.ts';

/** When a device that comes again and again is noted again. */
export const noteMs = 3_600_000;
const browserMs = 30 * 24 * noteMs;
const linkMs = 24 * noteMs;
const maxDevices = 10_000;
const maxLinks = 1000;
const longestName = 100;

const recordSchema = z.object({
  id: z.string(),
  user: z.string(),
  kind: z.enum(deviceKinds),
  name: z.string(),
  digest: z.string(),
  /** The credentials of the user when a browser was signed in: it ends with them. */
  credentials: z.string(),
  since: z.number(),
  seen: z.number(),
});
type Known = z.output<typeof recordSchema>;

export interface Invitation {
  readonly user: string;
  readonly name: string;
  readonly dashboard: string | undefined;
  readonly until: number;
}

export class Devices {
  readonly #directory: Directory;
  readonly #file: string | undefined;
  readonly #log: Log;
  readonly #byDigest = new Map<string, Known>();
  /** By the digest of the code. */
  readonly #links = new Map<string, Invitation>();
  #saving: Promise<void> = Promise.resolve();
  #isDue = false;

  /** `file` is where they are kept; undefined: they end with the connection. */
  constructor(directory: Directory, file: string | undefined, log: Log) {
    this.#directory = directory;
    this.#file = file;
    this.#log = log;
    if (file !== undefined) this.#load(file);
    this.adopt();
  }

  /** Who comes with a token; undefined: nobody has it, or nobody any more. */
  find(token: string): Guest | undefined {
    const device = this.#byDigest.get(digestOf(token));
    const account = device && this.#directory.account(device.user);
    if (device === undefined || account === undefined) return undefined;
    const now = Date.now();
    if (device.kind === 'browser' && now - device.seen > browserMs) {
      this.end(device.id);
      return undefined;
    }
    if (now - device.seen > noteMs) {
      device.seen = now;
      this.#save();
    }
    return this.#directory.guestOf(account, device.id);
  }

  /** Gives a device of a user a token. */
  admit(user: string, kind: DeviceKind, name: string): string {
    const token = randomBytes(32).toString('base64url');
    const now = Date.now();
    const id = randomBytes(9).toString('base64url');
    const digest = digestOf(token);
    const credentials = this.#directory.account(user)!.credentialsKey;
    if (this.#byDigest.size >= maxDevices) this.#endOldest();
    const shown = name.slice(0, longestName);
    this.#byDigest.set(digest, { id, user, kind, name: shown, digest, credentials, since: now, seen: now });
    this.#save();
    return token;
  }

  /** Makes the code of a link by which a device gets a token, once. Errors: `not-found`, `conflict`. */
  invite(user: string, name: string, dashboard: string | undefined): string {
    if (this.#directory.account(user) === undefined) throw new HubError('not-found', `user: there is no "${user}"`);
    const now = Date.now();
    for (const [digest, { until }] of this.#links) if (until < now) this.#links.delete(digest);
    if (this.#links.size >= maxLinks)
      throw new HubError('conflict', `invite: expected at most ${maxLinks} links that nobody has opened yet`);
    const code = randomBytes(16).toString('base64url');
    this.#links.set(digestOf(code), { user, name, dashboard, until: now + linkMs });
    return code;
  }

  /** What a code is good for; it is good for nothing from then on. */
  exchange(code: string): Invitation | undefined {
    const digest = digestOf(code);
    const invitation = this.#links.get(digest);
    this.#links.delete(digest);
    return invitation !== undefined && invitation.until >= Date.now() ? invitation : undefined;
  }

  list(): Device[] {
    return [...this.#byDigest.values()].map(({ id, user, kind, name, since, seen }) => ({
      ...{ id, user, kind, name },
      since: toIsoTime(since),
      seen: toIsoTime(seen),
    }));
  }

  /** Errors: `not-found`. */
  named(id: string): Pick<Known, 'user' | 'kind' | 'name' | 'digest'> {
    const device = [...this.#byDigest.values()].find((one) => one.id === id);
    if (device === undefined) throw new HubError('not-found', `device: there is none with the ID "${id}"`);
    return device;
  }

  /** Ends a device; returns who has to leave. Errors: `not-found`. */
  end(id: string): Departure[] {
    const device = this.named(id);
    this.#byDigest.delete(device.digest);
    this.#save();
    const guest = this.#directory.endDevice(device.user, id);
    return guest === undefined ? [] : [{ guest, mayReturn: false }];
  }

  /** Ends those whose user is no more, and browsers whose user has other credentials. */
  adopt(): void {
    for (const { digest, user, kind, credentials } of [...this.#byDigest.values()]) {
      const account = this.#directory.account(user);
      const isOver = account === undefined || (kind === 'browser' && account.credentialsKey !== credentials);
      if (isOver && this.#byDigest.delete(digest)) this.#save();
    }
  }

  /** Resolves when everything is in the file. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  #endOldest(): void {
    const [oldest] = [...this.#byDigest.values()].sort((one, other) => one.seen - other.seen);
    this.#byDigest.delete(oldest!.digest);
    this.#directory.endDevice(oldest!.user, oldest!.id);
  }

  #load(file: string): void {
    try {
      const { devices } = z.object({ devices: z.array(recordSchema) }).parse(JSON.parse(readFileSync(file, 'utf8')));
      for (const device of devices) this.#byDigest.set(device.digest, device);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#log.warn({}, `${file}: expected the devices that may come in, nobody is known: ${messageOf(error)}`);
    }
  }

  /** Writes all that has changed until its turn comes, to a file that nobody else may read. */
  #save(): void {
    const file = this.#file;
    if (file === undefined || this.#isDue) return;
    this.#isDue = true;
    this.#saving = this.#saving.then(async () => {
      this.#isDue = false;
      try {
        const text = JSON.stringify({ devices: [...this.#byDigest.values()] }, undefined, 1);
        await writeFile(`${file}.part`, text, { mode: 0o600, flush: true });
        await rename(`${file}.part`, file);
      } catch (error) {
        this.#log.warn({}, `${file}: the devices that may come in cannot be kept: ${messageOf(error)}`, 'devices');
      }
    });
  }
}
