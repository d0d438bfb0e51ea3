// SNMPv2 messages as defined in RFC 3416: requests, answers and notifications with lists of objects and their values. Also converts
// messages to and from text: `get 1.3.6.1.2.1.1.5.0`, `response 1.3.6.1.2.1.1.5.0 = "ups"`, `trap 1.3.6.1.6.3.1.1.5.3,
// 1.3.6.1.2.1.2.2.1.8.3 = 2`.

import { type Item, readFirst, readInteger, universal, Writer } from '../../device/ber.ts';
import { describe } from '../../model/error.ts';

/** The tags of values, and of the markers that stand for a missing value. */
export const tags = {
  integer: 0x02,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  ip: 0x40,
  counter32: 0x41,
  gauge32: 0x42,
  ticks: 0x43,
  opaque: 0x44,
  counter64: 0x46,
  noSuchObject: 0x80,
  noSuchInstance: 0x81,
  endOfMibView: 0x82,
} as const;

/** The tags of messages. */
export const verbs = {
  get: 0xa0,
  next: 0xa1,
  response: 0xa2,
  set: 0xa3,
  bulk: 0xa5,
  inform: 0xa6,
  trap: 0xa7,
  report: 0xa8,
} as const;
const trapOfVersion1 = 0xa4;

/** The time since the device was started, in hundredths of a second. This object is also the first object in a notification. */
export const upTimeOid = '1.3.6.1.2.1.1.3.0';
/** The object in a notification that contains the notification's own OID. */
export const trapOid = '1.3.6.1.6.3.1.1.4.1.0';

/** An object and its value, which is the content of an item with this tag. */
export interface Varbind {
  readonly oid: string;
  readonly tag: number;
  readonly bytes: Buffer;
}

/** A message without the version, the community and the security parameters around it. */
export interface Pdu {
  readonly verb: number;
  readonly id: number;
  /** The error status of an answer; for `bulk`, the number of objects that are not repeated. */
  readonly error: number;
  /** The position of the object with the error, counted from 1; for `bulk`, how often the other objects are repeated. */
  readonly index: number;
  readonly varbinds: readonly Varbind[];
}

export const maxRequestId = 0x7fff_ffff;
/** The maximum number of components in an OID, according to RFC 2578. */
const maxArcs = 128;

// OIDs

const oidPattern = /^[012](?:\.(?:0|[1-9]\d{0,9}))+$/;

/** Returns whether a string is an OID, such as `1.3.6.1.2.1.1.5.0`. */
export function isOid(text: string): boolean {
  if (!oidPattern.test(text)) return false;
  const arcs = text.split('.').map(Number);
  return arcs.length <= maxArcs && arcs.every((arc) => arc <= 0xffff_ffff) && (arcs[0] === 2 || arcs[1]! < 40);
}

export function encodeOid(oid: string): Buffer {
  const [first = 0, second = 0, ...arcs] = oid.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...arcs]) {
    const from = bytes.length;
    let rest = arc;
    do {
      bytes.push((rest % 128) | (bytes.length === from ? 0 : 0x80));
      rest = Math.floor(rest / 128);
    } while (rest > 0);
    for (let a = from, b = bytes.length - 1; a < b; a++, b--) [bytes[a], bytes[b]] = [bytes[b]!, bytes[a]!];
  }
  return Buffer.from(bytes);
}

/** Returns the OID in an item's content. Errors: `Error` with a readable message. */
export function decodeOid(bytes: Buffer): string {
  if (bytes.length === 0 || bytes[bytes.length - 1]! >= 0x80) throw new Error('expected a complete OID');
  let text = '';
  let arcs = 0;
  let arc = 0;
  for (const byte of bytes) {
    arc = arc * 128 + (byte & 0x7f);
    if (arc > 0xffff_ffff + 80) throw new Error('expected numbers of up to 32 bits in an OID');
    if (byte >= 0x80) continue;
    if (arcs === 0) text = arc < 80 ? `${Math.floor(arc / 40)}.${arc % 40}` : `2.${arc - 80}`;
    else text += `.${arc}`;
    if (++arcs >= maxArcs) throw new Error(`expected an OID of at most ${maxArcs} numbers`);
    arc = 0;
  }
  return text;
}

