// Modbus frames, as in the Modbus Application Protocol V1.1b3 and the Modbus Messaging on TCP/IP and over Serial Line guides. A frame
// contains a request or an answer, either after a Modbus TCP header or between an RTU unit ID and a checksum. Frames are also converted to
// and from text: `1 read holding 0 2`, `1 read holding = 00eb`.

import { crcModbus } from '../../device/pattern.ts';
import type { Framer, Refuse } from '../../device/ports.ts';
import { describe } from '../../model/error.ts';

/** Whether frames have a Modbus TCP header or an RTU checksum. */
export type Mode = 'tcp' | 'rtu';

/** The four tables in a device. Two contain bits, and two contain registers; one of each kind is read-only. */
export const tables = ['coil', 'discrete', 'input', 'holding'] as const;
export type Table = (typeof tables)[number];

/** The names of the tables for use in sentences. */
export const tableNames = {
  coil: 'coil',
  discrete: 'discrete input',
  input: 'input register',
  holding: 'holding register',
} as const satisfies Record<Table, string>;

export interface Frame {
  /** The transaction number, which the answer repeats; 0 for RTU, which has no transaction numbers. */
  readonly transaction: number;
  readonly unitId: number;
  /** The protocol data unit: the function code and its data. */
  readonly pdu: Buffer;
}

/** The maximum length of a PDU (the function code and its data), in bytes. */
export const maxPduBytes = 253;
const maxRtuBytes = 256;
const mbapBytes = 7;

/** The function code that reads from each table. */
export const readFunctions: Readonly<Record<Table, number>> = { coil: 1, discrete: 2, holding: 3, input: 4 };
/** The function codes that write a single item or several items. */
export const writeFunctions = { coil: { one: 5, several: 15 }, holding: { one: 6, several: 16 } } as const;
/** The maximum number of items that one request can read or write. */
export const mostRead: Readonly<Record<Table, number>> = { coil: 2000, discrete: 2000, holding: 125, input: 125 };
export const mostWritten = { coil: 1968, holding: 123 } as const;

/** The meanings of the Modbus exceptions, keyed by exception code. */
const exceptions: Readonly<Record<number, string>> = {
  1: 'illegal function: the device does not support this request',
  2: 'illegal data address: the device has no such address',
  3: 'illegal data value: the device does not accept the value',
  4: 'device failure: the device could not carry out the request',
  5: 'acknowledge: the device needs more time',
  6: 'device busy: the device is processing another request',
  8: "memory parity error: the device's memory is damaged",
  10: 'gateway path unavailable: the gateway has no path to the unit',
  11: 'gateway target failed to respond: the unit does not answer the gateway',
};

export const illegalFunction = 1;
export const illegalAddress = 2;
export const illegalValue = 3;
export const deviceBusy = 6;

/** Returns whether an exception comes from a gateway that cannot reach the unit. */
export function isOfGateway(exception: number): boolean {
  return exception === 10 || exception === 11;
}

/** Returns a description of an exception: `illegal data address: the device has no such address (exception 2)`. */
export function exceptionSentence(code: number): string {
  return `${exceptions[code] ?? 'unknown exception'} (exception ${code})`;
}

/** Returns the exception code in an answer, or undefined if the answer is not an exception. */
export function exceptionOf(pdu: Buffer): number | undefined {
  return pdu[0]! >= 0x80 ? (pdu[1] ?? 0) : undefined;
}

export function encodeFrame(mode: Mode, { transaction, unitId, pdu }: Frame): Buffer {
  if (mode === 'rtu') {
    const body = Buffer.concat([Buffer.of(unitId), pdu]);
    return Buffer.concat([body, Buffer.from(crcModbus(body))]);
  }
  const head = Buffer.alloc(mbapBytes);
  head.writeUInt16BE(transaction);
  head.writeUInt16BE(pdu.length + 1, 4);
  head[6] = unitId;
  return Buffer.concat([head, pdu]);
}

