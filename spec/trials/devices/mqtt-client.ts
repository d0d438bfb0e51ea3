// A process with one MQTT 3.1.1 client that publishes writes at an even rate, in windows that alternate between the bridge of a hub and a
// baseline relay, and counts the states it receives. It encodes and decodes QoS 0 packets itself to take little of the CPU that it shares
// with the hub.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { countOf, reachesHub, type Windows } from '../../support/load/windows.ts';
import { runTask } from '../../support/system/task.ts';
import { besidePrefix, bridgePrefix } from './mqtt-topics.ts';

export interface MqttClientTask {
  readonly port: number;
  /** Its topics are `hub/tree/0` to the one before this. */
  readonly topics: number;
  readonly perSecond: number;
  readonly windows: Windows;
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
  /** By prefix. */
  readonly last: Readonly<Record<string, (number | undefined)[]>>;
  count = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(topics: number) {
    const none = () => Array<number | undefined>(topics).fill(undefined);
    this.last = { [bridgePrefix]: none(), [besidePrefix]: none() };
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
    const last = all[from + 2] === bridgePrefix.charCodeAt(0) ? this.last[bridgePrefix]! : this.last[besidePrefix]!;
    last[numberIn(all, from + 2 + `${bridgePrefix}/tree/`.length, end)] = numberIn(all, end, to);
  }

  async areWhole(): Promise<void> {
    while (Object.values(this.last).some((states) => states.includes(undefined))) await after(20);
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

await runTask(async ({ port, topics, perSecond, windows }: MqttClientTask) => {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  const states = new States(topics);
  socket.on('data', (bytes: Buffer) => states.take(bytes));
  socket.write(packet(0x10, [...field('MQTT'), 4, 2, 0, 0, ...field('load')]));
  for (const prefix of [bridgePrefix, besidePrefix])
    socket.write(packet(0x82, [0, 1, ...field(`${prefix}/tree/+`), 0]));
  await states.areWhole();
  process.send!({ result: 'ready' });
  await once(process, 'message');
  const zeros = () => Array<number>(topics).fill(0);
  const written: Readonly<Record<string, number[]>> = { [bridgePrefix]: zeros(), [besidePrefix]: zeros() };
  const ms = windows.ms * countOf(windows);
  const from = states.count;
  let sent = 0;
  const startMs = performance.now();
  for (let now = startMs; now - startMs < ms; now = performance.now()) {
    const parts: Buffer[] = [];
    const prefix = reachesHub(Math.floor((now - startMs) / windows.ms)) ? bridgePrefix : besidePrefix;
    for (const due = (perSecond * (now - startMs)) / 1000; sent < due; ) {
      const index = sent % topics;
      written[prefix]![index] = ++sent;
      parts.push(publish(`${prefix}/tree/${index}/set`, sent));
    }
    if (parts.length > 0 && !socket.write(Buffer.concat(parts))) await drained(socket);
    await after(everyMs);
  }
  const received = states.count - from;
  const wrong = () =>
    Object.entries(written).reduce((sum, [prefix, values]) => {
      return sum + values.filter((value, index) => states.last[prefix]![index] !== value).length;
    }, 0);
  for (const endMs = performance.now() + 5000; wrong() > 0 && performance.now() < endMs; ) await after(50);
  socket.destroy();
  return { sent, received, wrong: wrong() } satisfies MqttClientResult;
});
