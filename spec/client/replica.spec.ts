// What a program sees of a hub that the spec plays: values, batches, subscriptions on the wire, and the way back after a
// break.

import test from 'ava';
import { playHub, type Script } from '../support/scripted-hub.ts';

const microtasks = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What the observers of a parameter were told. */
function follow(script: Script, address: string): unknown[] {
  const told: unknown[] = [];
  script.hub.param(address).subscribe((value) => told.push(value));
  return told;
}

test('parameters that are subscribed to in one go are one subscription, later ones another', async (t) => {
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

test('all of a message is there before anybody is told', async (t) => {
  const script = playHub();
  const { hub, socket } = script;
  const seen: unknown[] = [];
  hub.param('a/x').subscribe(() => seen.push([hub.param('a/x').value, hub.param('a/y').value]));
  hub.param('a/y').subscribe(() => seen.push([hub.param('a/x').value, hub.param('a/y').value]));
  await microtasks();
  socket.accept().says(
    { sub: 1, mode: 'snapshot' },
    {
      def: [
        [1, 'a/x', 'I', 'rw'],
        [2, 'a/y', 'I', 'rw'],
      ],
    },
    {
      set: [
        [1, 1],
        [2, 1],
      ],
      rev: 2,
    },
    { end: 1, rev: 2 },
  );
  t.deepEqual(seen, [
    [1, 1],
    [1, 1],
  ]);
});

test('triggers fire, and tell nothing when they go', async (t) => {
  const script = playHub();
  const go = follow(script, 'desk/go');
  const fires: unknown[] = [];
  script.hub.fired('desk/go').subscribe((fire) => fires.push(fire));
  const lost: unknown[] = [];
  script.hub.lost$.subscribe((loss) => lost.push(loss));
  await microtasks();
  script.socket
    .accept()
    .says({ sub: 1, mode: 'snapshot' }, { def: [[9, 'desk/go', 'T', 'rw']] }, { end: 1, rev: 0 })
    .says({ fired: [9, 9], rev: 2 }, { lost: { 9: 3, 77: 1 } }, { undef: [9] }, { fired: [9] });
  t.deepEqual(
    [go, fires],
    [
      [1, 1],
      [1, 1],
    ],
  );
  t.deepEqual(lost, [{ address: 'desk/go', count: 3 }]);
});

test('a parameter that is no more tells undefined, and may come back as another', async (t) => {
  const script = playHub();
  const lamp = follow(script, 'desk/lamp');
  const batches: unknown[] = [];
  script.hub.select().batches.subscribe(({ changes, removed }) => batches.push([changes, removed]));
  await microtasks();
  const selection = script.hub.select();
  script.socket
    .accept()
    .says({ sub: 1, mode: 'snapshot' }, { sub: 2, mode: 'snapshot' })
    .says({ def: [[7, 'desk/lamp', 'B', 'rw']] }, { set: [[7, true]], rev: 1 }, { end: 1, rev: 1 }, { end: 2, rev: 1 });
  t.deepEqual([...selection.parameters.keys()], ['desk/lamp']);
  batches.length = 0;
  script.socket.says({ undef: [7] });
  t.deepEqual(lamp, [true, undefined]);
  t.is(selection.parameters.size, 0);
  t.deepEqual(batches, [[[], ['desk/lamp']]]);
  script.socket.says({ set: [[7, false]] }, { def: [[9, 'desk/lamp', 'S', 'rw']] }, { set: [[9, 'on']], rev: 2 });
  t.deepEqual(lamp, [true, undefined, 'on']);
  t.is(selection.parameters.get('desk/lamp')?.type, 'S');
});

test('a parameter that another takes the place of at once loses its value', async (t) => {
  const script = playHub();
  const lamp = follow(script, 'desk/lamp');
  await microtasks();
  script.socket
    .accept()
    .says({ sub: 1, mode: 'snapshot' }, { def: [[7, 'desk/lamp', 'B', 'rw']] }, { set: [[7, true]], rev: 1 })
    .says({ end: 1, rev: 1 }, { def: [[9, 'desk/lamp', 'S', 'rw']] }, { undef: [7] });
  t.deepEqual(lamp, [true, undefined]);
  t.is(script.hub.param('desk/lamp').type, 'S');
  script.socket.says({ set: [[9, 'on']], rev: 2 });
  t.deepEqual(lamp, [true, undefined, 'on']);
});

test('the same epoch resumes what was complete, from the newest revision at which all was', async (t) => {
  const script = playHub();
  const lamp = follow(script, 'desk/lamp');
  await microtasks();
  script.socket
    .accept()
    .says({ sub: 1, mode: 'snapshot' }, { def: [[7, 'desk/lamp', 'B', 'rw']] }, { set: [[7, true]], rev: 5 })
    .says({ end: 1, rev: 5 }, { set: [[7, false]], rev: 8 });
  script.hub.select({ include: ['clock/**'] }).subscribe(() => {});
  script.socket.says({ sub: 2, mode: 'snapshot' }, { set: [[7, true]], rev: 9 });
  script.socket.ends();
  t.true(script.hub.stale);
  t.is(script.hub.param('desk/lamp').value, true, 'the value stays');
  script.pass(250);
  script.socket.accept();
  const since = { epoch: 'e1', rev: 8 };
  t.deepEqual(script.socket.heard(), [
    { sub: 1, include: ['desk/lamp'], since },
    { sub: 2, include: ['clock/**'], exclude: [] },
  ]);
  // Cut again in the midst of it: what has come may have gaps.
  script.socket.says({ sub: 1, mode: 'resume' }, { set: [[7, false]], rev: 12 }, { end: 1, rev: 12 }).ends();
  script.pass(500);
  script.socket.accept();
  t.like(script.socket.heard()[0], { sub: 1, since });
  script.socket.says({ sub: 1, mode: 'resume' }, { sub: 2, mode: 'snapshot' }, { end: 1, rev: 12 });
  t.true(script.hub.stale);
  script.socket.says({ end: 2, rev: 12 });
  t.false(script.hub.stale);
  t.deepEqual(lamp, [true, false, true, false]);
});

test('a snapshot that was cut is not resumed', async (t) => {
  const script = playHub();
  follow(script, 'desk/lamp');
  await microtasks();
  script.socket.accept().says({ sub: 1, mode: 'snapshot' }, { end: 1, rev: 5 }).ends();
  script.pass(250);
  script.socket.accept();
  t.like(script.socket.heard()[0], { since: { rev: 5 } });
  script.socket.says({ sub: 1, mode: 'snapshot' }).ends();
  script.pass(500);
  script.socket.accept();
  t.deepEqual(script.socket.heard(), [{ sub: 1, include: ['desk/lamp'] }]);
});

test('another epoch: what has gone is removed, what became unknown loses its value, equal values tell nothing', async (t) => {
  const script = playHub();
  const told = ['desk/same', 'desk/gone', 'desk/unknown'].map((address) => follow(script, address));
  const selection = script.hub.select({ include: ['desk/*'] });
  const changes: unknown[] = [];
  selection.subscribe(({ address, value }) => changes.push([address, value]));
  await microtasks();
  script.socket
    .accept('e1')
    .says({ sub: 1, mode: 'snapshot' }, { sub: 2, mode: 'snapshot' })
    .says({
      def: [
        [1, 'desk/same', 'I', 'rw'],
        [2, 'desk/gone', 'I', 'rw'],
        [3, 'desk/unknown', 'I', 'rw'],
      ],
    })
    .says(
      {
        set: [
          [1, 1],
          [2, 2],
          [3, 3],
        ],
        rev: 3,
      },
      { end: 1, rev: 3 },
      { end: 2, rev: 3 },
    );
  t.is(selection.parameters.size, 3);
  changes.length = 0;
  script.socket.ends();
  script.pass(250);
  script.socket.accept('e2');
  t.deepEqual(
    script.socket.heard().map((message) => (message as { since?: unknown }).since),
    [undefined, undefined],
  );
  script.socket
    .says({ sub: 1, mode: 'snapshot' }, { sub: 2, mode: 'snapshot' })
    .says(
      {
        def: [
          [2, 'desk/same', 'I', 'rw'],
          [1, 'desk/unknown', 'I', 'rw'],
        ],
      },
      { set: [[2, 1]], rev: 1 },
    )
    .says({ end: 1, rev: 1 }, { end: 2, rev: 1 });
  t.deepEqual(told, [[1], [2, undefined], [3, undefined]]);
  t.deepEqual([...selection.parameters.keys()], ['desk/same', 'desk/unknown']);
  t.deepEqual(changes, [
    ['desk/unknown', undefined],
    ['desk/gone', undefined],
  ]);
  script.socket.says({ set: [[2, 5]], rev: 2 });
  t.is(script.hub.param('desk/same').value, 5);
});

test('a selection is told in batches, one per message, and late observers what there is', async (t) => {
  const script = playHub();
  const selection = script.hub.select({ include: ['desk/**', /^core\/.*-lamp$/], exclude: ['desk/secret/*'], rate: 4 });
  const batches: unknown[] = [];
  const observe = (target: unknown[]) =>
    selection.batches.subscribe(({ defined, changes, removed, isComplete }) =>
      target.push([defined.map(({ address }) => address), changes, removed, isComplete]),
    );
  const first = observe(batches);
  script.socket.accept();
  t.deepEqual(script.socket.heard(), [
    { sub: 1, include: ['desk/**', { regex: '^core\\/.*-lamp$' }], exclude: ['desk/secret/*'], rate: 4 },
  ]);
  script.socket.says(
    { sub: 1, mode: 'snapshot' },
    {
      def: [
        [1, 'desk/a/b', 'I', 'rw'],
        [2, 'core/on-lamp', 'B', 'r'],
        [3, 'desk/secret/x', 'I', 'rw'],
      ],
    },
    {
      set: [
        [1, 1],
        [1, 2],
        [3, 9],
      ],
      rev: 2,
    },
    { end: 1, rev: 2 },
  );
  const changes = [1, 2].map((value) => ({ address: 'desk/a/b', value }));
  t.deepEqual(batches, [
    [['desk/a/b', 'core/on-lamp'], [], [], false],
    [[], changes, [], false],
    [[], [], [], true],
  ]);
  const late: unknown[] = [];
  observe(late).unsubscribe();
  t.deepEqual(late, [[['desk/a/b', 'core/on-lamp'], changes.slice(1), [], true]]);
  t.deepEqual(script.socket.heard(), []);
  first.unsubscribe();
  first.unsubscribe();
  t.deepEqual(script.socket.heard(), [{ unsub: 1 }]);
  t.is(selection.parameters.size, 0);
});

test('mistakes of a selection go to its observers, and too many are refused', (t) => {
  const script = playHub();
  script.socket.accept();
  const errors: string[] = [];
  const error = (cause: unknown) => errors.push((cause as Error).message);
  script.hub.select({ include: [''] }).subscribe({ error });
  script.socket.says({ sub: 1, error: 'include[0]: expected a pattern' });
  t.deepEqual(errors, ['include[0]: expected a pattern']);
  t.is(script.hub.state.name, 'live');
  for (let index = 0; index < 17; index++) script.hub.select({ include: [`${index}/**`] }).subscribe({ error });
  script.hub.select({ include: ['3/**'] }).subscribe({ error });
  t.deepEqual(errors.slice(1), ['select: expected at most 16 different selections at a time']);
  t.is(script.socket.heard().length, 17);
});

test('parameters that come one by one are gathered anew when their subscriptions become many', async (t) => {
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

test('a subscription holds 2,048 addresses and 64 KiB; what is beyond all of them is an error', async (t) => {
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

test('what nobody subscribes to any more is let go of, half a subscription at a time', async (t) => {
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

test('messages and keys that it does not know are ignored', async (t) => {
  const script = playHub();
  const lamp = follow(script, 'desk/lamp');
  await microtasks();
  const { socket } = script;
  socket.accept().says({ news: [1] }, { sub: 1, mode: 'snapshot', why: 'x' }, { def: [[7, 'desk/lamp', 'B', 'rw']] });
  socket.says({ set: [[7, true]], at: 5 }, {}, { end: 1, rev: 3, more: {} });
  t.deepEqual(lamp, [true]);
  t.is(script.hub.state.name, 'live');
});

test('it resumes from the revision that came while it waited for no end, whatever it was told else', async (t) => {
  const script = playHub();
  follow(script, 'desk/a');
  await microtasks();
  follow(script, 'desk/b');
  await microtasks();
  const define = (id: number, name: string) => ({ def: [[id, `desk/${name}`, 'I', 'rw']] });
  const [one, other] = [define(1, 'a'), define(2, 'b')];
  script.socket.accept().says({ sub: 1, mode: 'snapshot' }, { sub: 2, mode: 'snapshot' }, one, other);
  script.socket.says({ end: 1, rev: 5 }, { end: 2, rev: 5 }, { set: [[1, 1]], rev: 6 });
  script.socket.heard();
  script.socket.ends();
  script.pass(10_000);
  script.socket.accept();
  const since = { epoch: 'e1', rev: 6 };
  t.deepEqual(script.socket.heard(), [
    { sub: 1, include: ['desk/a'], since },
    { sub: 2, include: ['desk/b'], since },
  ]);
  script.socket.says({ sub: 1, mode: 'resume' }, { end: 1, rev: 9 }, { sub: 2, mode: 'resume' }, { set: [], rev: 10 });
  script.socket.ends(); // before the second end
  script.pass(10_000);
  script.socket.accept();
  t.deepEqual(script.socket.heard(), [
    { sub: 1, include: ['desk/a'], since },
    { sub: 2, include: ['desk/b'], since },
  ]);
});
