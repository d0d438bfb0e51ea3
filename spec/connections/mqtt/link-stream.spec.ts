// The stream between a link and the client of MQTT: how much of a flood is handled in one round of the event loop, and in which order.

import { setImmediate as nextRound } from 'node:timers/promises';
import test from 'ava';
import { LinkStream, readPerRound, readPerRoundBytes } from '../../../lib/connections/mqtt/link-stream.ts';
import { PublishWriter } from '../../../lib/connections/mqtt/publish-packet.ts';

const versions = [4, 5] as const;

function packetOf(
  topic: string,
  payload: string,
  version: 4 | 5,
  isRetained = false,
  property?: readonly [name: string, value: string],
): Buffer {
  const writer = new PublishWriter(version);
  writer.add(topic, payload, isRetained, property);
  return writer.take();
}

/** Answers to pings: packets that the client has to handle. */
const pingAnswer = Buffer.from([0xd0, 0]);

function createStream(version: 4 | 5) {
  const seen: string[] = [];
  const faults: string[] = [];
  const stream = new LinkStream({ send() {}, pause() {} }, version, {
    published: ({ topic, payload, isRetained }) => seen.push(`${topic} ${payload}${isRetained ? ' retained' : ''}`),
    fail: (reason) => faults.push(reason),
  });
  const passed: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => passed.push(bytes));
  return { stream, seen, faults, passed };
}

for (const version of versions)
  test(`MQTT ${version}: of a flood, a round of the event loop handles a bounded number of messages and bytes`, async (t) => {
    const { stream, seen } = createStream(version);
    const count = 1000;
    stream.receive(Buffer.concat(Array.from({ length: count }, (_, index) => packetOf('a', `${index}`, version))));
    let rounds = 0;
    for (let before = 0; before < count; rounds++) {
      t.true(seen.length - before <= readPerRound);
      t.true(seen.length > before, 'each round goes on');
      before = seen.length;
      await nextRound();
    }
    t.is(rounds, Math.ceil(count / readPerRound));
    t.deepEqual(
      seen,
      Array.from({ length: count }, (_, index) => `a ${index}`),
    );
    const long = 'x'.repeat(readPerRoundBytes);
    seen.length = 0;
    stream.receive(Buffer.concat([packetOf('a', long, version), packetOf('a', long, version)]));
    t.is(seen.length, 1);
    await nextRound();
    t.is(seen.length, 2);
    stream.destroy();
  });

test('messages are the same wherever the bytes are cut; other packets, and what is cut, go to the client in order', async (t) => {
  for (const version of versions) {
    const bytes = Buffer.concat([packetOf('a/ä', '1', version, true), pingAnswer, packetOf('b', '', version)]);
    for (let cut = 1; cut < bytes.length; cut++) {
      const { stream, seen, passed } = createStream(version);
      const got: string[] = [];
      let taken = 0;
      const takeWhole = () => {
        const whole = Buffer.concat(passed);
        for (let at = taken; at + 1 < whole.length && at + 2 + whole[at + 1]! <= whole.length; at = taken) {
          taken += 2 + whole[at + 1]!;
          got.push(whole.toString('hex', at, taken), ...seen.splice(0));
          stream.taken();
        }
      };
      stream.receive(bytes.subarray(0, cut));
      stream.receive(bytes.subarray(cut));
      for (let round = 0; round < 12; round++) {
        await nextRound();
        got.push(...seen.splice(0));
        takeWhole();
      }
      const isPing = got.indexOf('d000');
      t.is(got.length, 3, `${version}, cut at ${cut}: ${got}`);
      t.is(isPing, 1, `${version}, cut at ${cut}: ${got}`);
      stream.destroy();
    }
  }
});

test('a plain message waits for a packet before it that the client has not handled yet', async (t) => {
  const { stream, seen } = createStream(5);
  stream.receive(Buffer.concat([pingAnswer, packetOf('a', '1', 5)]));
  for (let round = 0; round < 3; round++) await nextRound();
  t.deepEqual(seen, []);
  stream.taken();
  await nextRound();
  t.deepEqual(seen, ['a 1']);
  stream.destroy();
});

test('a message with properties, of another QoS, or without a topic goes to the client', async (t) => {
  const packets = [
    packetOf('a', '1', 5, false, ['patchbay', '1 me']),
    Buffer.from([0x32, 7, 0, 1, 97, 0, 9, 0, 49]),
    Buffer.from([0x30, 4, 0, 0, 0, 49]),
    Buffer.from([0x30, 3, 0, 200, 97]),
  ];
  for (const packet of packets) {
    const { stream, seen, passed } = createStream(5);
    stream.receive(packet);
    await nextRound();
    t.deepEqual(seen, []);
    t.deepEqual(Buffer.concat(passed), packet);
    stream.destroy();
  }
});

test('a packet that is too long, or whose length has no end, fails', (t) => {
  for (const head of [
    [0x30, 0xff, 0xff, 0xff, 0x7f],
    [0x30, 0xff, 0xff, 0xff, 0xff, 1],
  ]) {
    const { stream, faults } = createStream(5);
    stream.receive(Buffer.from(head));
    t.deepEqual(faults, ['the broker sent a packet of more than 16777216 bytes']);
    stream.destroy();
  }
});
