// Ordinary clients of a hub under attack: half plain, half patchbay.v1. Each writes its own parameter a few times a second and subscribes
// to all of them; the latency of every change is measured at every client. Meanwhile another client with valid credentials connects again
// and again.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { becomesSo } from '../deadline.ts';
import { runTask } from '../system/task.ts';
import { type Credentials, type Entrances, HandshakeRequest } from './comer.ts';
import { FrameReader } from './frame-reader.ts';
import { Histogram } from './histogram.ts';
import { openV1Socket, readMessage } from './v1-socket.ts';
import { encodeClientText, opcodes, openWebSocket } from './web-socket.ts';
import { countOf, type Windows } from './windows.ts';

export interface NeighboursTask {
  readonly port: number;
  /** The address of the parameter of each of them, a float. */
  readonly addresses: readonly string[];
  /** How long they are watched before the abuse begins, and during it. */
  readonly beforeMs: number;
  readonly duringMs: number;
  /** Measures these windows in the place of the time during it. */
  readonly windows?: Windows;
  /** The token of the user that they are; if omitted, they are nobody. */
  readonly token?: string | undefined;
  /** Who comes in meanwhile; if omitted, nobody. */
  readonly handshakeRequest?: Credentials;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  /** The time for which a client received nothing, in ms. */
  readonly longestGap: number;
  readonly changes: number;
}

export interface NeighboursResult {
  readonly before: Latency;
  readonly during: Latency;
  /** The p99 of each window. */
  readonly p99s: readonly number[];
  /** How the right credentials came in meanwhile. */
  readonly entrances: Entrances | undefined;
}

const writeEveryMs = 250;
/** Changes still missing this long after the end count with this latency. */
const graceMs = 2000;

/** The changes that are written in a time, and how long they take to each neighbour. */
class Measured {
  readonly latencies = new Histogram();
  readonly fromMs: number;
  readonly toMs: number;
  written = 0;

  constructor(fromMs: number, ms: number) {
    this.fromMs = fromMs;
    this.toMs = fromMs + ms;
  }

  has(timeMs: number): boolean {
    return timeMs >= this.fromMs && timeMs < this.toMs;
  }
}

/** The changes that a number of clients have received from one another while they are measured. */
class Heard {
  #measured: readonly Measured[] = [];
  /** When each client last received anything. */
  readonly #lastAt: number[];
  #longestGap = 0;

  constructor(neighbours: number) {
    this.#lastAt = Array.from({ length: neighbours }, () => performance.now());
  }

  /** One of them writes now: returns the time, which is what it writes. */
  noteWrite(): number {
    const now = performance.now();
    const measured = this.#find(now);
    if (measured !== undefined) measured.written++;
    return now;
  }

  /** A client receives a change, with the time of its write. */
  note(neighbour: number, writtenAt: number): void {
    const now = performance.now();
    this.#longestGap = Math.max(this.#longestGap, now - this.#lastAt[neighbour]!);
    this.#lastAt[neighbour] = now;
    this.#find(writtenAt)?.latencies.add(now - writtenAt);
  }

  #find(timeMs: number): Measured | undefined {
    return this.#measured.find((one) => one.has(timeMs));
  }

  /** Measures so many times of this length, one after the other; returns each, and all of it. */
  async measure(ms: number, times = 1): Promise<{ readonly all: Latency; readonly p99s: readonly number[] }> {
    const from = performance.now();
    this.#measured = Array.from({ length: times }, (_, time) => new Measured(from + time * ms, ms));
    this.#longestGap = 0;
    this.#lastAt.fill(from);
    await after(ms * times);
    const neighbours = this.#lastAt.length;
    const missingOf = ({ written, latencies }: Measured) => written * neighbours - latencies.total;
    const areWhole = () => this.#measured.every((one) => missingOf(one) <= 0);
    await becomesSo(areWhole, { deadlineMs: graceMs, everyMs: 10 });
    const changes = this.#measured.reduce((sum, { latencies }) => sum + latencies.total, 0);
    for (const one of this.#measured) for (let left = missingOf(one); left > 0; left--) one.latencies.add(graceMs);
    const now = performance.now();
    const longestGap = this.#lastAt.reduce((longest, at) => Math.max(longest, now - at), this.#longestGap);
    const each = (fraction: number) => this.#measured.map(({ latencies }) => latencies.percentile(fraction));
    const p99s = each(0.99);
    return { all: { p50: Math.max(...each(0.5)), p99: Math.max(...p99s), longestGap, changes }, p99s };
  }
}

await runTask(async (task: NeighboursTask) => {
  const { port, addresses, beforeMs, duringMs, windows, token, handshakeRequest: credentials } = task;
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
  const { all: before } = await heard.measure(beforeMs);
  process.send!({ result: 'begin' });
  await once(process, 'message');
  const handshakeRequest = credentials && new HandshakeRequest(port, credentials);
  handshakeRequest?.start();
  const [ms, times] = windows === undefined ? [duringMs, 1] : [windows.ms, countOf(windows)];
  const { all: during, p99s } = await heard.measure(ms, times);
  const entrances = handshakeRequest?.stop();
  for (const timer of timers) clearTimeout(timer);
  if (failure !== undefined) throw new Error(`expected neighbours to stay connected, got: ${failure}`);
  return { before, during, p99s, entrances } satisfies NeighboursResult;
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
