// What the hub keeps for clients that do not read is bounded: beyond that they are given up, and it is said by which limit.

import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { limits } from '../../../../../lib/connections/rest-api/limits/client-limits.ts';
import { ScriptedDesk } from '../../../../support/sockets/scripted/desk.ts';
import { ScriptedReader } from '../../../../support/sockets/scripted/reader.ts';

const padding = 'x'.repeat(20_000);
const parameter = (id: string) => ({ id, type: 'S', access: 'read-write' }) as const;

/** A desk, and clients of it that want all changes. */
async function start(count: number) {
  const context = new ScriptedDesk(Array.from({ length: count }, (_, index) => parameter(`p${index}`)));
  const connect = async () => {
    const reader = new ScriptedReader(context);
    reader.subscribe(0, { include: ['**'], rate: 0, delivery: 'all' });
    do {
      await setImmediate();
      reader.drain();
    } while (reader.state !== 'live');
    return reader;
  };
  let stops = 0;
  /** It reads no more, and its socket is full. */
  const stop = async (reader: ScriptedReader) => {
    reader.socket.isReading = false;
    context.set('desk/p0', `${++stops} ${padding}`);
    while (!reader.client.isFull) await setImmediate();
  };
  return { context, connect, stop };
}

test('a client that does not read is given up when it has too many new parameters to receive', async (t) => {
  const { context, connect, stop } = await start(1);
  const [stopped, reading] = [await connect(), await connect()];
  await stop(stopped);
  const come = async (number: number) => {
    context.declare(parameter(`new-${number}`));
    await setImmediate();
    reading.drain();
  };
  for (let number = 0; number < limits.unsentFrames.default; number++) await come(number);
  t.deepEqual(context.givenUp, []);
  await come(limits.unsentFrames.default);
  t.deepEqual(context.givenUp, [[stopped.client, 'unsentFrames']]);
  t.deepEqual([...stopped.faults, ...reading.faults], []);
});

test('the longest idle reader is given up when too many changes are counted for clients that want all and do not read', async (t) => {
  const most = limits.missedChanges.default * 0.6; // of each
  const { context, connect, stop } = await start(most);
  const first = await connect();
  await stop(first);
  for (let place = 1; place < most; place++) context.set(`desk/p${place}`, '1');
  const second = await connect();
  await stop(second);
  t.deepEqual(context.givenUp, []);
  for (let place = 1; place < most; place++) context.set(`desk/p${place}`, '2');
  while (context.givenUp.length === 0) await setImmediate();
  t.deepEqual(context.givenUp, [[first.client, 'missedChanges']]);
});
