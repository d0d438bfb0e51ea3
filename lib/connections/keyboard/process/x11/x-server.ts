// A connection to an X server (X Window System Protocol, version 11, sections 1 and 8), with the features required for the keyboard. The
// protocol is implemented in plain JavaScript, so that data from a server cannot crash the process.
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { readRegularFile } from '../../../../files/regular-file.ts';
import { describe, messageOf } from '../../../../model/error.ts';

const maxAnswerBytes = 2 ** 20;
const headBytes = 32;
const littleEndian = 'l'.charCodeAt(0);
const queryExtension = 98;

/** The codes of messages from a server. All other codes are event codes. */
const kind = { error: 0, reply: 1, genericEvent: 35 } as const;
const errorNames = ' Request Value Window Pixmap Atom Cursor Font Match Drawable Access'.split(' ');

interface Question {
  readonly sequence: number;
  resolve(answer: Buffer): void;
  reject(error: Error): void;
}

/** The codes that the server has assigned to an extension. */
interface Extension {
  readonly opcode: number;
  readonly firstEvent: number;
}

/** The range of a server's keycodes, inclusive. */
interface KeycodeRange {
  readonly first: number;
  readonly last: number;
}

export class XServer {
  readonly keycodes: KeycodeRange;
  /** The ID of the first screen's root window. */
  readonly root: number;
  /** Resolves with the reason when the connection has ended. */
  readonly ended: Promise<Error>;
  readonly #socket: Socket;
  readonly #questions: Question[] = [];
  #sequence = 0;
  #end: Error | undefined;
  #reportEnd!: (error: Error) => void;
  readonly #listeners: ((event: Buffer) => void)[] = [];

