// WebSocket clients: one as programs use it, and one of raw frames that can stop reading and can misbehave.

import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { within } from '../deadline.ts';
import { openWire, request } from '../http.ts';
import { Inbox } from '../inbox.ts';

/** What the hub sends: a notification or an error. */
export interface Frame {
  readonly p?: string;
  readonly v?: string;
  readonly error?: string;
}

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

export interface Client {
  readonly frames: Inbox<Frame>;
  readonly isOpen: boolean;
  /** Sends data as JSON, and text and bytes as they are. */
  send(message: unknown): void;
  next(): Promise<Frame>;
  /** Resolves when the socket is closed. */
  closed(): Promise<Closing>;
  close(): void;
}

/** Opens a WebSocket: `openClient(t, hub.port, '?snapshot=true')`. Errors: when it is refused. */
export async function openClient(t: ExecutionContext, port: number, query = '', headers = {}): Promise<Client> {
  const options = { headers } as unknown as string[]; // Node's client takes headers here
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws${query}`, options);
  const frames = new Inbox<Frame>();
  const closing = new Promise<Closing>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }));
  });
  socket.addEventListener('message', ({ data }) => frames.put(JSON.parse(data)));
  t.teardown(() => socket.close());
  const opening = new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('close', () => reject(new Error('the WebSocket was refused')));
  });
  await within(opening, 'the WebSocket opening');
  return {
    frames,
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    send: (message) =>
      socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message)),
    next: () => frames.next('a frame'),
    closed: () => within(closing, 'the WebSocket being closed'),
    close: () => socket.close(),
  };
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface RawFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export interface RawClient {
  readonly frames: Inbox<RawFrame>;
  /** How many bytes have been read off the connection since the handshake. */
  readonly receivedBytes: number;
  /** Sends a frame, masked as RFC 6455 wants it of clients. */
  send(opcode: number, payload: string | Uint8Array, isFinal?: boolean): void;
  /** Stops reading; what comes is held by the kernels, and then by the hub. */
  pause(): void;
  resume(): void;
  closed(): Promise<void>;
  /** Cuts the connection without a goodbye. */
  cut(): void;
}

/** Opens a WebSocket of raw frames. Errors: when it is refused. */
export async function openRawClient(
  t: ExecutionContext,
  port: number,
  query = '',
  ca?: string,
  headers: Record<string, string> = {},
): Promise<RawClient> {
  const wire = await openWire(t, port, ca);
  const { socket } = wire;
  wire.send(request(`GET /ws${query}`, { headers: { ...handshake(), ...headers } }));
  const { status, text } = await wire.answer();
  if (status !== 101) throw new Error(`the WebSocket was refused: ${status} ${text}`);
  const frames = new Inbox<RawFrame>();
  let receivedBytes = 0;
  let unread: Buffer = Buffer.alloc(0);
  const read = (data: Buffer) => {
    receivedBytes += data.length;
    unread = unread.length === 0 ? data : Buffer.concat([unread, data]);
    let offset = 0;
    for (let frame = readFrame(unread, offset); frame; frame = readFrame(unread, offset)) {
      offset = frame.end;
      frames.put({ opcode: frame.opcode, payload: frame.payload });
    }
    unread = unread.subarray(offset);
  };
  socket.removeAllListeners('data');
  socket.on('data', read);
  read(wire.rest());
  return {
    frames,
    get receivedBytes() {
      return receivedBytes;
    },
    send: (opcode, payload, isFinal = true) =>
      void socket.write(maskedFrame((isFinal ? 0x80 : 0) | opcode, Buffer.from(payload))),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    closed: async () => void (await wire.closed()),
    cut: () => void socket.destroy(),
  };
}

/** The headers of a WebSocket handshake. */
export function handshake(): Record<string, string> {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  };
}

function readFrame(data: Buffer, start: number): (RawFrame & { end: number }) | undefined {
  if (data.length < start + 2) return undefined;
  const short = data[start + 1]! & 0x7f;
  const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (data.length < start + headBytes) return undefined;
  const length =
    short === 126 ? data.readUInt16BE(start + 2) : short === 127 ? Number(data.readBigUInt64BE(start + 2)) : short;
  const end = start + headBytes + length;
  if (data.length < end) return undefined;
  return { opcode: data[start]! & 0x0f, payload: data.subarray(start + headBytes, end), end };
}

function maskedFrame(firstByte: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  head[0] = firstByte;
  if (payload.length < 126) head[1] = 0x80 | payload.length;
  else if (payload.length < 65_536) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(payload.length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ mask[index % 4]!)]);
}
