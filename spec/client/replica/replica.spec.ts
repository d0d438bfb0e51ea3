// What a program sees of a hub that the spec plays: values, batches, and the way back after a break.

import test from 'ava';
import { follow, microtasks, playHub } from '../../support/sockets/scripted/hub.ts';

test('a message is complete before observers are notified', async (t) => {
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

test('triggers fire, and their removal notifies nobody', async (t) => {
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

test('a removed parameter reports undefined, and may return with another type', async (t) => {
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

test('a parameter that is replaced immediately loses its value', async (t) => {
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

test('a replaced parameter of any type is reported as removed and then defined; a parameter that was defined and removed, as removed', async (t) => {
  for (const type of ['S', 'B']) {
    const script = playHub();
    const reported = new Map<string, unknown>();
    script.hub.select().batches.subscribe(({ removed, defined, changes }) => {
      for (const address of removed) reported.delete(address);
      for (const { address, type } of defined) reported.set(address, type);
      for (const { address, value } of changes) reported.set(address, value);
    });
    await microtasks();
    script.socket
      .accept()
      .says({ sub: 1, mode: 'snapshot' }, { def: [[7, 'desk/lamp', 'B', 'rw']] }, { end: 1, rev: 5 });
    t.deepEqual([...reported], [['desk/lamp', 'B']]);
    script.socket.ends();
    script.pass(250);
    script.socket.accept().says({ sub: 1, mode: 'snapshot' }, { def: [[9, 'desk/lamp', type, 'r']] });
    t.deepEqual([...reported], [['desk/lamp', type]]);
    script.socket.says({ set: [[9, 'on']], rev: 6 }, { end: 1, rev: 6 });
    t.deepEqual([...reported], [['desk/lamp', 'on']]);
    script.socket.says({ def: [[11, 'desk/bell', 'T', 'rw']], undef: [11] });
    t.deepEqual([...reported], [['desk/lamp', 'on']]);
  }
});

test('the same epoch resumes complete subscriptions, from the newest complete revision', async (t) => {
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

test('an incomplete snapshot is not resumed', async (t) => {
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

test('in another epoch, missing parameters are removed, unknown values become undefined, and equal values cause no notification', async (t) => {
  const script = playHub();
  const reported = ['desk/same', 'desk/gone', 'desk/unknown'].map((address) => follow(script, address));
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
  t.deepEqual(reported, [[1], [2, undefined], [3, undefined]]);
  t.deepEqual([...selection.parameters.keys()], ['desk/same', 'desk/unknown']);
  t.deepEqual(changes, [
    ['desk/unknown', undefined],
    ['desk/gone', undefined],
  ]);
  script.socket.says({ set: [[2, 5]], rev: 2 });
  t.is(script.hub.param('desk/same').value, 5);
});

test('unknown messages and keys are ignored', async (t) => {
  const script = playHub();
  const lamp = follow(script, 'desk/lamp');
  await microtasks();
  const { socket } = script;
  socket.accept().says({ news: [1] }, { sub: 1, mode: 'snapshot', why: 'x' }, { def: [[7, 'desk/lamp', 'B', 'rw']] });
  socket.says({ set: [[7, true]], at: 5 }, {}, { end: 1, rev: 3, more: {} });
  t.deepEqual(lamp, [true]);
  t.is(script.hub.state.name, 'live');
});

test('it resumes from the latest revision that arrived while it waited for an end, regardless of other messages', async (t) => {
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
