// How the parameters that a program follows become subscriptions on the wire.

import test from 'ava';
import { follow, microtasks, playHub } from '../../support/sockets/scripted/hub.ts';

test('parameters subscribed together are one subscription, later ones another', async (t) => {
  const script = playHub({ rate: 30 });
  const { hub, socket } = script;
  const lamp = follow(script, 'desk/lamp');
  const again = follow(script, 'desk/lamp');
  const level = follow(script, 'desk/level');
  await microtasks();
  t.deepEqual(socket.heard(), []);
  socket.accept();
  t.deepEqual(socket.heard(), [{ sub: 1, include: ['desk/lamp', 'desk/level'], rate: 30 }]);
  t.is(hub.state.name, 'resuming');
  t.true(hub.param('desk/lamp').isStale);
  socket.says(
    { sub: 1, mode: 'snapshot' },
    {
      def: [
        [7, 'desk/lamp', 'B', 'rw'],
        [8, 'desk/level', 'F', 'r'],
      ],
    },
    { set: [[7, true]], rev: 3 },
  );
  t.true(hub.stale);
  socket.says({ end: 1, rev: 3 });
  t.false(hub.stale);
  t.deepEqual([lamp, again, level], [[true], [true], []]);
  const { address, type, access, value, isKnown, isStale } = hub.param('desk/level');
  t.deepEqual(
    [address, type, access, value, isKnown, isStale],
    ['desk/level', 'F', 'read-only', undefined, false, false],
  );
  socket.says({
    set: [
      [7, false],
      [8, 0.5],
      [7, true],
    ],
    rev: 6,
  });
  t.deepEqual([lamp, level], [[true, false, true], [0.5]]);
  follow(script, 'desk/nope');
  follow(script, 'desk/lamp');
  await microtasks();
  t.deepEqual(socket.heard(), [{ sub: 2, include: ['desk/nope'], rate: 30 }]);
  t.false(hub.stale, 'what was there is as fresh as before');
  t.true(hub.param('desk/nope').isStale);
  t.false(hub.param('desk/lamp').isStale);
  socket.says({ sub: 2, mode: 'snapshot' }, { end: 2, rev: 6 });
  t.false(hub.param('desk/nope').isStale);
  t.is(hub.param('desk/nope').type, undefined);
});

test('parameters added one by one are regrouped when their subscriptions become many', async (t) => {
  const script = playHub();
  script.socket.accept();
  for (let index = 0; index < 8; index++) {
    follow(script, `desk/${index}`);
    await microtasks();
  }
  t.is(script.socket.heard().length, 8);
  follow(script, 'desk/8');
  await microtasks();
  const [gathered, ...ended] = script.socket.heard();
  t.deepEqual(gathered, { sub: 9, include: [0, 1, 2, 3, 4, 5, 6, 7, 8].map((index) => `desk/${index}`) });
  t.deepEqual(
    ended,
    [1, 2, 3, 4, 5, 6, 7, 8].map((unsub) => ({ unsub })),
  );
});

test('a subscription holds 2,048 addresses and 64 KiB; more than all subscriptions can hold is an error', async (t) => {
  const script = playHub();
  script.socket.accept();
  for (let index = 0; index < 2049; index++) follow(script, `desk/${index}`);
  await microtasks();
  t.deepEqual(
    script.socket.heard().map((message) => (message as { include: string[] }).include.length),
    [2048, 1],
  );
  let errors = 0;
  const text = 'ü'.repeat(1000); // 2,003 bytes each with quotes and comma
  for (let index = 0; index < 300; index++)
    script.hub.param(`${1000 + index}${text}`).subscribe({ error: () => errors++ });
  await microtasks();
  const sent = script.socket.heard().filter((message) => 'sub' in (message as object));
  for (const message of sent) t.true(Buffer.byteLength(JSON.stringify(message)) <= 65_536);
  t.true(errors > 0 && errors < 300, `${errors}`);
  t.throws(() => script.hub.param('').subscribe(() => {}), { instanceOf: RangeError });
  t.throws(() => script.hub.param('x'.repeat(1025)).subscribe(() => {}), { instanceOf: RangeError });
});

test('a hub with a lower limit of patterns gets shorter subscriptions, also for earlier requests', async (t) => {
  const script = playHub();
  for (let index = 0; index < 5; index++) follow(script, `desk/${index}`);
  await microtasks();
  script.socket.accept('e1', 'patchbay.v1', 2);
  const lengths = () => script.socket.heard().map((message) => (message as { include: string[] }).include.length);
  t.deepEqual(lengths(), [2, 2, 1]);
  follow(script, 'desk/5');
  await microtasks();
  t.deepEqual(lengths(), [1]);
});

test('addresses without subscribers are released, half a subscription at a time', async (t) => {
  const script = playHub();
  script.socket.accept();
  const ends = ['a/1', 'a/2', 'a/3', 'a/4'].map((address) => script.hub.param(address).subscribe(() => {}));
  await microtasks();
  script.socket.heard();
  script.socket.says({ def: [[1, 'a/1', 'I', 'rw']] }, { set: [[1, 1]], rev: 1 });
  ends[0]!.unsubscribe();
  await microtasks();
  t.deepEqual(script.socket.heard(), []);
  script.socket.says({ set: [[1, 2]], rev: 2 });
  t.deepEqual(follow(script, 'a/1'), [2], 'it is still kept up to date');
  ends[1]!.unsubscribe();
  ends[2]!.unsubscribe();
  await microtasks();
  t.deepEqual(script.socket.heard(), [{ sub: 2, include: ['a/1', 'a/4'] }, { unsub: 1 }]);
  const brief = script.hub.param('a/5').subscribe(() => {});
  brief.unsubscribe();
  await microtasks();
  t.deepEqual(script.socket.heard(), []);
});
