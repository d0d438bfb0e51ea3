// The security of SNMPv3: the messages of RFC 3412 and the User-based Security Model of RFC 3414, with SHA-2 (RFC 7860) and AES (RFC 3826).
// Keys belong to a user and an engine, which is the SNMP side of a device. Messages are valid for 150 s by the engine's clock.

import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Item, readFirst, readInteger, universal, Writer } from '../../device/ber.ts';

/** The authentication protocols: the hash, and the length of the digest in a message, in bytes. */
export const authProtocols = {
  md5: { hash: 'md5', digestBytes: 12 },
  sha: { hash: 'sha1', digestBytes: 12 },
  sha224: { hash: 'sha224', digestBytes: 16 },
  sha256: { hash: 'sha256', digestBytes: 24 },
  sha384: { hash: 'sha384', digestBytes: 32 },
  sha512: { hash: 'sha512', digestBytes: 48 },
} as const;
export type AuthProtocol = keyof typeof authProtocols;

/**
 * The privacy protocols. For DES, triple DES with three equal keys is used, because OpenSSL no longer provides plain DES. There are two
 * ways to derive the longer AES keys from a password: the protocols that end in `c` are for Cisco and for other makers that use Reeder's
 * draft.
 */
export const privProtocols = {
  des: { cipher: 'des-ede3-cbc', keyBytes: 16, extend: 'none' },
  aes: { cipher: 'aes-128-cfb', keyBytes: 16, extend: 'none' },
  aes192: { cipher: 'aes-192-cfb', keyBytes: 24, extend: 'blumenthal' },
  aes256: { cipher: 'aes-256-cfb', keyBytes: 32, extend: 'blumenthal' },
  aes192c: { cipher: 'aes-192-cfb', keyBytes: 24, extend: 'reeder' },
  aes256c: { cipher: 'aes-256-cfb', keyBytes: 32, extend: 'reeder' },
} as const;
export type PrivProtocol = keyof typeof privProtocols;

export interface UserSettings {
  readonly name: string;
  readonly auth?: AuthProtocol | undefined;
  readonly password: string;
  readonly priv?: PrivProtocol | undefined;
  readonly privPassword: string;
  readonly context: string;
}

const usmStats = '1.3.6.1.6.3.15.1.1.';
/** The counters in reports, which state why a message was refused. */
export const usmCounters = {
  wrongLevel: `${usmStats}1.0`,
  notInTimeWindow: `${usmStats}2.0`,
  unknownUser: `${usmStats}3.0`,
  unknownEngine: `${usmStats}4.0`,
  wrongDigest: `${usmStats}5.0`,
  notDecrypted: `${usmStats}6.0`,
} as const;

const flagsOf = { auth: 1, priv: 2, reportable: 4 } as const;
const securityModel = 3;
/** The maximum size of a message that the hub accepts, in bytes. The hub announces this size to devices. */
export const maxMessageBytes = 65_507;
const passwordBytes = 1_048_576;
/** The number of engines whose keys are cached. */
const keptEngines = 16;
export const timeWindowS = 150;
const maxBoots = 0x7fff_ffff;

// Keys

interface Keys {
  readonly auth: Buffer;
  /** Created when it is first needed, after the digest has been verified. */
  priv: Buffer | undefined;
}

/** A user of a device or of the hub, with the keys for the engines with which the user has been used. */
export class User {
  readonly settings: UserSettings;
  readonly #keys = new Map<string, Keys>();
  #authMaster: Buffer | undefined;
  #privMaster: Buffer | undefined;

  constructor(settings: UserSettings) {
    this.settings = settings;
  }

  /** The security level as a message's flags: 0, 1 (authNoPriv) or 3 (authPriv). */
  get flags(): number {
    const { auth, priv } = this.settings;
    return (auth === undefined ? 0 : flagsOf.auth) | (priv === undefined ? 0 : flagsOf.priv);
  }

