// Devices with separate tokens: browsers in which a user has signed in, and kiosks invited by a link. The hub stores only the digest of
// each token. With a file, devices survive a restart of the hub.
import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { FileError, readRegularFileSync } from '../../../files/regular-file.ts';
import { describe, HubError, messageOf } from '../../../model/error.ts';
import { AgeClock, beginAge, readClocks } from '../../../model/time/age-clock.ts';
import { wallClock } from '../../../model/time/wall-clock.ts';
import { type DeviceKind, type DeviceList, deviceKind } from '../../../wire/http/user-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { Log } from '../../connection.ts';
import { limits } from '../limits/client-limits.ts';
import { LimitError } from '../limits/limit-hits.ts';
import { digestOf } from './accounts.ts';
import type { Departure, Directory } from './directory.ts';
import type { SignedInUser } from './principal.ts';
import { notLetIn } from './view.ts';

/** The interval at which a device's last visit is recorded, in milliseconds. */
export const noteMs = 3_600_000;
const browserMs = 30 * 24 * noteMs;
const longestName = 100;
const maxFileBytes = 16 * 1024 * 1024;

const recordSchema = z.object({
  id: z.string(),
  user: z.string(),
  kind: deviceKind,
  name: z.string(),
  /** The dashboard to which a kiosk is restricted in the console; undefined if the kiosk may open all views. */
  dashboard: z.string().optional(),
  digest: z.string(),
  /** A digest of the user's password at the time when a browser signed in. If the password changes, the device is signed out. */
  credentials: z.string(),
  since: z.number(),
  seen: z.number(),
  /** The reading of the age clock at the last visit, in milliseconds; undefined if an earlier version wrote the record. */
  seenAge: z.number().optional(),
});
type Known = z.output<typeof recordSchema>;

const pauseSchema = z.object({ at: z.number(), claimedMs: z.number(), countedMs: z.number() });
const fileSchema = z.object({
  age: z.object({ ran: z.number(), wall: z.number(), pauses: z.array(pauseSchema) }).optional(),
  devices: z.array(recordSchema),
});

export class Devices {
  readonly #directory: Directory;
  readonly #file: string | undefined;
  readonly #log: Log;
  readonly #dismiss: (departures: readonly Departure[]) => void;
  /**
   * The devices, keyed by the digest of their token. Their number is bounded by the maximum number of browsers per user, and by the maximum
   * number of kiosks.
   */
  readonly #byDigest = new Map<string, Known>();
  readonly #links = new KioskLinks();
  /** Measures how long ago devices were last seen, independently of the system clock. */
  #clock = new AgeClock(beginAge(Date.now()), readClocks());
  #saving: Promise<void> = Promise.resolve();
  #isDue = false;

  /**
   * `file` stores the devices; if `file` is undefined, the devices are lost when the connection stops. `dismiss` closes the sockets of
   * devices that are signed out.
   */
  constructor(
    directory: Directory,
    file: string | undefined,
    log: Log,
    dismiss: (departures: readonly Departure[]) => void,
  ) {
    this.#directory = directory;
    this.#file = file;
    this.#log = log;
    this.#dismiss = dismiss;
    if (file !== undefined) this.#load(file);
    this.adopt([]);
  }

  /** Returns the user to whose device a token belongs; undefined if the token does not belong to a device, or no longer does. */
  find(token: string): SignedInUser | undefined {
    const device = this.#byDigest.get(digestOf(token));
    const account = device && this.#directory.account(device.user);
    if (device === undefined || account === undefined) return undefined;
    const { ages } = this.#readClock();
    const seenAge = device.seenAge ?? device.seen;
    if (device.kind === 'browser' && ages.of(seenAge) > browserMs) {
      this.#end(device);
      return undefined;
    }
    // If the system clock is right, the hub was down for a long time. Otherwise, the device is accepted again once the clock is right.
    if (device.kind === 'browser' && ages.claimedOf(seenAge) > browserMs) return undefined;
    if (ages.of(seenAge) > noteMs) {
      this.#noteVisit(device);
      this.#save();
    }
    return this.#directory.signedInBy(account, device.id);
  }

