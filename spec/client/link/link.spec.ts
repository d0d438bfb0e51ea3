// The link in virtual time: pauses between tries, the heartbeat, what is tried again and what is not.

import test from 'ava';
import { microtasks, playHub } from '../../support/sockets/scripted/hub.ts';

test('pauses double from 0.25 s to 10 s, and restart after a complete snapshot', (t) => {
  const script = playHub();
  for (let failures = 0; failures < 8; failures++) {
    script.socket.ends();
    script.pass(10_000);
  }
  t.deepEqual(
    script.states.filter((state) => state.startsWith('waiting')),
    [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000].map((ms) => `waiting ${ms}`),
  );
  script.socket.accept().ends();
  t.deepEqual(script.states.slice(-4), ['live', 'fresh', 'waiting 250', 'stale']);
});

for (const [random, pauseMs] of [
  [0, 125],
  [0.5, 187.5],
  [0.999, 249.875],
] as const)
  test(`chance ${random} makes the first pause ${pauseMs} ms`, (t) => {
    const script = playHub({ random });
    script.socket.ends();
    t.is(script.states.at(-1), `waiting ${pauseMs}`);
    script.pass(pauseMs - 0.01);
    t.is(script.sockets.length, 1);
    script.pass(0.01);
    t.is(script.sockets.length, 2);
  });

test('a silent hub is left after ten seconds', (t) => {
  const script = playHub();
  script.socket.protocol = 'patchbay.v1';
  script.socket.onopen?.({} as never);
  script.pass(9999);
  t.deepEqual(script.states, ['connecting', 'stale']);
  script.pass(1);
  t.deepEqual(script.states.slice(2), ['waiting 250']);
  t.true(script.socket.isClosed);
});

test('after 2 s of silence the client pings, and 2 s later the link is broken', (t) => {
  const script = playHub();
  const { socket } = script;
  socket.accept();
  script.pass(1999);
  t.deepEqual(socket.heard(), []);
  script.pass(1);
  t.deepEqual(socket.heard(), [{ ping: 1 }]);
  script.pass(1999);
  t.false(script.hub.stale);
  script.pass(1);
  t.true(script.hub.stale);
  t.true(socket.isClosed);
  t.deepEqual(script.hub.state, { name: 'waiting', retryAt: 4250, reason: 'the hub does not answer' });
  script.pass(250);
  t.is(script.sockets.length, 2);
});

test('an answer, or any other message, keeps the link', (t) => {
  const script = playHub();
  const { socket } = script;
  socket.accept();
  script.pass(3999);
  socket.says({ pong: 1 });
  t.is(socket.heard().length, 1);
  script.pass(1999); // the answer came at 3999: the next question is due at 5999
  t.deepEqual(socket.heard(), []);
  script.pass(1);
  t.deepEqual(socket.heard(), [{ ping: 2 }]);
  for (let second = 0; second < 60; second++) {
    socket.says({ set: [], rev: second });
    script.pass(1000);
  }
  t.deepEqual(socket.heard(), []);
  t.is(script.hub.state.name, 'live');
});

test('a page that was busy past the deadline first processes the received messages', (t) => {
  const script = playHub();
  script.socket.accept();
  script.pass(3000); // asked at 2000, half of the deadline is over; the answer waits until the page has time
  script.socket.says({ pong: 1 });
  script.pass(1000);
  t.false(script.hub.stale);
});

test('messages of an old socket are ignored', (t) => {
  const script = playHub();
  const old = script.socket.accept();
  script.pass(4250);
  script.socket.accept('e1');
  const { length } = script.states;
  old.says({ bye: { code: 4500, reason: 'no', retry: false } }).ends(4500);
  t.is(script.states.length, length);
  t.is(script.hub.state.name, 'live');
});

test('waking up tries immediately while waiting, and asks immediately while live', (t) => {
  const script = playHub({ firstPauseMs: 10_000 });
  script.socket.ends();
  script.pass(10);
  script.wake();
  t.is(script.sockets.length, 2);
  script.wake();
  t.is(script.sockets.length, 2, 'one is being opened already');
  script.pass(9990);
  t.is(script.sockets.length, 2, 'the pause is over and gone');
  script.socket.accept();
  script.wake();
  script.wake();
  t.deepEqual(script.socket.heard(), [{ ping: 1 }]);
  script.pass(2000);
  t.true(script.hub.stale);
});

for (const [code, name] of [
  [1001, 'waiting'],
  [1006, 'waiting'],
  [4001, 'waiting'],
  [4499, 'waiting'],
  [4500, 'closed'],
  [4999, 'closed'],
] as const)
  test(`after close code ${code} the link is ${name}`, (t) => {
    const script = playHub();
    script.socket.accept().ends(code);
    t.is(script.hub.state.name, name);
    script.pass(60_000);
    t.is(script.sockets.length > 1, name === 'waiting');
    t.is(script.isListening, name === 'waiting');
  });