/** Compares two OIDs or parts of OIDs, for sorting in the order in which devices list their objects. */
export function compareOids(one: string, other: string): number {
  const [a, b] = [one.split('.'), other.split('.')];
  for (let place = 0; place < Math.min(a.length, b.length); place++) {
    const difference = Number(a[place]) - Number(b[place]);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

// Messages as bytes

export function encodeVarbinds(varbinds: readonly Varbind[]): Buffer {
  const writer = new Writer();
  writer.constructed(universal.sequence, () => {
    for (const { oid, tag, bytes } of [...varbinds].reverse())
      writer.constructed(universal.sequence, () => {
        writer.primitive(tag, bytes);
        writer.primitive(tags.oid, encodeOid(oid));
      });
  });
  return writer.finish();
}

/** Encodes a message that contains a list from `encodeVarbinds`. */
export function encodePdu(verb: number, id: number, error: number, index: number, list: Buffer): Buffer {
  const writer = new Writer();
  writer.constructed(verb, () => {
    writer.encoded(list);
    writer.integer(index);
    writer.integer(error);
    writer.integer(id);
  });
  return writer.finish();
}

/** Returns the objects for a request that asks for values. */
export function asked(oids: readonly string[]): Varbind[] {
  return oids.map((oid) => ({ oid, tag: tags.null, bytes: Buffer.alloc(0) }));
}

/** Decodes an item as a message. Errors: `Error` with a readable message. */
export function decodePdu({ tag, items }: Item): Pdu {
  if (tag === trapOfVersion1) throw new Error('expected SNMPv2c or SNMPv3, got an SNMPv1 trap');
  const [id, error, index, list] = items;
  if (!Object.values<number>(verbs).includes(tag) || items.length !== 4 || list!.tag !== universal.sequence)
    throw new Error('expected an SNMPv2 message');
  return {
    verb: tag,
    id: readInteger(id!),
    error: readInteger(error!),
    index: readInteger(index!),
    varbinds: list!.items.map(({ items: pair }) => {
      const [name, value] = pair;
      if (pair.length !== 2 || name!.tag !== tags.oid) throw new Error('expected pairs of an OID and a value');
      return { oid: decodeOid(name!.bytes), tag: value!.tag, bytes: value!.bytes };
    }),
  };
}

// Values

/** Returns the exact number in a varbind; undefined if the varbind contains no integer. Counters and gauges are never negative. */
export function integerOf({ tag, bytes }: Varbind): bigint | undefined {
  const isSigned = tag === tags.integer;
  const isNumber =
    isSigned || tag === tags.counter32 || tag === tags.gauge32 || tag === tags.ticks || tag === tags.counter64;
  if (!isNumber || bytes.length === 0 || bytes.length > 9) return undefined;
  if (bytes.length <= 4) return BigInt(isSigned ? bytes.readIntBE(0, bytes.length) : bytes.readUIntBE(0, bytes.length));
  const value = BigInt(`0x${bytes.toString('hex')}`);
  return isSigned ? BigInt.asIntN(8 * bytes.length, value) : BigInt.asUintN(64, value);
}

/** Encodes an integer with as few bytes as possible. */
export function integerBytes(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(8 * length, value) !== value) length++;
  const hex = BigInt.asUintN(8 * length, value).toString(16);
  return Buffer.from(hex.padStart(2 * length, '0'), 'hex');
}

export function ipOf(bytes: Buffer): string | undefined {
  return bytes.length === 4 ? bytes.join('.') : undefined;
}

/** Returns the 32-bit float that Net-SNMP puts into an Opaque value; undefined if the value contains anything else. */
export function floatOf({ tag, bytes }: Varbind): number | undefined {
  const isFloat = tag === tags.opaque && bytes.length === 7 && bytes.readUIntBE(0, 3) === 0x9f7804;
  return isFloat ? bytes.readFloatBE(3) : undefined;
}

/** Returns octets as text: as UTF-8 if they are valid UTF-8, and otherwise as Latin 1. Trailing zeros are omitted. */
export function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return (text.includes('\ufffd') ? bytes.toString('latin1') : text).replace(/\0+$/, '');
}

