// What a link over TCP receives is handled in small parts, and all of it, also after the peer has closed the link.

import { connect } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import test from 'ava';
import { framingOf } from '../../lib/connections/osc/framing.ts';
import { maxUnreadBytes, PacedReader, ReadingRounds, readPerRoundBytes } from '../../lib/device/paced-reader.ts';
import { TcpPort, tcpClient } from '../../lib/device/ports.ts';
import { eventually } from '../support/deadline.ts';

function createReader(rounds = new ReadingRounds()) {
  const taken: Buffer[] = [];
  const paused: boolean[] = [];
  const state = { taken, paused, isClosed: false };
  const reader = new PacedReader(rounds, {
    take: (bytes) => taken.push(bytes),
    pause: (isPaused) => paused.push(isPaused),
    closed: () => {
      state.isClosed = true;
    },
  });
  return { reader, state, taken, paused };
}

const lengthOf = (parts: readonly Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0);

test('of a flood, a round of the event loop takes a bounded number of bytes, in order', async (t) => {
  const { reader, taken } = createReader();
  const bytes = Buffer.from(Array.from({ length: 4 * readPerRoundBytes + 100 }, (_, index) => index % 251));
  reader.push(bytes.subarray(0, 10));
  t.is(lengthOf(taken), 10, 'the first part is taken immediately');
  reader.push(bytes.subarray(10, 5000));
  reader.push(bytes.subarray(5000));
  t.is(lengthOf(taken), 10);
  for (let before = 10; before < bytes.length; before = lengthOf(taken)) {
    await nextRound();
    t.is(lengthOf(taken) - before, Math.min(readPerRoundBytes, bytes.length - before));
  }
  t.deepEqual(Buffer.concat(taken), bytes);
});

test('all links of a connection share the bound of a round, and take turns', async (t) => {
  const rounds = new ReadingRounds();
  const all = Array.from({ length: 10 }, () => createReader(rounds));
  const total = () => all.reduce((sum, { taken }) => sum + lengthOf(taken), 0);
  for (const { reader } of all) reader.push(Buffer.alloc(2 * readPerRoundBytes));
  t.is(total(), readPerRoundBytes);
  for (let before = total(); before < 20 * readPerRoundBytes; before = total()) {
    await nextRound();
    t.is(total() - before, readPerRoundBytes);
    const lengths = all.map(({ taken }) => lengthOf(taken));
    t.true(
      Math.max(...lengths) - Math.min(...lengths) <= readPerRoundBytes + 1024,
      'none waits for the end of another',
    );
  }
});

test('a reader that ends within its own turn leaves the others theirs', async (t) => {
  const rounds = new ReadingRounds();
  let isClosed = false;
  const ending = new PacedReader(rounds, {
    take: () => ending.end(),
    pause: () => {},
    closed: () => {
      isClosed = true;
    },
  });
  const { reader, taken } = createReader(rounds);
  ending.push(Buffer.alloc(2 * readPerRoundBytes));
  reader.push(Buffer.alloc(100));
  while (lengthOf(taken) < 100) await nextRound();
  t.false(isClosed);
});

test('a link that sends faster is paused, and goes on; what has come before its end is taken', async (t) => {
  const { reader, state, taken, paused } = createReader();
  const bytes = Buffer.alloc(maxUnreadBytes + 2 * readPerRoundBytes);
  reader.push(bytes);
  t.deepEqual(paused, [true]);
  while (paused.length === 1) await nextRound();
  t.deepEqual(paused, [true, false]);
  t.true(bytes.length - lengthOf(taken) < maxUnreadBytes / 4);
  reader.close();
  t.false(state.isClosed);
  while (!state.isClosed) await nextRound();
  t.is(lengthOf(taken), bytes.length);
});

test('after its end, a reader takes nothing, and reports nothing', async (t) => {
  const { reader, state, taken } = createReader();
  reader.push(Buffer.alloc(3 * readPerRoundBytes));
  reader.end();
  reader.push(Buffer.alloc(1));
  reader.close();
  for (let round = 0; round < 3; round++) await nextRound();
  t.is(lengthOf(taken), readPerRoundBytes);
  t.false(state.isClosed);
});

test('a client that sends much and leaves is heard whole, by a port and by the client of another', async (t) => {
  const bind = { host: '127.0.0.1', port: 0 };
  const refuse = (_: Uint8Array, reason: string) => t.fail(reason);
  const port = new TcpPort({ bind, refuse, guard: undefined, framing: framingOf('length'), idleTimeoutMs: undefined });
  t.teardown(() => port.close());
  const count = 10_000;
  const packets = Buffer.concat(
    Array.from({ length: count }, (_, index) => framingOf('length').wrap(Buffer.from(`${index}`))),
  );
  const seen: string[] = [];
  let isOpen = false;
  let inRound = 0;
  let most = 0;
  port.open({
    opened: () => {
      isOpen = true;
    },
    received: (bytes) => {
      if (inRound++ === 0) setImmediate(() => (inRound = 0));
      most = Math.max(most, inRound);
      seen.push(Buffer.from(bytes).toString());
    },
    closed: (reason) => t.fail(reason),
  });
  await eventually(() => isOpen, 'the port to be open');
  const socket = connect(port.port!, '127.0.0.1', () => socket.end(packets));
  await eventually(() => seen.length === count, 'all packets');
  t.deepEqual(
    seen,
    Array.from({ length: count }, (_, index) => `${index}`),
  );
  t.true(most <= (2 * readPerRoundBytes) / 5, `${most} packets in a round`);

  const got: string[] = [];
  let reason = '';
  const peer = tcpClient({ host: '127.0.0.1', port: port.port! }, framingOf('length'), refuse);
  const link = peer.open({
    opened: () => link.send(Buffer.from('hello')),
    received: (bytes) => got.push(Buffer.from(bytes).toString()),
    closed: (why) => {
      reason = why;
    },
  });
  await eventually(() => seen.length === count + 1, 'the client to be there');
  for (let index = 0; index < count; index++) port.sendToOthers(Buffer.from(`${index}`), { name: '', send() {} });
  await eventually(() => got.length === count, 'all packets');
  await port.close();
  await eventually(() => reason !== '', 'the end of the link');
  t.is(got.at(-1), `${count - 1}`);
});
