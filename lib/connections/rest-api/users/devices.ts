// Devices have tokens of their own: browsers that somebody has signed in with, and kiosks that were invited by a link. Of a token only the
// digest is kept. With a file they outlive the hub.
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

/** When a device that comes again and again is noted again. */
export const noteMs = 3_600_000;
const browserMs = 30 * 24 * noteMs;
const longestName = 100;
const maxFileBytes = 16 * 1024 * 1024;

const recordSchema = z.object({
  id: z.string(),
  user: z.string(),
  kind: deviceKind,
  name: z.string(),
  digest: z.string(),
  /** The password of the user when a browser was signed in, as a digest: it ends with it. */
  credentials: z.string(),
  since: z.number(),
  seen: z.number(),
  /** What the clock of ages showed when it was seen; left out: an earlier version has written it. */
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
  /** Each user of the settings has at most so many browsers, and there are at most so many kiosks. */
  readonly #byDigest = new Map<string, Known>();
  readonly #links = new KioskLinks();
  /** How long ago devices were seen, whatever the clock shows. */
  #clock = new AgeClock(beginAge(Date.now()), readClocks());
  #saving: Promise<void> = Promise.resolve();
  #isDue = false;

  /** `file` is where they are kept; undefined: they end with the connection. `dismiss` closes the sockets of devices that end. */
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

  /** Who comes with a token; undefined: nobody has it, or nobody any more. */
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
    // If the clock is right, the hub was down for long. If not, the device comes in again once it is.
    if (device.kind === 'browser' && ages.claimedOf(seenAge) > browserMs) return undefined;
    if (ages.of(seenAge) > noteMs) {
      this.#saw(device);
      this.#save();
    }
    return this.#directory.signedInBy(account, device.id);
  }

  /**
   * Ends the browsers of a user that have not come for longest, until there is room for one more; returns whether it had to. Nobody else
   * loses anything.
   */
  makeRoom(user: string): boolean {
    const browsers = [...this.#byDigest.values()].filter((one) => one.user === user && one.kind === 'browser');
    const excess = browsers.length + 1 - limits.browsersPerUser.default;
    if (excess <= 0) return false;
    const seenAge = (one: Known) => one.seenAge ?? one.seen;
    for (const one of browsers.sort((one, other) => seenAge(one) - seenAge(other)).slice(0, excess)) this.#end(one);
    return true;
  }

  /** Gives a device of a user a token. Errors: `unauthorized` when there is no such user any more. */
  admit(user: string, kind: DeviceKind, name: string): string {
    const token = randomBytes(32).toString('base64url');
    const now = Date.now();
    const id = randomBytes(9).toString('base64url');
    const digest = digestOf(token);
    const credentials = this.#directory.account(user)?.passwordKey;
    if (credentials === undefined) throw notLetIn();
    const device: Known = { id, user, kind, name: shownOf(name), digest, credentials, since: now, seen: now };
    this.#saw(device);
    this.#byDigest.set(digest, device);
    this.#save();
    return token;
  }

  /** Makes the code of a link by which a device gets a token, once. Errors: `not-found`, `forbidden`, `conflict`. */
  invite(user: string, name: string, dashboard: string | undefined): string {
    const account = this.#directory.account(user);
    if (account === undefined) throw new HubError('not-found', `user: there is no "${user}"`);
    if (dashboard !== undefined && !account.rights.mayOpen(dashboard))
      throw new HubError(
        'forbidden',
        `dashboard: expected one that user "${user}" may open, got ${describe(dashboard)}`,
      );
    const kiosks = [...this.#byDigest.values()].filter(({ kind }) => kind === 'kiosk').length;
    if (kiosks + this.#links.list().length >= limits.kiosks.default)
      throw new LimitError('kiosks', 'conflict', `invite: expected at most ${limits.kiosks.default} kiosks`);
    return this.#links.add({ user, name: shownOf(name), dashboard });
  }

  /** What a code is good for; it is good for nothing from then on. */
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
   * Ends the device with an ID, and the links by which a device of that name was to come in; returns a text for each. Errors: `not-found`.
   */
  revoke(device: string): string[] {
    const known = this.#find(device);
    const links = this.#links.end(({ name }) => name === shownOf(device));
    if (known === undefined && links.length === 0)
      throw new HubError(
        'not-found',
        `device: there is none with the ID ${describe(device)}, nor a link to one of this name that nobody has opened yet`,
      );
    if (known !== undefined) this.#end(known);
    return [
      ...(known === undefined ? [] : [`${known.kind} "${known.name}" of ${known.user}`]),
      ...links.map(({ name, user }) => `link to kiosk "${name}" of ${user}`),
    ];
  }

  /** Ends the device with an ID, if there is one. */
  end(id: string): void {
    const known = this.#find(id);
    if (known !== undefined) this.#end(known);
  }

  /**
   * Ends those whose user is no more, links to them, and browsers whose user has another password. Returns who has to leave: those whose
   * device has ended may not return.
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

  /** Resolves when everything is in the file. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  #readClock(): AgeClock {
    this.#clock.read(readClocks());
    return this.#clock;
  }

  #saw(device: Known): void {
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
        this.#log.warn({}, `${file}: expected the devices that may come in, nobody is known: ${reasonOf(error)}`);
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
        const text = JSON.stringify(
          { age: this.#readClock().kept, devices: [...this.#byDigest.values()] },
          undefined,
          1,
        );
        await rm(`${file}.part`, { force: true }); // what else has the name, such as a pipe, is not written to
        await writeFile(`${file}.part`, text, { mode: 0o600, flag: 'wx', flush: true });
        await rename(`${file}.part`, file);
      } catch (error) {
        this.#log.warn({}, `${file}: the devices that may come in cannot be kept: ${messageOf(error)}`, 'devices');
      }
    });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof FileError) return `got ${error.message}`;
  return error instanceof SyntaxError ? 'it is no JSON' : messageOf(error); // whose words quote the file
}

/** A name as it is kept: no device has one that is longer. */
function shownOf(name: string): string {
  return name.slice(0, longestName);
}

// Links by which kiosks are let in, once. Of a code only the digest is kept. They end with the connection.

const linkMs = 24 * 3_600_000;

export interface Invitation {
  readonly user: string;
  readonly name: string;
  readonly dashboard: string | undefined;
  readonly until: number;
}

/** An invitation that nobody has used: when it ends, by a clock that nobody can set, and what the clock of the machine shows then. */
interface Waiting extends Omit<Invitation, 'until'> {
  readonly endsAtMs: number;
  readonly untilOf: () => number;
}

export class KioskLinks {
  readonly #goodMs: number;
  /** By the digest of the code, at most so many as may wait to be opened. */
  readonly #byDigest = new Map<string, Waiting>();

  /** `goodMs` is how long a link is good. */
  constructor(goodMs = linkMs) {
    this.#goodMs = goodMs;
  }

  /** Those that nobody has opened yet, the oldest first. */
  list(): Invitation[] {
    const now = performance.now();
    for (const [digest, { endsAtMs }] of this.#byDigest) if (endsAtMs < now) this.#byDigest.delete(digest);
    return [...this.#byDigest.values()].map(asInvitation);
  }

  /** Makes the code of a link. Errors: `conflict`. */
  add(invitation: Omit<Invitation, 'until'>): string {
    const most = limits.kioskLinks.default;
    if (this.list().length >= most)
      throw new LimitError(
        'kioskLinks',
        'conflict',
        `invite: expected at most ${most} links that nobody has opened yet`,
      );
    const code = randomBytes(16).toString('base64url');
    this.#byDigest.set(digestOf(code), {
      ...invitation,
      endsAtMs: performance.now() + this.#goodMs,
      untilOf: wallClock.pin(Date.now() + this.#goodMs),
    });
    return code;
  }

  /** What a code is good for; it is good for nothing from then on. */
  exchange(code: string): Invitation | undefined {
    const digest = digestOf(code);
    const invitation = this.#byDigest.get(digest);
    this.#byDigest.delete(digest);
    return invitation !== undefined && invitation.endsAtMs >= performance.now() ? asInvitation(invitation) : undefined;
  }

  /** Ends some of them; returns these. */
  end(isOver: (invitation: Invitation) => boolean): Invitation[] {
    const over = [...this.#byDigest].filter(([, invitation]) => isOver(asInvitation(invitation)));
    for (const [digest] of over) this.#byDigest.delete(digest);
    return over.map(([, invitation]) => asInvitation(invitation));
  }
}

function asInvitation({ endsAtMs, untilOf, ...invitation }: Waiting): Invitation {
  return { ...invitation, until: untilOf() };
}