  /**
   * Signs out the least recently used browsers of a user until there is space for another browser; returns whether any browser was signed
   * out.
   */
  makeRoom(user: string): boolean {
    const browsers = [...this.#byDigest.values()].filter((one) => one.user === user && one.kind === 'browser');
    const excess = browsers.length + 1 - limits.browsersPerUser.default;
    if (excess <= 0) return false;
    const seenAge = (one: Known) => one.seenAge ?? one.seen;
    for (const one of browsers.sort((one, other) => seenAge(one) - seenAge(other)).slice(0, excess)) this.#end(one);
    return true;
  }

  /** Adds a device for a user, and returns its token. Errors: `unauthorized` if the user no longer exists. */
  admit(user: string, kind: DeviceKind, name: string, dashboard?: string): string {
    const token = randomBytes(32).toString('base64url');
    const now = Date.now();
    const id = randomBytes(9).toString('base64url');
    const digest = digestOf(token);
    const credentials = this.#directory.account(user)?.passwordKey;
    if (credentials === undefined) throw notLetIn();
    const about = { id, user, kind, name: shownOf(name), ...(dashboard !== undefined && { dashboard }) };
    const device: Known = { ...about, digest, credentials, since: now, seen: now };
    this.#noteVisit(device);
    this.#byDigest.set(digest, device);
    this.#save();
    return token;
  }

  /** Creates a kiosk link for a user, and returns its code, which works once. Errors: `not-found`, `forbidden`, `conflict`. */
  invite(user: string, name: string, dashboard: string | undefined): string {
    const account = this.#directory.account(user);
    if (account === undefined) throw new HubError('not-found', `user: expected the name of a user, got "${user}"`);
    if (dashboard !== undefined && !account.rights.mayOpen(dashboard))
      throw new HubError(
        'forbidden',
        `dashboard: expected a dashboard that user "${user}" may open, got ${describe(dashboard)}`,
      );
    const kiosks = [...this.#byDigest.values()].filter(({ kind }) => kind === 'kiosk').length;
    if (kiosks + this.#links.list().length >= limits.kiosks.default)
      throw new LimitError('kiosks', 'conflict', `invite: expected at most ${limits.kiosks.default} kiosks, got more`);
    return this.#links.add({ user, name: shownOf(name), dashboard });
  }

  /** Returns the invitation that belongs to the code in a kiosk link, which works only once; undefined if the code is not valid. */
  exchange(code: string): Invitation | undefined {
    return this.#links.exchange(code);
  }

  list(): DeviceList {
    const devices = [...this.#byDigest.values()].map(({ id, user, kind, name, since, seen }) => ({
      ...{ id, user, kind, name },
      since: toIsoTime(since),
      seen: toIsoTime(seen),
    }));
    const kioskLinks = this.#links.list().map(({ until, ...link }) => ({ ...link, until: toIsoTime(until) }));
    return { devices, kioskLinks };
  }

  /**
   * Signs out the device with this ID, and revokes the links for a device with this name. Returns descriptions of the removed device and
   * links. Errors: `not-found`.
   */
  revoke(device: string): string[] {
    const known = this.#find(device);
    const links = this.#links.end(({ name }) => name === shownOf(device));
    if (known === undefined && links.length === 0)
      throw new HubError(
        'not-found',
        `device: no device has the ID ${describe(device)}, and no unopened link has this name`,
      );
    if (known !== undefined) this.#end(known);
    return [
      ...(known === undefined ? [] : [`${known.kind} "${known.name}" of ${known.user}`]),
      ...links.map(({ name, user }) => `link to kiosk "${name}" of ${user}`),
    ];
  }

  /**
   * Returns the dashboard to which a kiosk is restricted; undefined if the device is not a kiosk, or is a kiosk that may open all views.
   */
  dashboardOf(id: string): string | undefined {
    return this.#find(id)?.dashboard;
  }

  /** Signs out the device with this ID, if there is such a device. */
  end(id: string): void {
    const known = this.#find(id);
    if (known !== undefined) this.#end(known);
  }

  /**
   * Removes devices and links of removed users, and browsers of users whose password has changed. Returns the principals that lose access:
   * if their device was removed, they may not return.
   */
  adopt(departures: readonly Departure[]): Departure[] {
    const ended = new Set<string | undefined>();
    for (const { id, digest, user, kind, credentials } of [...this.#byDigest.values()]) {
      const account = this.#directory.account(user);
      if (account !== undefined && (kind === 'kiosk' || account.passwordKey === credentials)) continue;
      this.#byDigest.delete(digest);
      ended.add(id);
    }
    if (ended.size > 0) this.#save();
    this.#links.end(({ user }) => this.#directory.account(user) === undefined);
    return departures.map(({ signedIn, mayReturn }) => ({
      signedIn,
      mayReturn: mayReturn && !ended.has(signedIn.device),
    }));
  }

  /** Resolves when all changes have been written to the file. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  #readClock(): AgeClock {
    this.#clock.read(readClocks());
    return this.#clock;
  }

  #noteVisit(device: Known): void {
    device.seen = Date.now();
    device.seenAge = this.#readClock().kept.ran;
  }

  #find(id: string): Known | undefined {
    return [...this.#byDigest.values()].find((one) => one.id === id);
  }

  #end({ digest, user, id }: Known): void {
    this.#byDigest.delete(digest);
    this.#save();
    const signedIn = this.#directory.endDevice(user, id);
    if (signedIn !== undefined) this.#dismiss([{ signedIn, mayReturn: false }]);
  }

  #load(file: string): void {
    try {
      const text = readRegularFileSync(file, maxFileBytes).toString();
      const { devices, age } = fileSchema.parse(JSON.parse(text));
      for (const device of devices) this.#byDigest.set(device.digest, device);
      const lastSeen = Math.max(...devices.map(({ seen }) => seen));
      this.#clock = new AgeClock(age ?? beginAge(Number.isFinite(lastSeen) ? lastSeen : Date.now()), readClocks());
    } catch (error) {
      if ((error as FileError).code !== 'ENOENT')
        this.#log.warn(
          {},
          `${file}: cannot read the list of signed-in devices, so nobody is signed in: ${reasonOf(error)}`,
        );
    }
  }

  /**
   * Writes the devices to the file, which no other user of the machine may read. Changes that are made before the write begins are
   * included.
   */
  #save(): void {
    const file = this.#file;
    if (file === undefined || this.#isDue) return;
    this.#isDue = true;
    this.#saving = this.#saving.then(async () => {
      this.#isDue = false;
      try {
        const text = JSON.stringify(
          { age: this.#readClock().kept, devices: [...this.#byDigest.values()] },
          undefined,
          1,
        );
        await rm(`${file}.part`, { force: true }); // nothing else with this name, such as a pipe, may be written to
        await writeFile(`${file}.part`, text, { mode: 0o600, flag: 'wx', flush: true });
        await rename(`${file}.part`, file);
      } catch (error) {
        this.#log.warn({}, `${file}: cannot save the signed-in devices: ${messageOf(error)}`, 'devices');
      }
    });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof FileError) return `got ${error.message}`;
  return error instanceof SyntaxError ? 'it is not JSON' : messageOf(error); // a message from the JSON parser would quote the file
}

/** Shortens the name of a device to the maximum stored length. */
function shownOf(name: string): string {
  return name.slice(0, longestName);
}

// Links with which kiosks sign in once. The hub stores only the digest of each code. Links are lost when the connection stops.

const linkMs = 24 * 3_600_000;

export interface Invitation {
  readonly user: string;
  readonly name: string;
  readonly dashboard: string | undefined;
  readonly until: number;
}

/** An unused invitation. It expires according to the monotonic clock (`endsAtMs`); `untilOf` returns the expiry on the system clock. */
interface Waiting extends Omit<Invitation, 'until'> {
  readonly endsAtMs: number;
  readonly untilOf: () => number;
}

export class KioskLinks {
  readonly #goodMs: number;
  /** The unopened links, keyed by the digest of their code. Their number is bounded by the limit `kioskLinks`. */
  readonly #byDigest = new Map<string, Waiting>();

