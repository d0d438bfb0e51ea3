// Selections: what their observers are told, and what goes over the wire for them.

import test from 'ava';
import { playHub } from '../../support/sockets/scripted/hub.ts';

test('a selection notifies in batches, one per message, and gives late observers the current parameters', async (t) => {
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

test('the observers of a selection receive its mistakes, and too many are refused', (t) => {
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
