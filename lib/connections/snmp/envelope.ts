// The envelope of messages to and from a device: none in tests, a community in version 2c, and in version 3 a user's session with the
// device's engine, which includes the discovery of the engine and its clock (RFC 3414, 4).

import { type Item, readFirst, readInteger, universal, Writer } from '../../device/ber.ts';
import { decodePdu, type Pdu, verbs } from './message.ts';
import {
  after,
  contentOf,
  EngineClock,
  isAuthentic,
  levelOf,
  openMessage,
  reportable,
  type SecureMessage,
  sealMessage,
  type User,
  usmCounters,
} from './usm.ts';

/** A device's answer. */
export interface Answer {
  /** The number of the request. */
  readonly id: number;
  readonly pdu: Pdu;
  /** The message in the form in which it is shown: without the community and without encryption. */
  readonly plain: Buffer;
  /** Whether the request must be sent again, because the session has now adopted the device's engine or its clock. */
  readonly isRepeat?: boolean;
  /** Why the device refuses all requests, as a sentence. */
  readonly refusal?: string;
}

export interface Envelope {
  /** Whether messages are sent as they are; otherwise, the hub asks the device for its engine instead. */
  readonly isReady: boolean;
  wrap(pdu: Buffer, id: number): Buffer;
  /**
   * Opens a received message. `isAwaited` returns whether a request is waiting for an answer. Returns the reason if the message is refused.
   * Errors: `Error` with a readable message.
   */
  unwrap(bytes: Buffer, isAwaited: (id: number) => boolean): Answer | string;
  /** Forgets what is known about the device, because another device may have taken its place. */
  reset(): void;
  /** What it may mean if a device has never answered; undefined if there is no known cause. */
  readonly meaningOfSilence: string | undefined;
}

/**
 * The maximum number of bytes of messages that are decoded per second, because decoding a message of 64 KiB with many small items takes
 * several milliseconds.
 */
export const maxBytesPerSecond = 1_048_576;

/** Counts messages, and refuses messages beyond a maximum number of messages or bytes per second before they are decoded. */
export class MessageLimit {
  readonly #perSecond: number;
  #secondMs = Number.NEGATIVE_INFINITY;
  #count = 0;
  #bytes = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Counts a message. If the message is refused, returns the reason as a sentence. */
  count(length: number, nowMs: number): string | undefined {
    if (nowMs - this.#secondMs >= 1000) {
      this.#secondMs = nowMs;
      this.#count = this.#bytes = 0;
    }
    if (++this.#count > this.#perSecond) return `expected at most ${this.#perSecond} messages per second`;
    this.#bytes += length;
    return this.#bytes > maxBytesPerSecond ? `expected at most ${maxBytesPerSecond} bytes per second` : undefined;
  }
}

const notAwaited = 'expected the answer to a pending request';

/** Messages without an envelope, as in tests. */
export const bare: Envelope = {
  isReady: true,
  wrap: (pdu) => pdu,
  unwrap: (bytes, isAwaited) => {
    const pdu = decodePdu(readFirst(bytes));
    return isAwaited(pdu.id) ? { id: pdu.id, pdu, plain: bytes } : notAwaited;
  },
  reset: () => {},
  meaningOfSilence: undefined,
};

/** The versions in their encoded form. */
export const version2c = 1;
export const version3 = 3;

/** Returns the version of a message. Errors: `Error` with a readable message. */
export function versionOf({ tag, items }: Item): number {
  if (tag !== universal.sequence || items.length < 3 || items[0]!.tag !== universal.integer)
    throw new Error('expected an SNMP message');
  const version = readInteger(items[0]!);
  if (version !== version2c && version !== version3)
    throw new Error(`expected SNMPv2c or SNMPv3, got ${version === 0 ? 'SNMPv1' : `version ${version}`}`);
  return version;
}

export function wrapCommunity(community: Buffer, pdu: Buffer): Buffer {
  const writer = new Writer();
  writer.constructed(universal.sequence, () => {
    writer.encoded(pdu);
    writer.octets(community);
    writer.integer(version2c);
  });
  return writer.finish();
}

/** Returns the content of a message of version 2c, and its bytes. Errors: `Error` with a readable message. */
export function openCommunity({ items }: Item, bytes: Buffer): { community: Buffer; pdu: Item; plain: Buffer } {
  return { community: items[1]!.bytes, pdu: items[2]!, plain: after(items[1]!, bytes) };
}

export function communityEnvelope(text: string): Envelope {
  const community = Buffer.from(text);
  return {
    isReady: true,
    wrap: (pdu) => wrapCommunity(community, pdu),
    unwrap: (bytes, isAwaited) => {
      const message = readFirst(bytes);
      if (versionOf(message) !== version2c) return 'expected an SNMPv2c answer';
      const { community: its, pdu: item, plain } = openCommunity(message, bytes);
      if (!its.equals(community)) return "expected an answer with the request's community";
      const pdu = decodePdu(item);
      return isAwaited(pdu.id) ? { id: pdu.id, pdu, plain } : notAwaited;
    },
    reset: () => {},
    meaningOfSilence: 'the device is offline, or does not accept the community',
  };
}

const { unknownEngine, notInTimeWindow } = usmCounters;

/** Why a device refuses requests, keyed by the counter in the device's report. */
const refusals: Readonly<Record<string, (user: string) => string>> = {
  [usmCounters.wrongLevel]: (user) =>
    `the device does not accept the security level of user ${user}; check auth and priv`,
  [notInTimeWindow]: (user) =>
    `the device refuses requests from user ${user}, because they are outside its time window`,
  [usmCounters.unknownUser]: (user) => `the device does not know user ${user}`,
  [unknownEngine]: () => 'the device refuses the engine ID that it has reported itself',
  [usmCounters.wrongDigest]: (user) => `the device refuses the password of user ${user}; check password and auth`,
  [usmCounters.notDecrypted]: (user) =>
    `the device cannot decrypt requests from user ${user}; check privPassword and priv`,
  '1.3.6.1.6.3.12.1.5.0': () => 'the device does not know the context',
};

/** A user's session with a device. */
export class UserSession implements Envelope {
  readonly #user: User;
  readonly #now: () => number;
  #engineId: Buffer | undefined;
  readonly #clock = new EngineClock();

