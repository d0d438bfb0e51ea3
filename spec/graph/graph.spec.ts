// The keyed graph (D-17): one way in, first in first out, store before delivery, revisions, turns.

import test from 'ava';
import fc from 'fast-check';
import { Graph } from '../../lib/graph/graph.ts';
import { SettleCall } from '../../lib/graph/settle-queue.ts';
import { type DroppedWrite, LoopError, maxHops, maxWritesPerTurn } from '../../lib/graph/turn.ts';
import { HubError } from '../../lib/model/error.ts';
import type { Access, Change, Origin, Remote } from '../../lib/model/parameter.ts';
import type { Value, ValueType } from '../../lib/model/value.ts';

const owner: Origin = { kind: 'connection', name: 'desk' };
const client: Origin = { kind: 'client', name: 'test' };
const rule: Origin = { kind: 'rule', name: 'a rule' };

function createGraph(...parameters: [id: string, type?: ValueType, access?: Access][]): Graph {
  const graph = new Graph(() => 1000);
  graph.declare(
    owner,
    parameters.map(([id, type = 'I', access = 'read-write']) => ({ id, type, access })),
  );
  return graph;
}

/** Records changes as `a=1`. */
function record(graph: Graph): string[] {
  const changes: string[] = [];
  graph.changes$.subscribe(({ parameter, value }) => changes.push(`${parameter.address.slice(5)}=${value}`));
  return changes;
}

/** A minimal rule: writes each value of one parameter, mapped, to another. */
function wire(graph: Graph, from: string, to: string, map = (value: number) => value, origin = rule): void {
  graph.find(`desk/${from}`)!.subscribe((value) => {
    if (value !== undefined) graph.write(`desk/${to}`, map(value as number), origin);
  });
}

test('S-04: a state is unknown until the first write, then holds the written value', (t) => {
  const graph = createGraph(['a']);
  t.is(graph.find('desk/a')?.value, undefined);
  t.is(graph.write('desk/a', '7', client), 7);
  t.is(graph.find('desk/a')?.value, 7);
});

test('D-03: a trigger has no state and fires each time', (t) => {
  const graph = createGraph(['go', 'T']);
  const changes = record(graph);
  graph.write('desk/go', true, client);
  graph.write('desk/go', 'x', client);
  t.is(graph.find('desk/go')?.value, undefined);
  t.deepEqual(changes, ['go=1', 'go=1']);
});

test('a default value is converted and set when the parameter is declared', (t) => {
  const graph = new Graph();
  graph.declare(owner, [{ id: 'a', type: 'F', access: 'read-write', defaultValue: '0.5' }]);
  t.is(graph.find('desk/a')?.value, 0.5);
  t.is(graph.revision, 1);
});

test('all parameters of a connection exist before the first default value is delivered', (t) => {
  const graph = new Graph();
  const reported: string[] = [];
  graph.declared$.subscribe(({ address }) => reported.push(`${address} is there`));
  graph.changes$.subscribe(({ parameter, value }) => reported.push(`${parameter.address}: ${value}`));
  graph.declare(owner, [
    { id: 'a', type: 'F', access: 'read-write', defaultValue: 1 },
    { id: 'b', type: 'F', access: 'read-write' },
    { id: 'c', type: 'F', access: 'read-write', defaultValue: 3 },
  ]);
  t.deepEqual(reported, ['desk/a is there', 'desk/b is there', 'desk/c is there', 'desk/a: 1', 'desk/c: 3']);
});

test('a parameter that is declared again stays the same', (t) => {
  const graph = createGraph(['a']);
  const node = graph.find('desk/a');
  graph.write('desk/a', 5, client);
  graph.declare(owner, [{ id: 'a', type: 'I', access: 'read-write', defaultValue: 1 }]);
  t.is(graph.find('desk/a'), node);
  t.is(node?.value, 5);
});

test('S-05: an unknown address, a read-only parameter and a bad value are refused and change nothing', (t) => {
  const graph = createGraph(['a', 'I', 'read-only'], ['b']);
  const changes = record(graph);
  t.like(
    t.throws(() => graph.write('desk/x', 1, client)),
    { code: 'unknown-parameter' },
  );
  t.like(
    t.throws(() => graph.write('desk/a', 1, client)),
    { code: 'read-only' },
  );
  t.like(
    t.throws(() => graph.write('desk/b', 'abc', client)),
    { code: 'not-convertible' },
  );
  t.deepEqual(changes, []);
});

test('a read-only parameter is set by its own connection', (t) => {
  const graph = createGraph(['a', 'I', 'read-only']);
  graph.write('desk/a', 1, owner);
  t.is(graph.find('desk/a')?.value, 1);
});

test('D-18: an equal value does not count as a change and takes no revision', (t) => {
  const graph = createGraph(['a']);
  const changes = record(graph);
  graph.write('desk/a', 1, client);
  graph.write('desk/a', '1.2', client);
  t.deepEqual(changes, ['a=1']);
  t.is(graph.revision, 1);
});

