// A process that sends OSC messages to a hub at an even rate, and reports how many it has sent. Each has the next number.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { framingOf } from '../../../lib/connections/osc/framing.ts';
import { encodeBundle, encodeMessage } from '../../../lib/connections/osc/packet.ts';
import { runTask } from '../../support/system/task.ts';

export interface SenderTask {
  readonly port: number;
  readonly way: 'udp' | 'tcp';
  readonly perSecond: number;
  /** How many messages a packet has: 1 is no bundle. */
  readonly perPacket: number;
  readonly parameters: number;
  readonly ms: number;
}

export interface SenderResult {
  readonly sent: number;
  /** The numbers that were sent last, by parameter. */
  readonly last: readonly number[];
}

/** How often it catches up with its rate. */
const everyMs = 2;
/** What a socket may have unsent: more waits. */
const mostUnsentBytes = 262_144;

await runTask(async ({ port, way, perSecond, perPacket, parameters, ms }: SenderTask) => {
  const { send, unsentBytes, end } = await (way === 'udp' ? openUdp(port) : openTcp(port));
  const last: number[] = Array(parameters).fill(0);
  let sent = 0;
  const startedAt = performance.now();
  for (let now = startedAt; now - startedAt < ms; now = performance.now()) {
    const due = Math.min(perSecond * ((now - startedAt) / 1000), perSecond * (ms / 1000));
    while (sent + perPacket <= due && unsentBytes() < mostUnsentBytes) {
      const messages: Buffer[] = [];
      for (let count = 0; count < perPacket; count++) {
        const index = sent % parameters;
        last[index] = ++sent;
        messages.push(encodeMessage(`/ch/${index}/level`, 'i', [sent]));
      }
      send(perPacket === 1 ? messages[0]! : encodeBundle(0, messages));
    }
    await after(everyMs);
  }
  await end();
  return { sent, last } satisfies SenderResult;
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