/** Decodes a complete frame. If the bytes are not a valid frame, returns the reason as a sentence. */
export function decodeFrame(mode: Mode, bytes: Buffer): Frame | string {
  if (mode === 'rtu') {
    if (bytes.length < 4 || bytes.length > maxRtuBytes) return `expected a frame of 4 to ${maxRtuBytes} bytes`;
    if (!hasCrc(bytes)) return 'expected a correct checksum';
    return { transaction: 0, unitId: bytes[0]!, pdu: bytes.subarray(1, -2) };
  }
  if (bytes.length < mbapBytes + 1 || bytes.length > mbapBytes + maxPduBytes) return 'expected a Modbus TCP frame';
  if (bytes.readUInt16BE(2) !== 0) return 'expected the protocol number 0';
  if (bytes.readUInt16BE(4) !== bytes.length - 6) return 'expected as many bytes as the header states';
  return { transaction: bytes.readUInt16BE(0), unitId: bytes[6]!, pdu: bytes.subarray(mbapBytes) };
}

function hasCrc(bytes: Buffer): boolean {
  const [low, high] = crcModbus(bytes.subarray(0, -2));
  return bytes[bytes.length - 2] === low && bytes[bytes.length - 1] === high;
}

// Frames in a stream

/** Splits a stream into Modbus TCP frames. If a header is wrong, the stream has lost synchronization, and the link is closed. */
export class MbapFramer implements Framer {
  #unread: Buffer = Buffer.alloc(0);