test('D-18: a destination receives every write of others, equal or not, and not those of its own connection', (t) => {
  const graph = createGraph(['a', 'I', 'write-only']);
  const changes = record(graph);
  const received: unknown[] = [];
  graph.inbox('desk/a').subscribe((value) => received.push(value));
  for (const value of [1, 1, 2]) graph.write('desk/a', value, client);
  graph.write('desk/a', 3, owner);
  t.deepEqual(received, [1, 1, 2]);
  t.deepEqual(changes, ['a=1', 'a=2', 'a=3']);
});

test('every listener gets changes in the order of their writes, not depth first', (t) => {
  const graph = createGraph(['a']);
  const late: unknown[] = [];
  graph.find('desk/a')!.subscribe((value) => {
    if (typeof value === 'number' && value < 3) graph.write('desk/a', value + 1, rule);
  });
  graph.find('desk/a')!.subscribe((value) => late.push(value));
  graph.write('desk/a', 1, client);
  t.deepEqual(late, [undefined, 1, 2, 3]);
});

test('a parameter stores a value before it notifies', (t) => {
  const graph = createGraph(['a']);
  const node = graph.find('desk/a')!;
  const seen: unknown[] = [];
  node.subscribe((value) => seen.push([value, node.value, node.lastChange?.value]));
  graph.write('desk/a', 5, client);
  t.deepEqual(seen, [
    [undefined, undefined, undefined],
    [5, 5, 5],
  ]);
});

test('each change carries revision, time, origin and cause', (t) => {
  const graph = createGraph(['a'], ['b']);
  wire(graph, 'a', 'b');
  const changes: Change[] = [];
  graph.changes$.subscribe((change) => changes.push(change));
  graph.write('desk/a', 1, client);
  const [first, second] = changes;
  t.like(first, { revision: 1, time: 1000, origin: client, cause: undefined, hop: 0 });
  t.like(second, { revision: 2, time: 1000, origin: rule, hop: 1 });
  t.is(second?.cause, first);
  t.is(graph.find('desk/b')?.lastChange, second);
});

test('a loop of two rules stops after 64 hops, names the chain and leaves the graph usable', (t) => {
  const graph = createGraph(['a'], ['b'], ['c']);
  wire(graph, 'a', 'b', undefined, { kind: 'rule', name: 'there' });
  wire(graph, 'b', 'a', (value) => value + 1, { kind: 'rule', name: 'back' });
  const dropped: DroppedWrite[] = [];
  graph.dropped$.subscribe((drop) => dropped.push(drop));
  graph.write('desk/a', 1, client);
  t.is(graph.revision, maxHops + 1);
  t.is(dropped.length, 1);
  t.is(dropped[0]?.chain.length, maxHops + 2);
  t.deepEqual(new Set(dropped[0]?.chain.slice(1).map(({ origin }) => origin.name)), new Set(['there', 'back']));
  graph.write('desk/c', 1, client);
  t.is(graph.find('desk/c')?.value, 1);
});

test('the 65th hop to another hub resolves to a LoopError, and other errors stay as they are', async (t) => {
  for (const [code, isLoop] of [
    ['conflict', true],
    ['unavailable', false],
  ] as const) {
    const graph = createGraph(['a'], ['far']);
    const hops: number[] = [];
    const sent: Promise<readonly (Value | Error)[]>[] = [];
    const remote: Remote = {
      hub: 'east',
      staleSince: undefined,
      write: (_, { hop }) => {
        hops.push(hop);
        return Promise.resolve([hop > maxHops ? new HubError(code, 'refused') : 1]);
      },
    };
    const far = graph.find('desk/far')!;
    const a = graph.find('desk/a')!;
    a.subscribe(() => sent.push(graph.writeRemote(remote, [{ parameter: far, input: 1 }], rule)));
    wire(graph, 'a', 'a', (value) => value + 1);
    graph.write('desk/a', 1, client);
    const [result] = (await Promise.all(sent)).at(-1)!;
    t.is(hops.at(-1), maxHops + 1);
    t.is(result instanceof LoopError, isLoop);
    t.is((result as HubError).code, code);
  }
});

test('rules that multiply are stopped by the number of writes in a turn', (t) => {
  const graph = createGraph(['a'], ['b'], ['c'], ['d']);
  let next = 0;
  for (const from of ['a', 'b', 'c']) for (const to of ['a', 'b', 'c']) wire(graph, from, to, () => ++next);
  let drops = 0;
  graph.dropped$.subscribe(() => drops++);
  graph.write('desk/a', 1, client);
  t.true(drops > 0);
  t.true(graph.revision <= maxWritesPerTurn + 1);
  graph.write('desk/d', 1, client);
  t.is(graph.find('desk/d')?.value, 1);
});

test('several writes are one turn: their effects come after all of them', (t) => {
  const graph = createGraph(['a'], ['b'], ['c']);
  wire(graph, 'a', 'c');
  const changes = record(graph);
  graph.turn(() => {
    graph.write('desk/a', 1, client);
    graph.write('desk/b', 2, client);
  });
  t.deepEqual(changes, ['a=1', 'b=2', 'c=1']);
});

