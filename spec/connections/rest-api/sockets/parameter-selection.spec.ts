// A filter that takes long is asked about each parameter once; a quick one needs no preparation.

import test from 'ava';
import { filterOf } from '../../../../lib/connections/rest-api/filters/filter.ts';
import { FanOut } from '../../../../lib/connections/rest-api/sockets/fan-out.ts';
import { Selection } from '../../../../lib/connections/rest-api/sockets/parameter-selection.ts';
import { Graph } from '../../../../lib/graph/graph.ts';

const owner = { kind: 'connection', name: 'desk' } as const;
const declarationOf = (id: string) => ({ id, type: 'I' as const, access: 'read-write' as const });

function start(work: number) {
  const graph = new Graph();
  graph.declare(
    owner,
    Array.from({ length: 1000 }, (_, index) => declarationOf(`p${index}`)),
  );
  const asked = new Map<string, number>();
  const filter = filterOf(work, (address) => {
    asked.set(address, (asked.get(address) ?? 0) + 1);
    return address.endsWith('7');
  });
  const fanOut = new FanOut();
  return { graph, asked, fanOut, selection: new Selection(filter, fanOut) };
}

test('a slow filter is asked in turns, and never again', (t) => {
  const { graph, asked, fanOut, selection } = start(100);
  fanOut.channelOf(graph.find('desk/p500')!); // it is known by a number already
  t.false(selection.isReady);
  let turns = 1;
  while (selection.prepare(() => graph.parameters(), 0)) turns++;
  t.true(selection.isReady);
  t.true(turns >= 500);
  for (let times = 0; times < 2; times++)
    t.is([...graph.parameters()].filter((parameter) => selection.has(parameter)).length, 100);
  t.deepEqual([...new Set(asked.values())], [1]);
});

test('a new parameter is asked about separately', (t) => {
  const { graph, selection } = start(100);
  while (selection.prepare(() => graph.parameters(), Number.POSITIVE_INFINITY));
  graph.remove([graph.find('desk/p7')!]);
  graph.declare(owner, [declarationOf('new7'), declarationOf('new8'), declarationOf('p7')]);
  t.deepEqual(
    ['new7', 'new8', 'p7', 'p17'].map((id) => selection.has(graph.find(`desk/${id}`)!)),
    [true, false, true, true],
  );
});

test('a removed parameter is asked about without being remembered', (t) => {
  const { graph, fanOut, selection } = start(100);
  while (selection.prepare(() => graph.parameters(), Number.POSITIVE_INFINITY));
  const gone = graph.find('desk/p7')!;
  graph.remove([gone]);
  fanOut.forget(gone);
  t.true(selection.has(gone));
  t.is(fanOut.idOf(gone), undefined);
});

test('a quick filter is asked each time', (t) => {
  const { graph, asked, selection } = start(0.1);
  t.true(selection.isReady);
  t.true(selection.has(graph.find('desk/p7')!));
  t.is(asked.size, 1);
});