  constructor(user: User, now: () => number) {
    this.#user = user;
    this.#now = now;
  }

  get isReady(): boolean {
    return this.#engineId !== undefined;
  }

  get meaningOfSilence(): string | undefined {
    if (this.#engineId === undefined) return undefined;
    const name = JSON.stringify(this.#user.settings.name);
    return `the device does not answer user ${name}; check privPassword and priv, or lower maxObjects`;
  }

  reset(): void {
    this.#engineId = undefined;
  }

  wrap(pdu: Buffer, id: number): Buffer {
    const { context } = this.#user.settings;
    const engineId = this.#engineId;
    if (engineId === undefined) {
      const nobody = { engineId: Buffer.alloc(0), boots: 0, timeS: 0, user: undefined };
      return sealMessage({ id, flags: reportable, ...nobody, context: '', pdu });
    }
    const { boots } = this.#clock;
    const timeS = this.#clock.timeS(this.#now());
    return sealMessage({
      id,
      flags: this.#user.flags | reportable,
      engineId,
      boots,
      timeS,
      user: this.#user,
      context,
      pdu,
    });
  }

  unwrap(bytes: Buffer, isAwaited: (id: number) => boolean): Answer | string {
    const item = readFirst(bytes);
    if (versionOf(item) !== version3) return 'expected an SNMPv3 answer';
    const message = openMessage(item, bytes);
    const level = levelOf(message);
    if (!isAwaited(message.id)) return notAwaited;
    if (level === 0) return this.#unsigned(message);
    if ((level & this.#user.flags) !== level) return "expected an answer with the user's security level";
    if (message.user !== this.#user.settings.name) return "expected an answer for the request's user";
    if (this.#engineId === undefined || !message.engineId.equals(this.#engineId))
      return "expected an answer from the device's engine";
    if (!isAuthentic(message, this.#user)) return 'expected an answer with the right digest';
    const { pdu: content, plain } = contentOf(message, this.#user);
    const pdu = decodePdu(content);
    const { id, boots, timeS } = message;
    if (pdu.verb === verbs.report) {
      if (pdu.varbinds[0]?.oid !== notInTimeWindow) return this.#refused(message, pdu, plain);
      this.#clock.set(boots, timeS, this.#now());
      return { id, pdu, plain, isRepeat: true };
    }
    if (level !== this.#user.flags) return "expected an answer with the user's security level";
    if (!this.#clock.accepts(boots, timeS, this.#now())) return 'expected an answer within the time window';
    return { id, pdu, plain };
  }

  /** Takes a message that is not authenticated: a report with the engine ID, any other report, or an answer to a user without `auth`. */
  #unsigned(message: SecureMessage): Answer | string {
    const { pdu: content, plain } = contentOf(message, undefined);
    const pdu = decodePdu(content);
    const { id, engineId, boots, timeS } = message;
    if (pdu.verb !== verbs.report)
      return this.#user.flags === 0 ? { id, pdu, plain } : "expected an answer with the user's security level";
    if (pdu.varbinds[0]?.oid !== unknownEngine) return this.#refused(message, pdu, plain);
    if (engineId.length < 5 || engineId.length > 32) return 'expected an engine ID of 5 to 32 bytes';
    this.#engineId = Buffer.from(engineId);
    this.#clock.set(boots, timeS, this.#now());
    return { id, pdu, plain, isRepeat: true };
  }

  #refused({ id }: SecureMessage, pdu: Pdu, plain: Buffer): Answer | string {
    const sentence = refusals[pdu.varbinds[0]?.oid ?? ''];
    if (sentence === undefined) return 'expected an answer, got an unknown report';
    return { id, pdu, plain, refusal: sentence(JSON.stringify(this.#user.settings.name)) };
  }
}
