// The one that runs waits for the one that stands by, but not for one that is not there or does not answer.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import test from 'ava';
import type { Transport } from '../../../../lib/connections/nats/link/transport.ts';
import { Receipts } from '../../../../lib/connections/nats/sharing/receipts.ts';
import { monotonicScheduler } from '../../../../lib/hub/scheduler.ts';
import { Pause } from '../../../../lib/model/time/wall-clock.ts';
import { Time } from '../support/time.ts';

const name = { domain: 'd', hub: 'west' };
const asked = { epoch: 'e', rev: 5 };

/** Who stands by answers what it is told to here; undefined: nothing. */
function standBy() {
  const time = new Time();
  const state = { answer: undefined as unknown, isThere: true, asked: 0 };
  const transport: Transport = {
    publish() {},
    subscribe: () => () => {},
    async request(_subject, _data, timeoutMs) {
      state.asked++;
      if (!state.isThere) throw new Error('no responders');
      if (state.answer !== undefined) return Buffer.from(JSON.stringify(state.answer));
      await new Pause(time).for(timeoutMs);
      throw new Error('timeout');
    },
  };
  const receipts = new Receipts(name, time);
  const expect = (remind: () => void) => receipts.expect(transport, asked, time.now() + 500, remind);
  const pass = (ms: number) => time.run(time.now() + ms);
  /** What it comes to in time, and after how many milliseconds. */
  const expectFor = async (remind: () => void) => {
    const startMs = time.now();
    let end: { has: boolean; ms: number } | undefined;
    const whenEnded = expect(remind).then((has) => {
      end = { has, ms: time.now() - startMs };
    });
    while (end === undefined && time.now() < startMs + 1000) await pass(1);
    await whenEnded;
    return end!;
  };
  return { state, expect, expectFor, pass };
}

test('a late hub is reminded once, and awaited', async (t) => {
  const { state, expect, expectFor, pass } = standBy();
  for (const answer of [
    { epoch: 'e', rev: 4 },
    { epoch: 'of before', rev: 9 },
  ]) {
    state.answer = answer;
    let reminded = 0;
    const has = expect(() => reminded++);
    await pass(50);
    t.is(reminded, 1);
    state.answer = asked;
    await pass(10);
    t.true(await has);
  }
  state.answer = { epoch: 'e', rev: 4 };
  t.deepEqual(await expectFor(() => {}), { has: false, ms: 500 }, 'it does not come');
});

test('a missing hub, or a hub without any data yet, is not awaited', async (t) => {
  const { state, expect, expectFor } = standBy();
  state.isThere = false;
  t.true(await expect(t.fail));
  state.isThere = true;
  state.answer = null;
  t.true(await expect(t.fail));
  state.answer = { epoch: 'e', rev: 4 };
  t.deepEqual(await expectFor(() => {}), { has: false, ms: 500 }, 'it has come');
});

test('a silent hub is awaited once, and again after its next answer', async (t) => {
  const { state, expect, expectFor, pass } = standBy();
  t.deepEqual(await expectFor(t.fail), { has: true, ms: 350 });
  for (let count = 0; count < 20; count++) t.true(await expect(t.fail));
  t.is(state.asked, 2, 'one question at a time is under way, and nobody waits for the second one');
  await pass(400);
  state.answer = { epoch: 'e', rev: 4 };
  t.true(await expect(t.fail), 'it is asked, and not waited for yet');
  await pass(0);
  t.deepEqual(await expectFor(() => {}), { has: false, ms: 500 });
});

test('answers in time are read, even if this thread was busy meanwhile', async (t) => {
  const server = createServer((socket) => {
    socket.end(JSON.stringify({ epoch: 'e', rev: 4 }));
    block(400);
  });
  t.teardown(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const transport: Transport = {
    publish() {},
    subscribe: () => () => {},
    async request(_subject, _data, timeoutMs) {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(timeoutMs) });
      return answer;
    },
  };
  t.false(await new Receipts(name, monotonicScheduler).expect(transport, asked, monotonicScheduler.now(), () => {}));
});

function block(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