  digest(engineId: Buffer, message: Buffer): Buffer {
    const { hash, digestBytes } = authProtocols[this.settings.auth!];
    return createHmac(hash, this.#keysOf(engineId).auth).update(message).digest().subarray(0, digestBytes);
  }

  /** Encrypts a scoped PDU for an engine at a given time on the engine's clock. Returns the salt as well. */
  encrypt(engineId: Buffer, boots: number, timeS: number, plain: Buffer): { salt: Buffer; bytes: Buffer } {
    const { cipher } = privProtocols[this.settings.priv!];
    const salt = randomBytes(8);
    const { key, iv } = this.#privacy(engineId, boots, timeS, salt);
    const cipherer = createCipheriv(cipher, key, iv).setAutoPadding(false);
    const isPadded = this.settings.priv === 'des' && plain.length % 8 !== 0;
    const whole = isPadded ? Buffer.concat([plain, Buffer.alloc(8 - (plain.length % 8))]) : plain;
    return { salt, bytes: Buffer.concat([cipherer.update(whole), cipherer.final()]) };
  }

  /** Errors: `Error` if the salt or the length is wrong. */
  decrypt({ engineId, boots, timeS, salt }: SecureMessage, bytes: Buffer): Buffer {
    if (salt.length !== 8) throw new Error('expected a salt of 8 bytes');
    const { key, iv } = this.#privacy(engineId, boots, timeS, salt);
    const decipher = createDecipheriv(privProtocols[this.settings.priv!].cipher, key, iv).setAutoPadding(false);
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  }

  #privacy(engineId: Buffer, boots: number, timeS: number, salt: Buffer): { key: Buffer; iv: Buffer } {
    const key = this.#privKey(engineId);
    if (this.settings.priv === 'des') {
      const des = key.subarray(0, 8);
      return {
        key: Buffer.concat([des, des, des]),
        iv: Buffer.from(salt.map((byte, place) => byte ^ key[8 + place]!)),
      };
    }
    const iv = Buffer.alloc(16);
    iv.writeInt32BE(boots);
    iv.writeInt32BE(timeS, 4);
    iv.set(salt, 8);
    return { key, iv };
  }