test('work at settle runs once per turn, after all writes, lower orders first, and its writes have the cause', (t) => {
  const graph = createGraph(['a'], ['b'], ['sum']);
  const runs: string[] = [];
  const sum = new SettleCall({ order: 2 }, () => {
    runs.push('sum');
    graph.write('desk/sum', Number(graph.find('desk/a')?.value) + Number(graph.find('desk/b')?.value), rule);
  });
  const first = new SettleCall({ order: 1 }, () => runs.push('first'));
  wire(graph, 'a', 'b');
  for (const id of ['a', 'b'])
    graph.find(`desk/${id}`)!.subscribe((value) => {
      if (value === undefined) return;
      graph.atSettle(sum);
      graph.atSettle(first);
    });
  const changes = record(graph);
  graph.write('desk/a', 5, client);
  t.deepEqual(runs, ['first', 'sum']);
  t.deepEqual(changes, ['a=5', 'b=5', 'sum=10']);
  t.is(graph.find('desk/sum')?.lastChange?.cause, graph.find('desk/a')?.lastChange);
});

test('a turn whose work throws still delivers its writes', (t) => {
  const graph = createGraph(['a'], ['b']);
  t.throws(() =>
    graph.turn(() => {
      graph.write('desk/a', 1, client);
      throw new Error('half way');
    }),
  );
  graph.write('desk/b', 2, client);
  t.is(graph.find('desk/a')?.value, 1);
  t.is(graph.find('desk/b')?.value, 2);
});

test('a listener or settling work that throws ends nothing else: the turn ends, and the writer gets the first error', (t) => {
  const graph = createGraph(['a'], ['b'], ['c'], ['d']);
  const fail = (what: string) => () => {
    throw new Error(what);
  };
  graph.get('desk/a').addListener({ closed: false, next: fail('a is notified') });
  graph.get('desk/b').addListener({ closed: false, next: fail('b is notified') });
  const causes: unknown[] = [];
  const write = (): void => {
    causes.push(graph.cause?.parameter.address);
    graph.write('desk/d', 4, rule);
  };
  graph.find('desk/c')!.subscribe((value) => {
    if (value === undefined) return;
    graph.atSettle(new SettleCall({ order: 1 }, fail('c settles')));
    graph.atSettle(new SettleCall({ order: 2 }, write));
  });
  const changes = record(graph);
  t.throws(() => graph.write('desk/a', 1, client), { message: 'a is notified' });
  const writeAll = () => {
    graph.write('desk/b', 2, client);
    graph.write('desk/c', 3, client);
  };
  t.throws(() => graph.turn(writeAll), { message: 'b is notified' });
  t.deepEqual(changes, ['c=3', 'd=4']);
  t.deepEqual(causes, ['desk/c']);
  t.is(graph.cause, undefined);
  graph.write('desk/d', 5, client);
  t.deepEqual(changes, ['c=3', 'd=4', 'd=5']);
});

test('changedSince yields what a model of revisions yields, in order, from every revision', (t) => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...ids), fc.integer({ min: 0, max: 2 }))), (writes) => {
      const graph = createGraph(...ids.map((id): [string] => [id]));
      const model = new Map<string, { value: number; revision: number }>();
      let revision = 0;
      for (const [id, value] of writes) {
        graph.write(`desk/${id}`, value, client);
        if (model.get(id)?.value === value) continue;
        model.delete(id);
        model.set(id, { value, revision: ++revision });
      }
      for (let since = 0; since <= revision; since++)
        t.deepEqual(
          [...graph.changedSince(since)].map(({ address, value }) => `${address}=${value}`),
          [...model].filter(([, state]) => state.revision > since).map(([id, state]) => `desk/${id}=${state.value}`),
        );
    }),
  );
});

test('the order of delivery is that of a queue, whatever listeners write meanwhile', (t) => {
  const ids = ['a', 'b', 'c', 'd'];
  const wires = fc.array(
    fc.tuple(fc.nat(3), fc.nat(3)).filter(([from, to]) => from < to),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(
      wires,
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 0, max: 9 })), { maxLength: 10 }),
      (pairs, writes) => {
        const graph = createGraph(...ids.map((id): [string] => [id]));
        for (const [from, to] of pairs) wire(graph, ids[from]!, ids[to]!, (value) => value + 1);
        const changes = record(graph);
        const state: (number | undefined)[] = [];
        const expected: string[] = [];
        for (const [index, value] of writes) {
          graph.write(`desk/${ids[index]}`, value, client);
          const queue: [number, number][] = [[index, value]];
          for (const [at, next] of queue) {
            if (state[at] === next) continue;
            state[at] = next;
            expected.push(`${ids[at]}=${next}`);
            for (const [from, to] of pairs) if (from === at) queue.push([to, next + 1]);
          }
        }
        t.deepEqual(changes, expected);
      },
    ),
  );
});