  /** `goodMs` is the time for which a link is valid, in milliseconds. */
  constructor(goodMs = linkMs) {
    this.#goodMs = goodMs;
  }

  /** Returns the unopened links, oldest first. */
  list(): Invitation[] {
    const now = performance.now();
    for (const [digest, { endsAtMs }] of this.#byDigest) if (endsAtMs < now) this.#byDigest.delete(digest);
    return [...this.#byDigest.values()].map(asInvitation);
  }

  /** Creates a link, and returns its code. Errors: `conflict` if there are too many links. */
  add(invitation: Omit<Invitation, 'until'>): string {
    const most = limits.kioskLinks.default;
    if (this.list().length >= most)
      throw new LimitError('kioskLinks', 'conflict', `invite: expected at most ${most} unopened links, got more`);
    const code = randomBytes(16).toString('base64url');
    this.#byDigest.set(digestOf(code), {
      ...invitation,
      endsAtMs: performance.now() + this.#goodMs,
      untilOf: wallClock.pin(Date.now() + this.#goodMs),
    });
    return code;
  }

  /** Returns the invitation that belongs to a code, which works only once; undefined if the code is not valid or has expired. */
  exchange(code: string): Invitation | undefined {
    const digest = digestOf(code);
    const invitation = this.#byDigest.get(digest);
    this.#byDigest.delete(digest);
    return invitation !== undefined && invitation.endsAtMs >= performance.now() ? asInvitation(invitation) : undefined;
  }

  /** Revokes the links for which `isOver` returns true, and returns their invitations. */
  end(isOver: (invitation: Invitation) => boolean): Invitation[] {
    const over = [...this.#byDigest].filter(([, invitation]) => isOver(asInvitation(invitation)));
    for (const [digest] of over) this.#byDigest.delete(digest);
    return over.map(([, invitation]) => asInvitation(invitation));
  }
}

function asInvitation({ endsAtMs, untilOf, ...invitation }: Waiting): Invitation {
  return { ...invitation, until: untilOf() };
}
