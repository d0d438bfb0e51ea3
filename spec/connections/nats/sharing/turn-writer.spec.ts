// Values of parameters that come say who wrote them, and when; what is written after that by the same one as before says it once more.

import test from 'ava';
import { TurnWriter } from '../../../../lib/connections/nats/sharing/turn-writer.ts';
import { maxStep } from '../../../../lib/connections/nats/wire/domain-messages.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import type { Change } from '../../../../lib/model/parameter.ts';

test('a change after new parameters has its author and time', (t) => {
  const graph = new Graph(() => 1000);
  const changes: Change[] = [];
  graph.changes$.subscribe((change) => changes.push(change));
  graph.declare({ kind: 'connection', name: 'desk' }, [{ id: 'lamp', type: 'I', access: 'read-write' }]);
  const client = { kind: 'client', name: 'spec' } as const;
  for (const value of [1, 2, 3]) graph.write('desk/lamp', value, client);
  const writer = new TurnWriter();
  writer.add(0, changes[0]!, 1);
  writer.add(0, changes[1]!, 2);
  const structure = { declared: [], changes: [{ by: ['connection', 'rack'], at: 500 }, 1, true] };
  writer.addStructure(JSON.stringify(structure), 2);
  writer.add(0, changes[2]!, 3);
  const context = { by: ['client', 'spec'], at: 1000 };
  t.deepEqual(JSON.parse(`[${writer.take().turns}]`), [[context, 0, 1], [0, 2], structure, [context, 0, 3]]);
});

test('a turn too long for a message is abandoned, however it grows, and the next one is sent', (t) => {
  const long = 'x'.repeat(1000);
  const grows: Record<string, (change: Change, index: number) => Change> = {
    'by numbers': (change) => change,
    'by texts': (change) => ({ ...change, value: long }),
    'by what led to it': (change, index) => ({
      ...change,
      cause: { ...change, value: `${long}${index}`, revision: 0 },
    }),
  };
  for (const [how, grow] of Object.entries(grows)) {
    const writer = new TurnWriter();
    const first = changeOf(1);
    writer.add(0, first, 1);
    for (let index = 0; index < 300_000; index++) writer.add(index % 10, grow(first, index), 1);
    t.deepEqual(writer.take(), { turns: undefined, rev: first.revision }, how);
    writer.add(7, changeOf(2), 2);
    t.is(JSON.parse(writer.take().turns!).at(-1), 2, how);
  }
});

test('a turn that others would refuse is not sent', (t) => {
  const writer = new TurnWriter();
  const change = changeOf(1);
  for (let number = 0; number < maxStep - 1; number++) writer.add(number, change, 1);
  t.is(typeof writer.take().turns, 'string');
  for (let number = 0; number < maxStep + 1; number++) writer.add(number, change, 2);
  t.is(writer.take().turns, undefined);
});

/** The change that a write of a number makes. */
function changeOf(value: number): Change {
  const graph = new Graph(() => 1000);
  const changes: Change[] = [];
  graph.changes$.subscribe((change) => changes.push(change));
  graph.declare({ kind: 'connection', name: 'desk' }, [{ id: 'lamp', type: 'I', access: 'read-write' }]);
  graph.write('desk/lamp', value, { kind: 'client', name: 'spec' });
  return changes.at(-1)!;
}
