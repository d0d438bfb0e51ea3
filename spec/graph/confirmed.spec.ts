// Parameters that their connection has to confirm (D-46): what is written to them is wanted, until the connection says the value.

import test from 'ava';
import { Graph } from '../../lib/graph/graph.ts';
import type { StateNode } from '../../lib/graph/parameter-node.ts';
import { HubError } from '../../lib/model/error.ts';
import type { Change, Origin } from '../../lib/model/parameter.ts';

const owner: Origin = { kind: 'connection', name: 'router' };
const client: Origin = { kind: 'client', name: 'test' };

function create(hasListener = true) {
  const graph = new Graph(() => 1000);
  graph.declare(owner, [{ id: 'out', type: 'I', access: 'read-write', isConfirmed: true }]);
  const node = graph.get('router/out') as StateNode;
  const told: string[] = [];
  graph.changes$.subscribe(({ value, origin, cause }) =>
    told.push(`=${value} by ${origin.name}${cause ? ` for ${cause.origin.name}` : ''}`),
  );
  graph.wanted$.subscribe(({ value }) => told.push(`wanted ${value}`));
  graph.settled$.subscribe(({ write, error }) => told.push(`${write.value} ${error?.code ?? 'confirmed'}`));
  const causes: (Change | undefined)[] = [];
  if (hasListener) graph.inbox('router/out').subscribe(() => causes.push(graph.cause));
  return { graph, node, told, causes };
}

test('a write is wanted, and the value of the connection confirms it', (t) => {
  const { graph, node, told, causes } = create();
  graph.write('router/out', 7, client);
  t.is(node.value, undefined);
  t.is(node.wanted?.value, 7);
  t.is(causes[0], node.wanted, 'the connection is told the write itself');
  graph.writeTo(node, 5, owner);
  t.is(node.wanted?.value, 7, 'another value confirms nothing');
  graph.writeTo(node, 7, owner, causes[0]);
  t.is(node.wanted, undefined);
  t.is(node.lastChange?.cause?.origin, client);
  t.deepEqual(told, ['wanted 7', '=5 by router', '=7 by router for test', '7 confirmed']);
});

test('an equal value confirms as well, and does not count as a change', (t) => {
  const { graph, node, told } = create();
  graph.writeTo(node, 7, owner);
  graph.write('router/out', 7, client);
  graph.writeTo(node, 7, owner);
  t.deepEqual(told, ['=7 by router', 'wanted 7', '7 confirmed']);
});

test('of two writes the newest counts, and who waits for the other hears of it', async (t) => {
  const { graph, node } = create();
  graph.write('router/out', 7, client);
  const first = graph.whenConfirmed(node, 1000);
  graph.write('router/out', 8, client);
  const second = graph.whenConfirmed(node, 1000);
  await t.throwsAsync(first, { code: 'conflict' });
  graph.writeTo(node, 8, owner);
  await t.notThrowsAsync(second);
});

test('a write that comes to nothing, or of which nothing is heard, is told', async (t) => {
  const { graph, node } = create();
  graph.write('router/out', 7, client);
  const refused = graph.whenConfirmed(node, 1000);
  graph.settle(node, new HubError('unavailable', 'away'));
  await t.throwsAsync(refused, { code: 'unavailable' });
  graph.write('router/out', 8, client);
  await t.throwsAsync(graph.whenConfirmed(node, 1), { code: 'not-confirmed' });
  t.is(node.wanted?.value, 8);
});

test('where nobody would confirm it, such as in a test of a flow, a write sets the value', (t) => {
  const { graph, node, told } = create(false);
  graph.write('router/out', 7, client);
  t.is(node.value, 7);
  t.deepEqual(told, ['=7 by test']);
});

test('a value that nobody knows any more is unknown to all who look, and is known again by the next one', (t) => {
  const { graph, node } = create();
  const seen: unknown[] = [];
  node.subscribe((value) => seen.push(value));
  graph.writeTo(node, 7, owner);
  graph.forget(node);
  graph.forget(node);
  t.deepEqual([...graph.changedSince(0)], []);
  graph.writeTo(node, 7, owner);
  t.deepEqual(seen, [undefined, 7, undefined, 7]);
  t.is([...graph.changedSince(0)].length, 1);
});
