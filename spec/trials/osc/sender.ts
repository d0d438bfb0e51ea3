// A process that sends OSC messages at an even rate, in windows that alternate between the hub and a baseline hub beside it, and reports
// how many it has sent. Each message carries a sequence number.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { framingOf } from '../../../lib/connections/osc/framing.ts';
import { encodeBundle, encodeMessage } from '../../../lib/connections/osc/packet.ts';
import { countOf, reachesHub, type Windows } from '../../support/load/windows.ts';
import { runTask } from '../../support/system/task.ts';

export interface SenderTask {
  /** The ports of the hub and of the one beside it. */
  readonly ports: readonly [number, number];
  readonly way: 'udp' | 'tcp';
  readonly perSecond: number;
  /** How many messages a packet has: 1 is no bundle. */
  readonly perPacket: number;
  readonly parameters: number;
  readonly windows: Windows;
}

/** What was sent to a hub. */
export interface SenderResult {
  readonly packets: number;
  /** The numbers that were sent last, by parameter. */
  readonly last: readonly number[];
}

/** How often it catches up with its rate. */
const everyMs = 2;
/** What a socket may have unsent: more waits. */
const mostUnsentBytes = 262_144;

await runTask(async ({ ports, way, perSecond, perPacket, parameters, windows }: SenderTask) => {
  const links = await Promise.all(ports.map((port) => (way === 'udp' ? openUdp(port) : openTcp(port))));
  const results = ports.map(() => ({ packets: 0, last: Array<number>(parameters).fill(0) }));
  process.send!({ result: 'ready' });
  await once(process, 'message');
  const ms = windows.ms * countOf(windows);
  let sent = 0;
  const startedAt = performance.now();
  for (let now = startedAt; now - startedAt < ms; now = performance.now()) {
    const hub = reachesHub(Math.floor((now - startedAt) / windows.ms)) ? 0 : 1;
    const { send, unsentBytes } = links[hub]!;
    const due = (perSecond * (now - startedAt)) / 1000;
    while (sent + perPacket <= due && unsentBytes() < mostUnsentBytes) {
      const messages: Buffer[] = [];
      for (let count = 0; count < perPacket; count++) {
        const index = sent % parameters;
        results[hub]!.last[index] = ++sent;
        messages.push(encodeMessage(`/ch/${index}/level`, 'i', [sent]));
      }
      send(perPacket === 1 ? messages[0]! : encodeBundle(0, messages));
      results[hub]!.packets++;
    }
    await after(everyMs);
  }
  for (const { end } of links) await end();
  return results satisfies readonly SenderResult[];
});

async function openUdp(port: number) {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return {
    send: (packet: Buffer) => socket.send(packet),
    unsentBytes: () => socket.getSendQueueSize(),
    end: () => after(200),
  };
}

async function openTcp(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return {
    send: (packet: Buffer) => void socket.write(framingOf('slip').wrap(packet)),
    unsentBytes: () => socket.writableLength,
    end: () => new Promise<void>((resolve) => socket.end(resolve)),
  };
}
