// A process with one client of MQTT 3.1.1 that publishes writes of a hub's bridge at an even rate, and counts the states that come back. It writes
// and reads packets of QoS 0 by itself, so that it takes little of the processor that it shares with the hub.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { runTask } from '../../support/system/task.ts';

export interface MqttClientTask {
  readonly port: number;
  /** Its topics are `hub/tree/0` to the one before this. */
  readonly topics: number;
  readonly perSecond: number;
  readonly ms: number;
}

export interface MqttClientResult {
  readonly sent: number;
  readonly received: number;
  /** The topics whose last state is not the last value that was written. */
  readonly wrong: number;
}

/** How often it catches up with its rate. */
const everyMs = 2;

async function drained(socket: Socket): Promise<void> {
  if (socket.writableNeedDrain) await once(socket, 'drain');
}

/** Reads the states from packets: the number in `hub/tree/<index>`. */
class States {
  readonly last: (number | undefined)[];
  count = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(topics: number) {
    this.last = Array(topics).fill(undefined);
  }

  take(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    for (;;) {
      let length = 0;
      let head = at + 1;
      for (let shift = 1; head < all.length; shift *= 128) {
        length += (all[head]! & 127) * shift;
        if ((all[head++]! & 128) === 0) break;
      }
      if (head >= all.length || head + length > all.length || (all[head - 1]! & 128) !== 0) break;
      if (all[at]! >> 4 === 3) this.#note(all, head, head + length);
      at = head + length;
    }
    this.#rest = Buffer.from(all.subarray(at));
  }

  #note(all: Buffer, from: number, to: number): void {
    const end = from + 2 + all.readUInt16BE(from);
    this.count++;
    this.last[numberIn(all, from + 2 + 'hub/tree/'.length, end)] = numberIn(all, end, to);
  }

  async areWhole(): Promise<void> {
    while (this.last.includes(undefined)) await after(20);
  }
}

function numberIn(bytes: Buffer, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = number * 10 + bytes[at]! - 48;
  return number;
}

function field(text: string): readonly number[] {
  return [0, text.length, ...Buffer.from(text)];
}

function packet(type: number, body: readonly number[]): Buffer {
  return Buffer.from([type, body.length, ...body]);
}

function publish(topic: string, value: number): Buffer {
  const text = String(value);
  const bytes = Buffer.allocUnsafe(4 + topic.length + text.length);
  bytes[0] = 0x30;
  bytes[1] = 2 + topic.length + text.length;
  bytes.writeUInt16BE(topic.length, 2);
  bytes.write(topic, 4, 'latin1');
  bytes.write(text, 4 + topic.length, 'latin1');
  return bytes;
}

await runTask(async ({ port, topics, perSecond, ms }: MqttClientTask) => {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  const states = new States(topics);
  socket.on('data', (bytes: Buffer) => states.take(bytes));
  socket.write(packet(0x10, [...field('MQTT'), 4, 2, 0, 0, ...field('load')]));
  socket.write(packet(0x82, [0, 1, ...field('hub/tree/+'), 0]));
  await states.areWhole();
  const written: number[] = Array(topics).fill(0);
  const from = states.count;
  let sent = 0;
  const startMs = performance.now();
  for (let now = startMs; now - startMs < ms; now = performance.now()) {
    const parts: Buffer[] = [];
    for (const due = (perSecond * (now - startMs)) / 1000; sent < due; ) {
      const index = sent % topics;
      written[index] = ++sent;
      parts.push(publish(`hub/tree/${index}/set`, sent));
    }
    if (parts.length > 0 && !socket.write(Buffer.concat(parts))) await drained(socket);
    await after(everyMs);
  }
  const received = states.count - from;
  const wrong = () => written.filter((value, index) => states.last[index] !== value).length;
  for (const endMs = performance.now() + 5000; wrong() > 0 && performance.now() < endMs; ) await after(50);
  socket.destroy();
  return { sent, received, wrong: wrong() } satisfies MqttClientResult;
});
