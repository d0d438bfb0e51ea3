// The one that runs waits for the one that stands by, but not for one that is not there or does not answer.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import type { Transport } from '../../../../lib/connections/nats/link/transport.ts';
import { Receipts } from '../../../../lib/connections/nats/sharing/receipts.ts';
import { monotonicScheduler } from '../../../../lib/hub/scheduler.ts';

const name = { domain: 'd', hub: 'west' };
const asked = { epoch: 'e', rev: 5 };
const soon = () => monotonicScheduler.now() + 500;

/** Who stands by answers what it is told to here; undefined: nothing. */
function standBy() {
  const state = { answer: undefined as unknown, isThere: true, asked: 0 };
  const transport: Transport = {
    publish() {},
    subscribe: () => () => {},
    async request(_subject, _data, timeoutMs) {
      state.asked++;
      if (!state.isThere) throw new Error('no responders');
      if (state.answer !== undefined) return Buffer.from(JSON.stringify(state.answer));
      await after(timeoutMs);
      throw new Error('timeout');
    },
  };
  return { state, transport, receipts: new Receipts(name, monotonicScheduler) };
}

test('who is behind is reminded once, and waited for', async (t) => {
  const { state, transport, receipts } = standBy();
  for (const answer of [
    { epoch: 'e', rev: 4 },
    { epoch: 'of before', rev: 9 },
  ]) {
    state.answer = answer;
    let reminded = 0;
    const has = receipts.expect(transport, asked, soon(), () => reminded++);
    await after(50);
    t.is(reminded, 1);
    state.answer = asked;
    t.true(await has);
  }
  state.answer = { epoch: 'e', rev: 4 };
  t.false(await receipts.expect(transport, asked, soon(), () => {}), 'it does not come');
});

test('who is not there, or has nothing yet, is not waited for', async (t) => {
  const { state, transport, receipts } = standBy();
  state.isThere = false;
  t.true(await receipts.expect(transport, asked, soon(), t.fail));
  state.isThere = true;
  state.answer = null;
  t.true(await receipts.expect(transport, asked, soon(), t.fail));
  state.answer = { epoch: 'e', rev: 4 };
  t.false(await receipts.expect(transport, asked, soon(), () => {}), 'it has come');
});

test('who does not answer is waited for once, and again from when it answers', async (t) => {
  const { state, transport, receipts } = standBy();
  const startMs = performance.now();
  for (let count = 0; count < 20; count++) t.true(await receipts.expect(transport, asked, soon(), t.fail));
  t.true(performance.now() - startMs >= 299);
  t.is(state.asked, 2, 'one question at a time is under way, and nobody waits for the second one');
  await after(400);
  state.answer = { epoch: 'e', rev: 4 };
  t.true(await receipts.expect(transport, asked, soon(), t.fail), 'it is asked, and not waited for yet');
  await after(0);
  t.false(await receipts.expect(transport, asked, soon(), () => {}));
});

test('what has been answered in time is read, also when this thread was busy meanwhile', async (t) => {
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
