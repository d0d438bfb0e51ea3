// Ordinary clients of a hub that is abused: half of them plain, half of patchbay.v1. Each writes a parameter of its own a few times
// a second and hears of all; what is measured is how long each change takes to each of them.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { Histogram } from '../../load/histogram.ts';
import { FrameReader } from '../../load/received/frame-reader.ts';
import { openV1Socket, readMessage } from '../../load/sockets/v1-socket.ts';
import { encodeClientText, openWebSocket } from '../../load/sockets/web-socket.ts';
import { runTask } from '../task.ts';

export interface NeighboursTask {
  readonly port: number;
  /** The address of the parameter of each of them, a float. */
  readonly addresses: readonly string[];
  /** How long they are watched before the abuse begins, and during it. */
  readonly beforeMs: number;
  readonly duringMs: number;
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
}

const writeEveryMs = 250;
/** What has not arrived so long after the end counts as having taken as long. */
const graceMs = 2000;

await runTask(async ({ port, addresses, beforeMs, duringMs }: NeighboursTask) => {
  const latencies = new Histogram();
  const lastHeard = addresses.map(() => performance.now());
  let longestGap = 0;
  let written = 0;
  let heard = 0;
  let failure: string | undefined;
  let measuredFrom = performance.now();
  let measuredTo = measuredFrom;

  const hear = (client: number, writtenAt: number) => {
    const now = performance.now();
    longestGap = Math.max(longestGap, now - lastHeard[client]!);
    lastHeard[client] = now;
    if (writtenAt < measuredFrom || writtenAt > measuredTo) return;
    heard++;
    latencies.add(now - writtenAt);
  };
  const onEnd = (reason: string) => {
    failure ??= reason;
  };
  const senders = await Promise.all(
    addresses.map((_, client) => (client % 2 === 0 ? openPlain(client) : openV1(client))),
  );
  const timers = senders.map((send, client) => {
    const write = () => {
      const now = performance.now();
      if (now >= measuredFrom && now <= measuredTo) written++;
      send(addresses[client]!, now);
    };
    return setTimeout(() => setInterval(write, writeEveryMs), (client * writeEveryMs) / addresses.length);
  });
  await after(500); // until all of it is compiled
  const before = await measure(beforeMs);
  process.send!({ result: 'begin' });
  await once(process, 'message');
  const during = await measure(duringMs);
  for (const timer of timers) clearTimeout(timer);
  if (failure !== undefined) throw new Error(`expected neighbours to stay connected, got: ${failure}`);
  return { before, during } satisfies NeighboursResult;

  async function measure(ms: number): Promise<Latency> {
    latencies.clear();
    written = 0;
    heard = 0;
    longestGap = 0;
    measuredFrom = performance.now();
    lastHeard.fill(measuredFrom);
    measuredTo = measuredFrom + ms;
    await after(ms);
    const expected = () => written * addresses.length;
    while (heard < expected() && performance.now() < measuredTo + graceMs) await after(10);
    for (let missing = expected() - heard; missing > 0; missing--) latencies.add(graceMs);
    for (const at of lastHeard) longestGap = Math.max(longestGap, performance.now() - at);
    return { p50: latencies.percentile(0.5), p99: latencies.percentile(0.99), longestGap, changes: heard };
  }

  async function openPlain(client: number) {
    const frames = new FrameReader((payload, opcode) => {
      if (opcode !== 1) return;
      const { p, v } = JSON.parse(payload.toString()) as { p: string; v: string };
      if (addresses.includes(p)) hear(client, Number(v));
    });
    const onBytes = (chunk: Buffer, length: number) => frames.read(chunk, length);
    const filter = encodeURIComponent('^desk/neighbour');
    const socket = await openWebSocket(port, `/ws?filter=${filter}`, { onBytes, onClose: onEnd });
    return (p: string, v: number) => void socket.write(encodeClientText(JSON.stringify({ p, v })));
  }

  async function openV1(client: number) {
    const onText = (payload: Buffer) => {
      for (const [, value] of readMessage(payload.toString()).set ?? []) hear(client, value);
    };
    const v1 = await openV1Socket(port, onText, onEnd);
    v1.send({ sub: 1, include: ['desk/neighbour/*'], delivery: 'all' });
    return (address: string, value: number) => v1.send({ set: [[address, value]] });
  }
});
