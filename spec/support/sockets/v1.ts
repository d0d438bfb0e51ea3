// A client of patchbay.v1 for specs, written from the protocol's document alone: raw frames, so that it can stop reading and
// can be cut; and the picture that it keeps, with all that it was told, in order.

import type { ExecutionContext } from 'ava';
import { within } from '../deadline.ts';
import { Inbox } from '../inbox.ts';
import { opcodes, openRawClient } from './socket.ts';

export type Scalar = string | number | boolean;

/** Any message of the hub. */
export interface Message {
  readonly hello?: { epoch: string; hub: string; limits: Record<string, number> };
  readonly sub?: number;
  readonly unsub?: number;
  readonly mode?: 'snapshot' | 'resume';
  readonly rate?: number;
  readonly delivery?: string;
  readonly def?: [id: number, address: string, type: string, access: string][];
  readonly undef?: number[];
  readonly set?: [id: number, value: Scalar][];
  readonly fired?: number[];
  readonly rev?: number;
  readonly end?: number;
  readonly lost?: Record<string, number>;
  readonly stale?: number[];
  readonly ageMs?: number;
  readonly fresh?: number[];
  readonly ack?: number;
  readonly errors?: [address: string | number, text: string][];
  readonly error?: string;
  readonly pong?: number;
  readonly bye?: { code: number; reason: string; retry: boolean };
}

export interface V1Client {
  /** What the first message said. */
  readonly epoch: string;
  readonly messages: Inbox<Message>;
  readonly picture: Picture;
  readonly receivedBytes: number;
  send(message: object): void;
  /** Sends a frame of any kind. */
  sendRaw(opcode: number, payload: string | Uint8Array): void;
  next(): Promise<Message>;
  /** Reads up to the first message that the test lets through; returns all that were read. */
  until(isLast: (message: Message) => boolean, what?: string): Promise<Message[]>;
  /** Subscribes and reads up to the end of the picture. */
  subscribe(message: SubscribeMessage): Promise<Message[]>;
  /** Asks for an answer and reads up to it: all that the hub had sent has been read then. */
  sync(): Promise<Message[]>;
  pause(): void;
  resume(): void;
  /** Resolves with the code of the hub's close frame when the connection is gone; undefined: it was cut. */
  closed(): Promise<number | undefined>;
  cut(): void;
}

/** `{sub: 1, include: ['desk/**']}`. */
export interface SubscribeMessage {
  readonly sub: number;
  readonly [key: string]: unknown;
}

const kinds = [
  'hello',
  'sub',
  'unsub',
  'def',
  'undef',
  'set',
  'fired',
  'end',
  'lost',
  'stale',
  'fresh',
  'wanted',
  'about',
  'ack',
  'errors',
  'error',
  'pong',
  'bye',
];

/** Opens a client; `picture` goes on with what another kept. Errors: when it is refused. */
export async function openV1(
  t: ExecutionContext,
  port: number,
  picture = new Picture(),
  headers: Record<string, string> = {},
): Promise<V1Client> {
  const raw = await openRawClient(t, port, '', undefined, { 'sec-websocket-protocol': 'patchbay.v1', ...headers });
  const messages = new Inbox<Message>();
  let closeCode: number | undefined;
  let pings = 0;
  raw.frames.listen(({ opcode, payload }) => {
    if (opcode === opcodes.close) closeCode = payload.readUInt16BE(0);
    if (opcode !== opcodes.text) return;
    const message: Message = JSON.parse(payload.toString());
    if (!kinds.some((kind) => kind in message)) picture.faults.push(`unknown message ${payload}`);
    picture.take(message);
    messages.put(message);
  });
  const { hello } = await messages.next();
  const client: V1Client = {
    epoch: hello!.epoch,
    messages,
    picture,
    get receivedBytes() {
      return raw.receivedBytes;
    },
    send: (message) => raw.send(opcodes.text, JSON.stringify(message)),
    sendRaw: (opcode, payload) => raw.send(opcode, payload),
    next: () => messages.next('a message of the hub'),
    until: (isLast, what) => messages.until(isLast, what),
    subscribe(message) {
      client.send(message);
      return messages.until(({ end, error }) => end === message.sub || error !== undefined, 'the end of the picture');
    },
    sync() {
      const ping = ++pings;
      client.send({ ping });
      return messages.until(({ pong }) => pong === ping, `pong ${ping}`);
    },
    pause: raw.pause,
    resume: raw.resume,
    async closed() {
      await within(raw.closed(), 'the socket being closed');
      return closeCode;
    },
    cut: raw.cut,
  };
  return client;
}

/** What a client knows: it is told by messages alone, and notes every fault of theirs. */
export class Picture {
  readonly addresses = new Map<number, string>();
  readonly types = new Map<string, string>();
  readonly values = new Map<string, Scalar>();
  /** Every value that came, by address, in order. */
  readonly sequences = new Map<string, Scalar[]>();
  readonly fires = new Map<string, number>();
  readonly lost = new Map<string, number>();
  /** By address, how old a parameter was when this connection told so. */
  readonly stale = new Map<string, number>();
  readonly faults: string[] = [];
  rev = 0;
  /** The revision that was told last. */
  lastRev = 0;

  take({
    hello,
    def = [],
    undef = [],
    set = [],
    fired = [],
    lost = {},
    stale = [],
    ageMs = 0,
    fresh = [],
    rev = 0,
  }: Message): void {
    if (hello !== undefined) this.stale.clear();
    for (const [id, address, type] of def) {
      const known = this.addresses.get(id);
      if (known !== undefined && known !== address) this.faults.push(`${id} is ${known}, and now ${address}`);
      this.addresses.set(id, address);
      this.types.set(address, type);
    }
    for (const id of undef) {
      const address = this.addresses.get(id);
      this.addresses.delete(id);
      if (address === undefined || [...this.addresses.values()].includes(address)) continue;
      this.types.delete(address);
      this.values.delete(address);
    }
    for (const [id, value] of set) {
      const address = this.#addressOf(id);
      this.values.set(address, value);
      const sequence = this.sequences.get(address);
      if (sequence === undefined) this.sequences.set(address, [value]);
      else sequence.push(value);
    }
    for (const id of fired) add(this.fires, this.#addressOf(id), 1);
    for (const [id, count] of Object.entries(lost)) add(this.lost, this.#addressOf(Number(id)), count);
    for (const id of stale) this.stale.set(this.#addressOf(id), ageMs);
    for (const id of fresh) this.stale.delete(this.#addressOf(id));
    this.rev = Math.max(this.rev, rev);
  }

  /** Forgets all, as after `"mode":"snapshot"`. */
  drop(): void {
    this.addresses.clear();
    this.types.clear();
    this.values.clear();
    this.rev = 0;
  }

  #addressOf(id: number): string {
    const address = this.addresses.get(id);
    if (address === undefined) this.faults.push(`${id} was used and not defined`);
    return address ?? `?${id}`;
  }
}

function add(sums: Map<string, number>, key: string, count: number): void {
  sums.set(key, (sums.get(key) ?? 0) + count);
}
