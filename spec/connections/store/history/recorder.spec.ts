// What the hub's thread does with each change: it puts it into columns, up to a bound.

import test from 'ava';
import { columnRows, maxWaitingChanges } from '../../../../lib/connections/store/history/columns.ts';
import { Recorder } from '../../../../lib/connections/store/history/recorder.ts';
import { historySetting, rulesOf } from '../../../../lib/connections/store/settings.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import type { Origin } from '../../../../lib/model/parameter.ts';
import { makeHistory } from '../../../support/store/history.ts';
import { collectGarbage } from '../../../support/system/used-memory.ts';
import '../../../support/own-process.ts';

const desk: Origin = { kind: 'connection', name: 'desk' };
const client: Origin = { kind: 'client', name: 'ann' };

test('changes above the limit of waiting ones are lost: a gap shows it, and later the current value is recorded', async (t) => {
  const history = await makeHistory(t);
  const graph = Object.assign(new Graph(), { startedAt: Date.now() });
  graph.declare(
    desk,
    ['a', 'b', 'c'].map((id) => ({ id, type: 'F', access: 'read-write' }) as const),
  );
  let wasHalfFull = 0;
  const recorder = new Recorder(
    graph,
    rulesOf(historySetting.parse([{}])),
    () => false,
    () => wasHalfFull++,
  );
  history.open(Date.now());
  graph.write('desk/c', 1, client);
  for (let count = 1; count < maxWaitingChanges; count++) graph.write('desk/a', count, client);
  t.true(wasHalfFull > 0);
  t.false(recorder.queue.isLosing);
  graph.write('desk/a', 0.5, client);
  graph.write('desk/b', 7, client);
  graph.write('desk/a', -1, client);
  t.true(recorder.queue.isLosing);
  t.is(recorder.queue.lost, 3);

  const full = recorder.take(Date.now());
  t.is(full.changes.columns.length, maxWaitingChanges / columnRows);
  const { buffers } = history.take(full.changes);
  recorder.goOn(Date.now(), 'changes arrived faster than they could be written');
  t.true(recorder.queue.isLosing, 'as long as the thread has all columns there is no room');
  recorder.queue.giveBack(buffers);
  recorder.goOn(Date.now(), 'changes arrived faster than they could be written');
  recorder.catchUp();
  t.false(recorder.queue.isLosing);
  graph.write('desk/c', 2, client);
  history.take(recorder.take(Date.now()).changes);
  recorder.end();

  t.like(history.read('SELECT lost, reason, end >= start AS isInOrder FROM gap'), [
    { lost: 3, reason: 'changes arrived faster than they could be written', isInOrder: 1 },
  ]);
  t.is(history.read('SELECT * FROM change').length, maxWaitingChanges + 3);
  t.deepEqual(
    history
      .read('SELECT address, value FROM event ORDER BY revision DESC LIMIT 4')
      .map(({ address, value }) => `${address}=${value}`),
    ['desk/c=2', 'desk/a=-1', 'desk/b=7', `desk/a=${maxWaitingChanges - 1}`],
  );
});

test('a long waiting text is truncated, and does not retain the rest', async (t) => {
  const graph = Object.assign(new Graph(), { startedAt: Date.now() });
  graph.declare(desk, [{ id: 'a', type: 'S', access: 'read-write' }]);
  const rules = rulesOf(historySetting.parse([{}]));
  const recorder = new Recorder(
    graph,
    rules,
    () => false,
    () => {},
  );
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const texts = 1000;
  for (let count = 0; count < texts; count++) graph.write('desk/a', `${count} `.padEnd(60_000, `${count}`), client);
  collectGarbage();
  const perText = (process.memoryUsage().heapUsed - before) / texts;
  t.true(perText < 4000, `${perText} bytes for each text of at most 1,024 characters`);
  const { columns } = recorder.take(Date.now()).changes;
  t.is(columns.flatMap(({ texts }) => texts).length, texts);
  recorder.end();
});

test('a meter is recorded only by an entry that is more specific than all', (t) => {
  const graph = Object.assign(new Graph(), { startedAt: Date.now() });
  const meter = { type: 'F', access: 'read-only', about: { class: 'meter' } } as const;
  graph.declare(desk, [
    { id: 'level', type: 'F', access: 'read-only' },
    { id: 'a/meter', ...meter },
    { id: 'b/meter', ...meter },
  ]);
  const rules = rulesOf(historySetting.parse([{ include: ['desk/b/meter'] }, {}]));
  const recorder = new Recorder(
    graph,
    rules,
    () => false,
    () => {},
  );
  for (const id of ['level', 'a/meter', 'b/meter']) graph.write(`desk/${id}`, 1, desk);
  const { parameters } = recorder.take(Date.now()).changes;
  t.deepEqual(
    parameters.map(([, address]) => address),
    ['desk/level', 'desk/b/meter'],
  );
  recorder.end();
});