  private constructor(socket: Socket, welcome: Buffer, rest: Buffer) {
    this.#socket = socket;
    this.keycodes = { first: welcome[34]!, last: welcome[35]! };
    this.root = rootOf(welcome);
    this.ended = new Promise((resolve) => {
      this.#reportEnd = resolve;
    });
    let unread = rest;
    socket.on('data', (bytes) => {
      unread = this.#read(Buffer.concat([unread, bytes]));
    });
    socket.on('close', () => this.#close(new Error('the X server closed the connection')));
    socket.on('error', (error) => this.#close(error));
  }

  /**
   * Connects to the server of a display and authenticates with the cookie in the authority file. Errors: `Error` with a readable message
   * such as `the X server at :0 refuses: Authorization required`.
   */
  static async open(display: string, authorityFile?: string): Promise<XServer> {
    const { socket, server } = await reachDisplay(display);
    const { welcome, rest } = await greet(socket, display, await findProof(server, authorityFile));
    return new XServer(socket, welcome, rest);
  }

  /** Fills in the length of a request that has no reply, and sends the request. If the server reports an error, the connection ends. */
  send(request: Buffer): void {
    if (this.#end !== undefined) throw this.#end;
    request.writeUInt16LE(request.length / 4, 2);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#socket.write(request);
  }

  /** Sends a request and waits for the reply. Errors: the error from the server. */
  ask(request: Buffer): Promise<Buffer> {
    this.send(request);
    return new Promise((resolve, reject) => this.#questions.push({ sequence: this.#sequence, resolve, reject }));
  }

  /**
   * Queries an extension. Errors: `Error` if the server does not support the extension; the message states what is impossible `without` it.
   */
  async extension(name: string, without: string): Promise<Extension> {
    const head = Buffer.from([queryExtension, 0, 0, 0, name.length, 0, 0, 0]);
    const answer = await this.ask(Buffer.concat([head, padded(Buffer.from(name))]));
    if (answer[8] !== 1) throw new Error(`the X server does not have the ${name} extension, without which ${without}`);
    return { opcode: answer[9]!, firstEvent: answer[10]! };
  }

  /** Registers a listener that is called for every further event. */
  onEvent(listener: (event: Buffer) => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#close(new Error('the connection to the X server is closed'));
  }

  /** Handles all complete messages in `bytes` and returns the remaining bytes. */
  #read(bytes: Buffer): Buffer {
    let start = 0;
    while (bytes.length - start >= headBytes) {
      const code = bytes[start]!;
      const hasMore = code === kind.reply || (code & 0x7f) === kind.genericEvent;
      const length = headBytes + (hasMore ? bytes.readUInt32LE(start + 4) * 4 : 0);
      if (length > maxAnswerBytes)
        this.#close(
          new Error(`expected at most ${maxAnswerBytes} bytes in one message from the X server, got ${length}`),
        );
      if (length > maxAnswerBytes || bytes.length - start < length) break;
      const message = bytes.subarray(start, start + length);
      if (code === kind.reply || code === kind.error) this.#take(message);
      else for (const listener of this.#listeners) listener(message);
      start += length;
    }
    return bytes.subarray(start);
  }

  #take(message: Buffer): void {
    const question = this.#questions[0];
    const isAnswer = question?.sequence === message.readUInt16LE(2);
    if (isAnswer) this.#questions.shift();
    if (message[0] === kind.error) {
      const name = `Bad${errorNames[message[1]!] ?? ` ${message[1]}`}`;
      const error = new Error(`the X server refused a request: ${name}, opcode ${message[10]}.${message[8]}`);
      if (isAnswer) question.reject(error);
      else this.#close(error);
    } else if (isAnswer) question.resolve(message);
  }

  #close(error: Error): void {
    this.#end ??= error;
    this.#reportEnd(this.#end);
    this.#socket.destroy();
    for (const { reject } of this.#questions.splice(0)) reject(this.#end);
  }
}

/** Sends the setup request and waits for the reply (section 8, "Connection Setup"). */
function greet(socket: Socket, display: string, proof: Proof): Promise<{ welcome: Buffer; rest: Buffer }> {
  const protocol = Buffer.from(proof.protocol, 'latin1');
  const head = Buffer.alloc(12);
  head.writeUInt8(littleEndian, 0);
  head.writeUInt16LE(11, 2);
  head.writeUInt16LE(protocol.length, 6);
  head.writeUInt16LE(proof.data.length, 8);
  socket.write(Buffer.concat([head, padded(protocol), padded(proof.data)]));
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      stop();
      socket.destroy();
      reject(new Error(`the X server at ${display} ${reason}`));
    };
    const closed = () => fail('closed the connection immediately');
    let answer = Buffer.alloc(0);
    const read = (bytes: Buffer) => {
      answer = Buffer.concat([answer, bytes]);
      if (answer.length < 8) return;
      const length = 8 + answer.readUInt16LE(6) * 4;
      if (answer.length < length) return;
      stop();
      if (answer[0] === 1) resolve({ welcome: answer.subarray(0, length), rest: answer.subarray(length) });
      else fail(`refuses: ${answer.toString('latin1', 8, 8 + answer[1]!).trim()}`);
    };
    const stop = () => socket.off('data', read).off('close', closed).off('error', closed);
    if (socket.destroyed) closed();
    else socket.on('data', read).on('close', closed).on('error', closed);
  });
}

/** Returns the ID of the first screen's root window, which follows the vendor's name and the pixmap formats in the setup reply. */
function rootOf(welcome: Buffer): number {
  const at = 40 + Math.ceil(welcome.readUInt16LE(24) / 4) * 4 + welcome[29]! * 8;
  return welcome.length >= at + 4 ? welcome.readUInt32LE(at) : 0;
}

/** Returns the bytes, padded with zeros to a multiple of four. */
function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

// The proof with which a client authenticates to an X server: a cookie from the authority file (Xau, Xsecurity(7))

/** The identification of an X server in an authority file. */
interface Party {
  readonly family: number;
  readonly address: Buffer;
  /** The display number, such as `0`; '' stands for any display. */
  readonly number: string;
}

interface Proof {
  readonly protocol: string;
  readonly data: Buffer;
}

const maxFileBytes = 1024 * 1024;
const anyFamily = 65535;
const cookieProtocol = 'MIT-MAGIC-COOKIE-1';
const nothing: Proof = { protocol: '', data: Buffer.alloc(0) };

/**
 * Returns the first cookie for a server in the authority file. If there is no cookie, returns an empty proof, which many servers accept.
 * Never rejects.
 */
async function findProof(server: Party, path = join(homedir(), '.Xauthority')): Promise<Proof> {
  const bytes = await readRegularFile(path, maxFileBytes).catch(() => Buffer.alloc(0));
  for (const { party, proof } of readEntries(bytes))
    if (proof.protocol === cookieProtocol && isFor(party, server)) return proof;
  return nothing;
}