  #keysOf(engineId: Buffer): Keys {
    const name = engineId.toString('latin1');
    let keys = this.#keys.get(name);
    if (keys === undefined) {
      const { auth, password } = this.settings;
      this.#authMaster ??= masterKey(auth!, Buffer.from(password));
      keys = { auth: localKey(auth!, this.#authMaster, engineId), priv: undefined };
      if (this.#keys.size >= keptEngines) this.#keys.clear();
      this.#keys.set(name, keys);
    }
    return keys;
  }

  #privKey(engineId: Buffer): Buffer {
    const keys = this.#keysOf(engineId);
    if (keys.priv !== undefined) return keys.priv;
    const { auth, priv, password, privPassword } = this.settings;
    const { keyBytes, extend } = privProtocols[priv!];
    this.#privMaster ??= masterKey(auth!, Buffer.from(privPassword || password));
    let part = localKey(auth!, this.#privMaster, engineId);
    let key = part;
    while (key.length < keyBytes) {
      part =
        extend === 'reeder'
          ? localKey(auth!, masterKey(auth!, part), engineId)
          : createHash(authProtocols[auth!].hash).update(key).digest();
      key = Buffer.concat([key, part]);
    }
    keys.priv = key.subarray(0, keyBytes);
    return keys.priv;
  }
}

/** Returns the hash of a mebibyte of the repeated password (RFC 3414, A.2), which takes several milliseconds. */
function masterKey(auth: AuthProtocol, password: Buffer): Buffer {
  return createHash(authProtocols[auth].hash).update(Buffer.alloc(passwordBytes, password)).digest();
}

function localKey(auth: AuthProtocol, master: Buffer, engineId: Buffer): Buffer {
  return createHash(authProtocols[auth].hash).update(master).update(engineId).update(master).digest();
}

// Clocks

/** What the hub knows about another engine's clock. Only authentic messages may set the clock. */
export class EngineClock {
  boots = 0;
  #timeS = 0;
  #latestS = 0;
  #atMs = 0;

  /** Sets the clock to that of the engine. */
  set(boots: number, timeS: number, nowMs: number): void {
    this.boots = boots;
    this.#timeS = this.#latestS = timeS;
    this.#atMs = nowMs;
  }

  timeS(nowMs: number): number {
    return this.#timeS + Math.floor((nowMs - this.#atMs) / 1000);
  }

  /** Returns whether an authentic message is timely (RFC 3414, 3.2, 7b). A newer message sets the clock. */
  accepts(boots: number, timeS: number, nowMs: number): boolean {
    if (boots > this.boots || (boots === this.boots && timeS > this.#latestS)) this.set(boots, timeS, nowMs);
    return boots === this.boots && boots < maxBoots && timeS >= this.timeS(nowMs) - timeWindowS;
  }
}

// Messages

/** A message of version 3, whose content may be encrypted. */
export interface SecureMessage {
  readonly id: number;
  readonly flags: number;
  readonly engineId: Buffer;
  readonly boots: number;
  readonly timeS: number;
  readonly user: string;
  readonly digest: Buffer;
  readonly salt: Buffer;
  readonly data: Item;
  readonly bytes: Buffer;
}

export interface Sealed {
  readonly id: number;
  readonly flags: number;
  readonly engineId: Buffer;
  readonly boots: number;
  readonly timeS: number;
  /** Undefined for a message without a user, such as the first message to an engine. */
  readonly user: User | undefined;
  readonly context: string;
  /** The engine of the context, if it differs from the engine of the message. */
  readonly contextEngineId?: Buffer;
  readonly pdu: Buffer;
}

/** Encodes a message, and encrypts and signs it according to its flags. */
export function sealMessage({ id, flags, engineId, boots, timeS, user, pdu, ...scope }: Sealed): Buffer {
  const scoped = new Writer();
  scoped.constructed(universal.sequence, () => {
    scoped.encoded(pdu);
    scoped.octets(Buffer.from(scope.context));
    scoped.octets(scope.contextEngineId ?? engineId);
  });
  const plain = scoped.finish();
  const encrypted = (flags & flagsOf.priv) === 0 ? undefined : user!.encrypt(engineId, boots, timeS, plain);
  const digest = Buffer.alloc((flags & flagsOf.auth) === 0 ? 0 : authProtocols[user!.settings.auth!].digestBytes);
  const writer = new Writer();
  let digestEnd = 0;
  writer.constructed(universal.sequence, () => {
    if (encrypted === undefined) writer.encoded(plain);
    else writer.octets(encrypted.bytes);
    writer.constructed(universal.octets, () =>
      writer.constructed(universal.sequence, () => {
        writer.octets(encrypted?.salt ?? Buffer.alloc(0));
        digestEnd = writer.length;
        writer.octets(digest);
        writer.octets(Buffer.from(user?.settings.name ?? ''));
        writer.integer(timeS);
        writer.integer(boots);
        writer.octets(engineId);
      }),
    );
    writer.constructed(universal.sequence, () => {
      writer.integer(securityModel);
      writer.octets(Buffer.of(flags));
      writer.integer(maxMessageBytes);
      writer.integer(id);
    });
    writer.integer(3);
  });
  const bytes = writer.finish();
  if (digest.length > 0) user!.digest(engineId, bytes).copy(bytes, bytes.length - digestEnd - digest.length);
  return bytes;
}

/** Decodes a message of version 3 without checking its security. Errors: `Error` with a readable message. */
export function openMessage({ items }: Item, bytes: Buffer): SecureMessage {
  const [, head, security, data] = items;
  const [id, , flags, model] = head?.items ?? [];
  if (data === undefined || model === undefined || readInteger(model) !== securityModel)
    throw new Error('expected SNMPv3 with user-based security');
  const [engineId, boots, timeS, user, digest, salt] = readFirst(security!.bytes).items;
  if (salt === undefined) throw new Error('expected SNMPv3 security parameters');
  return {
    ...{ id: readInteger(id!), flags: flags!.bytes[0] ?? 0, engineId: engineId!.bytes, boots: readInteger(boots!) },
    ...{ timeS: readInteger(timeS!), user: user!.bytes.toString(), digest: digest!.bytes, salt: salt.bytes },
    ...{ data, bytes },
  };
}

export function levelOf({ flags }: SecureMessage): number {
  return flags & (flagsOf.auth | flagsOf.priv);
}

export function isReportable({ flags }: SecureMessage): boolean {
  return (flags & flagsOf.reportable) !== 0;
}

export const reportable: number = flagsOf.reportable;
export const authOnly: number = flagsOf.auth;

/** Returns whether the digest of a message is the user's. */
export function isAuthentic({ bytes, digest, engineId }: SecureMessage, user: User): boolean {
  if (digest.length !== authProtocols[user.settings.auth!].digestBytes) return false;
  const unsigned = Buffer.from(bytes);
  unsigned.fill(0, digest.byteOffset - bytes.byteOffset, digest.byteOffset - bytes.byteOffset + digest.length);
  return timingSafeEqual(user.digest(engineId, unsigned), digest);
}

interface Content {
  readonly pdu: Item;
  readonly plain: Buffer;
  readonly context: string;
  readonly contextEngineId: Buffer;
}

/** Returns a message's content, and the bytes of the message after decryption. Errors: `Error` with a readable message. */
export function contentOf(message: SecureMessage, user: User | undefined): Content {
  const isEncrypted = (message.flags & flagsOf.priv) !== 0;
  const bytes = isEncrypted ? user!.decrypt(message, message.data.bytes) : undefined;
  const { items } = bytes === undefined ? message.data : readFirst(bytes);
  const [engine, context, pdu] = items;
  if (pdu === undefined) throw new Error('expected the content of an SNMPv3 message');
  const scope = { context: context!.bytes.toString(), contextEngineId: engine!.bytes };
  return { pdu, plain: after(context!, bytes ?? message.bytes), ...scope };
}

/** Returns the bytes after an item. */
export function after({ bytes: last }: Item, bytes: Buffer): Buffer {
  return bytes.subarray(last.byteOffset - bytes.byteOffset + last.length);
}