// Errors

const errorNames = [
  'noError',
  'tooBig',
  'noSuchName',
  'badValue',
  'readOnly',
  'genErr',
  'noAccess',
  'wrongType',
  'wrongLength',
  'wrongEncoding',
  'wrongValue',
  'noCreation',
  'inconsistentValue',
  'resourceUnavailable',
  'commitFailed',
  'undoFailed',
  'authorizationError',
  'notWritable',
  'inconsistentName',
] as const;

export const tooBig = 1;

const errorMeanings: Readonly<Record<string, string>> = {
  tooBig: 'the answer does not fit into one message',
  noSuchName: 'it has no such object',
  badValue: 'it does not accept the value',
  readOnly: 'the object cannot be written',
  genErr: 'it could not carry out the request',
  noAccess: 'the community or user may not write the object',
  wrongType: 'the object has another type; check `as`',
  wrongLength: 'the value is too short or too long',
  wrongEncoding: 'the value is not encoded correctly',
  wrongValue: 'it does not accept the value',
  noCreation: 'it has no such object, and cannot create one',
  inconsistentValue: 'it currently does not accept the value',
  resourceUnavailable: 'it lacks the memory or another resource',
  commitFailed: 'it could not store the value',
  undoFailed: 'it could store only some of the values',
  authorizationError: 'the community or user has no access to the object',
  notWritable: 'the object cannot be written, or not by this community or user',
  inconsistentName: 'it currently cannot create the object',
};

/** Returns an error status as a sentence: `it does not accept the value (wrongValue)`. */
export function errorSentence(status: number): string {
  const name = errorNames[status];
  return name === undefined ? `it reports the unknown error ${status}` : `${errorMeanings[name] ?? name} (${name})`;
}

// Messages as text

const verbNames = new Map(Object.entries(verbs).map(([name, verb]) => [verb as number, name]));
const tagNames = new Map(Object.entries(tags).map(([name, tag]) => [tag as number, name]));

/** Returns a message as text; if the bytes are not a message, returns them in hexadecimal. */
export function showMessage(frame: Uint8Array): string {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  try {
    return showPdu(decodePdu(readFirst(bytes)));
  } catch {
    return bytes.toString('hex');
  }
}

function showPdu({ verb, error, index, varbinds }: Pdu): string {
  const isNotification = verb === verbs.trap || verb === verbs.inform;
  const name = varbinds[1]?.oid === trapOid && varbinds[1].tag === tags.oid ? varbinds[1] : undefined;
  const list = (isNotification && name !== undefined ? varbinds.slice(2) : varbinds).map(showVarbind);
  if (isNotification && name !== undefined) list.unshift(decodeOid(name.bytes));
  const isFailed = verb !== verbs.bulk && error !== 0;
  const numbers =
    verb === verbs.bulk ? `${error} ${index} ` : isFailed ? `! ${errorNames[error] ?? error} ${index} ` : '';
  return `${verbNames.get(verb)} ${numbers}${list.join(', ')}`.trimEnd();
}

function showVarbind(varbind: Varbind): string {
  return varbind.tag === tags.null ? varbind.oid : `${varbind.oid} = ${showValue(varbind)}`;
}

/** Returns a value as text: `5`, `"ups"`, `counter32 7`, `hex 00ff`, `noSuchObject`. */
export function showValue(varbind: Varbind): string {
  const { tag, bytes } = varbind;
  const integer = integerOf(varbind);
  if (tag === tags.integer && integer !== undefined) return String(integer);
  if (tag === tags.octets) {
    const text = bytes.toString('utf8');
    return /^[^\p{C}\ufffd]*$/u.test(text) ? JSON.stringify(text) : `hex ${bytes.toString('hex')}`;
  }
  const name = tagNames.get(tag) ?? `type${tag}`;
  const value = integer ?? (tag === tags.oid ? decodeOid(bytes) : tag === tags.ip ? ipOf(bytes) : undefined);
  return `${name} ${value ?? bytes.toString('hex')}`.trimEnd();
}

