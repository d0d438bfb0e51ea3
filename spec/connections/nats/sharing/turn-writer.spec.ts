// Values of parameters that come say who wrote them, and when; what is written after that by the same one as before says it once more.

import test from 'ava';
import { TurnWriter } from '../../../../lib/connections/nats/sharing/turn-writer.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import type { Change } from '../../../../lib/model/parameter.ts';

test('a change behind parameters that come says who made it, and when', (t) => {
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