test('a goodbye has a reason, and says whether to try again', (t) => {
  const script = playHub();
  script.socket.accept().says({ bye: { code: 1001, reason: 'the hub is shutting down', retry: true } });
  script.socket.ends(1001);
  t.like(script.hub.state, { name: 'waiting', reason: 'the hub is shutting down' });
  script.pass(250);
  script.socket.accept().says({ bye: { code: 4002, reason: 'go away', retry: false } });
  script.socket.ends(4002);
  t.deepEqual(script.hub.state, { name: 'closed', reason: 'go away' });
});

for (const [status, name] of [
  [401, 'closed'],
  [403, 'closed'],
  [426, 'waiting'],
  [503, 'waiting'],
  [undefined, 'waiting'],
] as const)
  test(`a refused handshake for which HTTP says ${status} leaves the link ${name}`, async (t) => {
    const script = playHub({ statusOf: () => status });
    const live = script.hub.whenLive();
    live.catch(() => {});
    script.socket.ends();
    await Promise.resolve();
    await Promise.resolve();
    t.is(script.hub.state.name, name);
    script.pass(300);
    t.is(script.sockets.length, name === 'closed' ? 1 : 2);
    if (name === 'closed') await t.throwsAsync(live, { message: /is closed: the hub refused/ });
  });

test('a server with another protocol is tried again', (t) => {
  const script = playHub();
  script.socket.accept('e1', '');
  t.like(script.hub.state, { name: 'waiting', reason: 'the server does not support patchbay.v1' });
});

test('close() ends timers, sockets, listeners and streams', async (t) => {
  const script = playHub();
  script.socket.accept();
  let completed = 0;
  const complete = () => completed++;
  for (const stream of [script.hub.state$, script.hub.stale$, script.hub.lost$]) stream.subscribe({ complete });
  script.hub.param('desk/lamp').subscribe({ complete });
  script.hub.fired('desk/go').subscribe({ complete });
  script.hub.select().batches.subscribe({ complete });
  script.hub.close();
  t.is(completed, 6);
  t.deepEqual(script.hub.state, { name: 'closed', reason: 'by this program' });
  t.true(script.hub.stale);
  t.true(script.socket.isClosed);
  t.false(script.isListening);
  script.pass(60_000);
  t.is(script.sockets.length, 1);
  await t.throwsAsync(script.hub.set('desk/lamp', true), { message: /the connection to the hub is closed/ });
});

test('of several addresses the next one is tried after each break, and after each attempt', (t) => {
  const script = playHub({ urls: ['ws://a/ws', 'ws://b/ws'] });
  const taken = () => script.sockets.map(({ url }) => url.at(5));
  script.socket.accept('of a').ends();
  script.pass(250);
  t.deepEqual(taken(), ['a', 'b']);
  script.socket.accept('of b').ends();
  script.pass(250);
  script.socket.ends();
  script.pass(500);
  t.deepEqual(taken(), ['a', 'b', 'a', 'b']);
});

test('of several addresses one that refuses is tried again, until all of them refuse', async (t) => {
  const statuses: Record<string, number | undefined> = { a: 401, b: undefined };
  const script = playHub({ urls: ['ws://a/ws', 'ws://b/ws'], statusOf: ({ url }) => statuses[url.at(5)!] });
  const breaks = async () => {
    script.socket.ends();
    await microtasks();
  };
  await breaks();
  t.is(script.hub.state.name, 'waiting');
  script.pass(250);
  await breaks();
  script.pass(500);
  await breaks();
  t.is(script.hub.state.name, 'waiting', 'the other one is only away');
  script.pass(1000);
  script.socket.accept('of b').ends();
  statuses.b = 403;
  statuses.a = 503;
  script.pass(250);
  await breaks();
  script.pass(500);
  await breaks();
  t.is(script.hub.state.name, 'waiting', 'the first one refuses no longer');
  statuses.a = 401;
  script.pass(1000);
  await breaks();
  t.deepEqual(script.hub.state, { name: 'closed', reason: 'the hub refused these credentials' });
});

test('a later success clears the refusal of an address', async (t) => {
  let status: number | undefined = 401;
  const script = playHub({ urls: ['ws://a/ws', 'ws://b/ws'], statusOf: () => status });
  script.socket.ends();
  await microtasks();
  script.pass(250);
  status = undefined;
  script.socket.ends();
  script.pass(500);
  script.socket.accept('of a').ends();
  script.pass(250);
  status = 401;
  script.socket.ends();
  await microtasks();
  t.is(script.hub.state.name, 'waiting');
});

test('times follow the clock of the machine, also after sleep or a clock change', (t) => {
  let aheadMs = 1_000_000;
  const script = playHub({ clockAheadMs: () => aheadMs });
  const lamp = script.hub.param('desk/lamp');
  lamp.subscribe(() => {});
  script.socket.accept().says({ sub: 1, mode: 'snapshot' }, { def: [[7, 'desk/lamp', 'B', 'rw']] }, { end: 1, rev: 1 });
  aheadMs = 5_000_000;
  script.socket.says({ stale: [7], ageMs: 3000 });
  t.is(lamp.staleSince, 4_997_000);
  aheadMs = 2_000_000;
  script.socket.ends();
  t.deepEqual(script.hub.state, { name: 'waiting', retryAt: 2_000_250, reason: 'the connection was lost (1006)' });
  script.pass(250);
  t.is(script.sockets.length, 2, 'pauses do not depend on it');
});