function isFor({ family, address, number }: Party, server: Party): boolean {
  const isAddress = family === anyFamily || (family === server.family && address.equals(server.address));
  return isAddress && (number === '' || server.number === '' || number === server.number);
}

/**
 * Yields the entries in an authority file. An entry consists of a family, followed by the address, number, protocol and data, each preceded
 * by its length. All numbers are big-endian.
 */
function* readEntries(bytes: Buffer): Iterable<{ party: Party; proof: Proof }> {
  let place = 0;
  const number = () => {
    place += 2;
    return bytes.readUInt16BE(place - 2);
  };
  const field = () => {
    const length = number();
    place += length;
    if (place > bytes.length) throw new RangeError('cut off');
    return bytes.subarray(place - length, place);
  };
  try {
    while (place < bytes.length) {
      const family = number();
      const [address, display, protocol, data] = [field(), field(), field(), field()];
      yield {
        party: { family, address, number: display.toString('latin1') },
        proof: { protocol: protocol.toString('latin1'), data },
      };
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the file is truncated, but the entries before this point are valid
  }
}

// Connects to the X server in DISPLAY before the hotkey library connects. Without a server, the library would abort the process or
// sometimes hang.

const deadlineMs = 3000;
const firstPort = 6000;

/** The codes of address families in an authority file (Xauth.h). */
const family = { internet: 0, internet6: 6, local: 256 } as const;

/** A connected socket and the server that it is connected to, as identified in an authority file. */
interface Reached {
  readonly socket: Socket;
  readonly server: Party;
}

/**
 * Connects to a display: `:0`, `unix:0.1`, `desk:0`, `localhost:10.0`, `[::1]:0`, or the path of its socket. Errors: `Error` with a
 * readable message.
 */
async function reachDisplay(display: string): Promise<Reached> {
  const { places, number } = readDisplay(display);
  const reasons: string[] = [];
  for (const place of places)
    try {
      const socket = await reach(place);
      return { socket, server: partyOf(socket, number) };
    } catch (error) {
      reasons.push(messageOf(error));
    }
  throw new Error(`no X server is responding on display ${display} (${reasons[0]})`);
}

function readDisplay(display: string): { places: readonly NetConnectOpts[]; number: string } {
  const [, path] = /^(?:unix:)?(\/.+)$/.exec(display) ?? [];
  if (path !== undefined) return { places: [{ path }], number: /:(\d+)$/.exec(path)?.[1] ?? '' };
  const [, host, number] = /^(?:\w+\/)?(\[[\da-f:.]+\]|[\w.-]*|[\da-f:]+):(\d+)(?:\.\d+)?$/i.exec(display) ?? [];
  if (host === undefined || number === undefined)
    throw new Error(`DISPLAY: expected a display such as ":0" or "localhost:10.0", got ${describe(display)}`);
  const local = `/tmp/.X11-unix/X${number}`;
  if (host === '' || host === 'unix') return { places: [{ path: local }, { path: `\0${local}` }], number };
  return { places: [{ host: host.replace(/^\[|\]$/g, ''), port: firstPort + Number(number) }], number };
}

function reach(place: NetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...place, timeout: deadlineMs })
      .once('connect', () => resolve(socket.setTimeout(0)))
      .once('timeout', () => socket.destroy(new Error('no answer')))
      .once('error', reject);
  });
}

/** Returns the identification of a server: by host name if the server is on this machine, otherwise by address. */
function partyOf({ remoteAddress, remoteFamily }: Socket, number: string): Party {
  const address = remoteAddress?.replace(/^::ffff:/, '');
  if (address === undefined || address === '::1' || address.startsWith('127.'))
    return { family: family.local, address: Buffer.from(hostname()), number };
  if (remoteFamily === 'IPv6' && address === remoteAddress)
    return { family: family.internet6, address: bytesOfIpv6(address), number };
  return { family: family.internet, address: Buffer.from(address.split('.').map(Number)), number };
}

function bytesOfIpv6(address: string): Buffer {
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const words = (part: string | undefined) => (part ? part.split(':') : []);
  const [left, right] = [words(head), words(tail)];
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return Buffer.from([...left, ...zeros, ...right].map((word) => word.padStart(4, '0')).join(''), 'hex');
}
