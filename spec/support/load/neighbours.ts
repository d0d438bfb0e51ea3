// Ordinary clients of a hub that is abused: half of them plain, half of patchbay.v1. Each writes a parameter of its own a few times
// a second and hears of all; what is measured is how long each change takes to each of them. Beside them somebody comes in with the right
// credentials, again and again.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { becomesSo } from '../deadline.ts';
import { runTask } from '../system/task.ts';
import { type Credentials, type Entrances, HandshakeRequest } from './comer.ts';
import { FrameReader } from './frame-reader.ts';
import { Histogram } from './histogram.ts';
import { openV1Socket, readMessage } from './v1-socket.ts';
import { encodeClientText, opcodes, openWebSocket } from './web-socket.ts';

export interface NeighboursTask {
  readonly port: number;
  /** The address of the parameter of each of them, a float. */
  readonly addresses: readonly string[];
  /** How long they are watched before the abuse begins, and during it. */
  readonly beforeMs: number;
  readonly duringMs: number;
  /** The token of the user that they are; if omitted, they are nobody. */
  readonly token?: string | undefined;
  /** Who comes in meanwhile; if omitted, nobody. */
  readonly handshakeRequest?: Credentials;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  /** For how long one of them heard nothing, in ms. */
  readonly longestGap: number;
  readonly changes: number;
}

export interface NeighboursResult {
  readonly before: Latency;
  readonly during: Latency;
  /** How the right credentials came in meanwhile. */
  readonly entrances: Entrances | undefined;
}

const writeEveryMs = 250;
/** What has not arrived so long after the end counts as having taken as long. */
const graceMs = 2000;

/** What so many neighbours have heard of one another while they are measured. */
class Heard {
  readonly #latencies = new Histogram();
  /** When each of them heard anything last. */
  readonly #lastAt: number[];
  #longestGap = 0;
  #written = 0;
  #heard = 0;
  #from = performance.now();
  #to = this.#from;

  constructor(neighbours: number) {
    this.#lastAt = Array.from({ length: neighbours }, () => this.#from);
  }

  /** One of them writes now: returns the time, which is what it writes. */
  noteWrite(): number {
    const now = performance.now();
    if (this.#isMeasured(now)) this.#written++;
    return now;
  }

  /** One of them hears what was written at a time. */
  note(neighbour: number, writtenAt: number): void {
    const now = performance.now();
    this.#longestGap = Math.max(this.#longestGap, now - this.#lastAt[neighbour]!);
    this.#lastAt[neighbour] = now;
    if (!this.#isMeasured(writtenAt)) return;
    this.#heard++;
    this.#latencies.add(now - writtenAt);
  }

  async measure(ms: number): Promise<Latency> {
    this.#latencies.clear();
    this.#written = 0;
    this.#heard = 0;
    this.#longestGap = 0;
    this.#from = performance.now();
    this.#lastAt.fill(this.#from);
    this.#to = this.#from + ms;
    await after(ms);
    const missing = () => this.#written * this.#lastAt.length - this.#heard;
    await becomesSo(() => missing() <= 0, { deadlineMs: graceMs, everyMs: 10 });
    for (let left = missing(); left > 0; left--) this.#latencies.add(graceMs);
    const now = performance.now();
    const longestGap = this.#lastAt.reduce((longest, at) => Math.max(longest, now - at), this.#longestGap);
    const [p50, p99] = [this.#latencies.percentile(0.5), this.#latencies.percentile(0.99)];
    return { p50, p99, longestGap, changes: this.#heard };
  }

  #isMeasured(timeMs: number): boolean {
    return timeMs >= this.#from && timeMs <= this.#to;
  }
}

await runTask(async ({ port, addresses, beforeMs, duringMs, token, handshakeRequest: credentials }: NeighboursTask) => {
  const headers: Headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const heard = new Heard(addresses.length);
  let failure: string | undefined;
  const onEnd = (reason: string) => {
    failure ??= reason;
  };
  const senders = await Promise.all(
    addresses.map((_, client) => {
      const hear = (writtenAt: number) => heard.note(client, writtenAt);
      return client % 2 === 0 ? openPlain(port, addresses, headers, hear, onEnd) : openV1(port, headers, hear, onEnd);
    }),
  );
  const timers = senders.map((send, client) => {
    const write = () => send(addresses[client]!, heard.noteWrite());
    return setTimeout(() => setInterval(write, writeEveryMs), (client * writeEveryMs) / addresses.length);
  });
  await after(500); // until all of it is compiled
  const before = await heard.measure(beforeMs);
  process.send!({ result: 'begin' });
  await once(process, 'message');
  const handshakeRequest = credentials && new HandshakeRequest(port, credentials);
  handshakeRequest?.start();
  const during = await heard.measure(duringMs);
  const entrances = handshakeRequest?.stop();
  for (const timer of timers) clearTimeout(timer);
  if (failure !== undefined) throw new Error(`expected neighbours to stay connected, got: ${failure}`);
  return { before, during, entrances } satisfies NeighboursResult;
});

type Headers = Readonly<Record<string, string>>;
type Send = (address: string, value: number) => void;

async function openPlain(
  port: number,
  addresses: readonly string[],
  headers: Headers,
  hear: (writtenAt: number) => void,
  onClose: (reason: string) => void,
): Promise<Send> {
  const frames = new FrameReader((payload, opcode) => {
    if (opcode !== opcodes.text) return;
    const { p, v } = JSON.parse(payload.toString()) as { p: string; v: string };
    if (addresses.includes(p)) hear(Number(v));
  });
  const onBytes = (chunk: Buffer, length: number) => frames.read(chunk, length);
  const filter = encodeURIComponent('^desk/neighbour');
  const socket = await openWebSocket(port, `/ws?filter=${filter}`, { onBytes, onClose }, undefined, { headers });
  return (p, v) => void socket.write(encodeClientText(JSON.stringify({ p, v })));
}

async function openV1(
  port: number,
  headers: Headers,
  hear: (writtenAt: number) => void,
  onEnd: (reason: string) => void,
): Promise<Send> {
  const onText = (payload: Buffer) => {
    for (const [, value] of readMessage(payload.toString()).set ?? []) hear(value);
  };
  const v1 = await openV1Socket(port, onText, onEnd, headers);
  v1.send({ sub: 1, include: ['desk/neighbour/*'], delivery: 'all' });
  return (address, value) => v1.send({ set: [[address, value]] });
}