  push(bytes: Buffer): Buffer[] {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    const frames: Buffer[] = [];
    let at = 0;
    while (this.#unread.length - at >= mbapBytes) {
      const length = this.#unread.readUInt16BE(at + 4);
      if (this.#unread.readUInt16BE(at + 2) !== 0 || length < 2 || length > maxPduBytes + 1)
        throw new Error('expected Modbus TCP frames, got other data');
      if (this.#unread.length - at < 6 + length) break;
      frames.push(this.#unread.subarray(at, at + 6 + length));
      at += 6 + length;
    }
    this.#unread = Buffer.from(this.#unread.subarray(at));
    return frames;
  }
}

/**
 * Splits a stream into Modbus RTU frames. Frames have no boundary marks: the function code determines the length of a frame, and the
 * checksum shows whether the bytes are a frame.
 */
export class RtuFramer implements Framer {
  readonly #lengthOf: (bytes: Buffer) => number | undefined;
  readonly #refuse: Refuse;
  #unread: Buffer = Buffer.alloc(0);

  constructor(reads: 'requests' | 'answers', refuse: Refuse) {
    this.#lengthOf = reads === 'requests' ? requestLength : answerLength;
    this.#refuse = refuse;
  }

  /** Discards the beginning of an incomplete frame, for example after a silence on the line. */
  reset(): void {
    this.#unread = Buffer.alloc(0);
  }

  push(bytes: Buffer): Buffer[] {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    const frames: Buffer[] = [];
    let at = 0;
    let skipped = 0;
    for (;;) {
      const rest = this.#unread.subarray(at);
      const length = rest.length < 2 ? Number.POSITIVE_INFINITY : this.#lengthOf(rest);
      if (
        length === Number.POSITIVE_INFINITY ||
        (length !== undefined && length <= maxRtuBytes && rest.length < length)
      )
        break;
      if (length === undefined || length > maxRtuBytes || !hasCrc(rest.subarray(0, length))) {
        at++;
        skipped++;
        continue;
      }
      frames.push(rest.subarray(0, length));
      at += length;
    }
    if (skipped > 0) this.#refuse(this.#unread.subarray(0, Math.min(at, 64)), 'expected Modbus RTU frames');
    this.#unread = Buffer.from(this.#unread.subarray(at));
    return frames;
  }
}

/**
 * Returns the length of a request that begins with these bytes, in bytes. Returns infinity if more bytes are needed, and undefined if there
 * is no such request.
 */
function requestLength(bytes: Buffer): number | undefined {
  const code = bytes[1]!;
  if (code >= 1 && code <= 6) return 8;
  if (code !== 15 && code !== 16) return undefined;
  return bytes.length < 7 ? Number.POSITIVE_INFINITY : 9 + bytes[6]!;
}

function answerLength(bytes: Buffer): number | undefined {
  const code = bytes[1]!;
  if (code > 0x80) return 5;
  if (code === 5 || code === 6 || code === 15 || code === 16) return 8;
  if (code < 1 || code > 4) return undefined;
  return bytes.length < 3 ? Number.POSITIVE_INFINITY : 5 + bytes[2]!;
}

// Frames as text

/**
 * Returns a frame as text. A frame does not state whether it is a request or an answer; if it could be either, it is shown as a request.
 */
export function showFrame(frame: Uint8Array): string {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  const rtu = decodeFrame('rtu', bytes);
  const decoded = typeof rtu === 'string' ? decodeFrame('tcp', bytes) : rtu;
  return typeof decoded === 'string' ? bytes.toString('hex') : showPdu(decoded);
}

function showPdu({ unitId, pdu }: Frame): string {
  const code = pdu[0]! & 0x7f;
  const data = pdu.subarray(1);
  const read = tables.find((table) => readFunctions[table] === code);
  const written = code === 5 || code === 15 ? 'coil' : code === 6 || code === 16 ? 'holding' : undefined;
  const table = read ?? written;
  if (table === undefined) return `${unitId} function ${code} ${data.toString('hex')}`;
  const what = `${unitId} ${read === undefined ? 'write' : 'read'} ${table}`;
  const exception = exceptionOf(pdu);
  if (exception !== undefined) return `${what} ! ${exceptionSentence(exception)}`;
  const isOfRegisters = table === 'holding' || table === 'input';
  const hex = (from: number) =>
    data
      .subarray(from)
      .toString('hex')
      .replaceAll(isOfRegisters ? /.{4}(?=.)/g : /.{2}(?=.)/g, '$& ');
  if (read !== undefined && data.length !== 4) return `${what} = ${hex(1)}`;
  if (read !== undefined) return `${what} ${data.readUInt16BE()} ${data.readUInt16BE(2)}`;
  if (data.length < 4) return `${what} ${data.toString('hex')}`;
  const address = data.readUInt16BE();
  if (code === 5) return `${what} ${address} = ${data[2] === 0xff ? 'on' : 'off'}`;
  if (code === 6) return `${what} ${address} = ${hex(2)}`;
  return data.length === 4
    ? `${what} ${address} +${data.readUInt16BE(2)}`
    : `${what} ${address} +${data.readUInt16BE(2)} = ${hex(5)}`;
}

const framePattern =
  /^(\d{1,3}) (read|write) (coil|discrete|input|holding)(?: (\d{1,5}))?(?: \+?(\d{1,4}))?(?: = (.*))?(?: ! (?:.*exception )?(\d+)\)?)?$/;

/** Parses a frame in the format that `showFrame` produces. Errors: `Error` with a readable message. */
export function readFrame(text: string): Pick<Frame, 'unitId' | 'pdu'> {
  const [, unitId, verb, table, address, count, values, exception] = framePattern.exec(text) ?? [];
  if (unitId === undefined)
    throw new Error(`expected a frame such as "1 read holding 0 2" or "1 read holding = 00eb", got ${describe(text)}`);
  const isWrite = verb === 'write';
  const functions = writeFunctions[table === 'coil' ? 'coil' : 'holding'];
  const code = isWrite ? functions[count === undefined ? 'one' : 'several'] : readFunctions[table as Table];
  const data = Buffer.from((values ?? '').replaceAll(' ', ''), 'hex');
  const numbers = Buffer.alloc(4);
  numbers.writeUInt16BE(Number(address ?? 0));
  numbers.writeUInt16BE(Number(count ?? 0), 2);
  let pdu: Buffer;
  if (exception !== undefined) pdu = Buffer.of(code | 0x80, Number(exception));
  else if (!isWrite) pdu = values === undefined ? Buffer.of(code, ...numbers) : Buffer.of(code, data.length, ...data);
  else if (code === 5) pdu = Buffer.of(5, ...numbers.subarray(0, 2), values === 'on' ? 0xff : 0, 0);
  else if (code === 6) pdu = Buffer.of(6, ...numbers.subarray(0, 2), ...data);
  else pdu = values === undefined ? Buffer.of(code, ...numbers) : Buffer.of(code, ...numbers, data.length, ...data);
  return { unitId: Number(unitId), pdu };
}