const varbindPattern = /\s*([\d.]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|-?\d+|\w+(?:\s+[\w.:-]+)?))?\s*(?:,|$)/y;

/** Parses a message in the format that `showMessage` produces. The message has the number 0. Errors: `Error` with a readable message. */
export function readMessage(text: string): Buffer {
  const [, name = '', status, at, nonRepeaters, repetitions, rest = ''] =
    /^(\w+)(?:\s+!\s*(\w+)\s+(\d+))?(?:\s+(\d+)\s+(\d+))?(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  const verb = (verbs as Readonly<Record<string, number>>)[name];
  const error = status === undefined ? 0 : errorNames.indexOf(status as (typeof errorNames)[number]);
  if (verb === undefined || error < 0)
    throw new Error(`expected a message such as "response 1.3.6.1.2.1.1.5.0 = 5", got ${describe(text)}`);
  const varbinds = readVarbinds(rest);
  if (verb === verbs.trap || verb === verbs.inform) {
    const [first, ...others] = varbinds;
    if (first === undefined) throw new Error(`expected the OID of a notification after "${name}"`);
    const named = { oid: trapOid, tag: tags.oid, bytes: encodeOid(first.oid) };
    varbinds.splice(0, varbinds.length, { oid: upTimeOid, tag: tags.ticks, bytes: Buffer.of(0) }, named, ...others);
  }
  return encodePdu(
    verb,
    0,
    verb === verbs.bulk ? Number(nonRepeaters ?? 0) : error,
    verb === verbs.bulk ? Number(repetitions ?? 0) : Number(at ?? 0),
    encodeVarbinds(varbinds),
  );
}

function readVarbinds(text: string): Varbind[] {
  const varbinds: Varbind[] = [];
  for (let from = 0; from < text.length; from = varbindPattern.lastIndex) {
    varbindPattern.lastIndex = from;
    const [, oid, value] = varbindPattern.exec(text) ?? [];
    if (oid === undefined || !isOid(oid))
      throw new Error(`expected an object such as "1.3.6.1.2.1.1.5.0 = 5", got ${describe(text.slice(from))}`);
    varbinds.push({ oid, ...readValue(value) });
  }
  return varbinds;
}

function readValue(text: string | undefined): Pick<Varbind, 'tag' | 'bytes'> {
  if (text === undefined) return { tag: tags.null, bytes: Buffer.alloc(0) };
  if (text.startsWith('"')) return { tag: tags.octets, bytes: Buffer.from(JSON.parse(text) as string) };
  const [name, value = ''] = text.split(/\s+/) as [string, string?];
  if (/^-?\d+$/.test(name)) return { tag: tags.integer, bytes: integerBytes(BigInt(name)) };
  if (name === 'hex') return { tag: tags.octets, bytes: Buffer.from(value, 'hex') };
  const tag = (tags as Readonly<Record<string, number>>)[name];
  if (tag === undefined)
    throw new Error(`expected a value such as 5, "text", hex 00ff or counter32 5, got ${describe(text)}`);
  if (tag === tags.oid) return { tag, bytes: encodeOid(value) };
  if (tag === tags.ip) return { tag, bytes: Buffer.from(value.split('.').map(Number)) };
  if (tag === tags.opaque) return { tag, bytes: Buffer.from(value, 'hex') };
  if (tag >= tags.noSuchObject || tag === tags.null) return { tag, bytes: Buffer.alloc(0) };
  if (!/^-?\d+$/.test(value)) throw new Error(`expected a number after "${name}", got ${describe(value)}`);
  return { tag, bytes: integerBytes(BigInt(value)) };
}
