// Causes across time: a later write has what led to it as its cause, and a loop through time does not keep its whole past.

import test from 'ava';
import { type Observable, VirtualTimeScheduler } from 'rxjs';
import { delay } from 'rxjs/operators';
import { createCausalScheduler } from '../../lib/graph/causal-scheduler.ts';
import { Graph, keptCauses } from '../../lib/graph/graph.ts';
import { SettleCall } from '../../lib/graph/settle-queue.ts';
import { type DroppedWrite, maxHops } from '../../lib/graph/turn.ts';
import type { Change, Origin } from '../../lib/model/parameter.ts';

const owner: Origin = { kind: 'connection', name: 'desk' };
const client: Origin = { kind: 'client', name: 'test' };
const rule: Origin = { kind: 'rule', name: 'a rule' };

function createGraph(...ids: string[]) {
  const scheduler = new VirtualTimeScheduler();
  const graph = new Graph(() => scheduler.now());
  graph.declare(
    owner,
    ids.map((id) => ({ id, type: 'I', access: 'read-write' })),
  );
  /** A rule in the raw that writes later what it has heard. */
  const wireLater = (from: string, to: string, delayMs: number, map = (value: number) => value) =>
    (graph.find(`desk/${from}`) as Observable<unknown>)
      .pipe(delay(delayMs, createCausalScheduler(graph, scheduler)))
      .subscribe((value) => value !== undefined && graph.write(`desk/${to}`, map(value as number), rule));
  return { graph, scheduler, wireLater, last: (id: string) => graph.find(`desk/${id}`)!.lastChange! };
}

function chainOf(change: Change): Change[] {
  const chain: Change[] = [];
  for (let link: Change | undefined = change; link !== undefined; link = link.cause) chain.push(link);
  return chain;
}

test('a write after a delay has the change that was delivered when it was scheduled as its cause', (t) => {
  const { graph, scheduler, wireLater, last } = createGraph('a', 'b');
  wireLater('a', 'b', 300);
  graph.write('desk/a', 1, client);
  const first = last('a');
  scheduler.schedule(() => graph.write('desk/a', 2, client), 200);
  scheduler.maxFrames = 400;
  scheduler.flush();
  t.like(last('b'), { value: 1, time: 300, depth: 1, hop: 0, previous: undefined });
  t.is(last('b').cause, first);
  scheduler.maxFrames = 500;
  scheduler.flush();
  t.like(last('b'), { value: 2, previous: 1, cause: last('a') });
});

test('work scheduled outside any change has no cause, and writes after such work have none', (t) => {
  const { graph, scheduler, wireLater, last } = createGraph('a', 'b', 'c');
  wireLater('a', 'b', 10);
  createCausalScheduler(graph, scheduler).schedule(() => graph.write('desk/a', 1, client), 5);
  scheduler.flush();
  t.is(last('a').cause, undefined);
  t.is(last('b').cause, last('a'));
  graph.write('desk/c', 1, client);
  t.is(last('c').cause, undefined);
});

test('work that throws leaves no cause behind', (t) => {
  const { graph, last } = createGraph('a', 'b');
  graph.write('desk/a', 1, client);
  t.throws(() =>
    graph.onBehalfOf(last('a'), () => {
      throw new Error('broken');
    }),
  );
  graph.write('desk/b', 1, client);
  t.is(last('b').cause, undefined);
});

test('work at settle has the cause with which it was requested, even one of an earlier turn', (t) => {
  const { graph, last } = createGraph('a', 'b');
  graph.write('desk/a', 1, client);
  graph.onBehalfOf(last('a'), () =>
    graph.atSettle(new SettleCall({ order: 0 }, () => void graph.write('desk/b', 1, rule))),
  );
  t.like(last('b'), { cause: last('a'), hop: 0, depth: 1 });
});

test('an equal write to a destination is the cause of what follows, with its time', (t) => {
  const { graph, scheduler, last } = createGraph('start', 'end');
  const causal = createCausalScheduler(graph, scheduler);
  graph
    .inbox('desk/start')
    .pipe(delay(100, causal))
    .subscribe(() => graph.write('desk/end', graph.revision, owner));
  graph.write('desk/start', 5, client);
  scheduler.schedule(() => graph.write('desk/start', 5, client), 1000);
  scheduler.flush();
  t.like(last('end').cause, { value: 5, revision: 0, time: 1000 });
  t.like(last('start'), { time: 0, previous: undefined, revision: 1 });
});

test('a chain through time is cut at its far end, and says how much is missing', (t) => {
  const { graph, scheduler, wireLater, last } = createGraph('a', 'b', 'c');
  wireLater('a', 'b', 10);
  wireLater('b', 'a', 10, (value) => value + 1);
  graph.write('desk/a', 0, client);
  graph.onBehalfOf(last('a'), () => graph.write('desk/c', 1, rule));
  scheduler.maxFrames = 10_000;
  scheduler.flush();
  const chain = chainOf(last('a'));
  t.is(last('a').depth, 1000);
  t.true(chain.length > keptCauses && chain.length <= 2 * keptCauses, `${chain.length}`);
  t.is(chain.at(-1)!.depth, 1000 - chain.length + 1);
  for (const [index, { value, depth, time }] of chain.entries())
    t.deepEqual([value, depth, time], [500 - Math.ceil(index / 2), 1000 - index, 10_000 - index * 10]);
  t.deepEqual(
    chainOf(last('c')).map(({ depth, origin }) => [depth, origin]),
    [
      [1, rule],
      [0, client],
    ],
  );
});

test('hops are counted within a turn: a loop through time continues, one within a turn is named from its own start', (t) => {
  const { graph, scheduler, wireLater, last } = createGraph('a', 'b', 'x', 'y');
  const dropped: DroppedWrite[] = [];
  graph.dropped$.subscribe((drop) => dropped.push(drop));
  wireLater('a', 'b', 10);
  wireLater('b', 'a', 10, (value) => value + 1);
  graph.write('desk/a', 0, client);
  scheduler.maxFrames = 2000;
  scheduler.flush();
  t.is(dropped.length, 0);
  t.is(last('a').hop, 0);
  for (const [from, to] of [
    ['x', 'y'],
    ['y', 'x'],
  ])
    graph.find(`desk/${from}`)!.subscribe((value) => {
      if (value !== undefined) graph.write(`desk/${to}`, (value as number) + 1, rule);
    });
  graph.onBehalfOf(last('a'), () => graph.write('desk/x', 1, rule));
  t.is(dropped[0]?.chain.length, maxHops + 2);
  t.is(dropped[0]?.chain[0]?.parameter.address, 'desk/x');
});
