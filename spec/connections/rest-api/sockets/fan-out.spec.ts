// Each filter is asked about a parameter once, whoever comes and goes. Nothing stays of those who left (D-28).

import { setImmediate as nextRound } from 'node:timers/promises';
import test from 'ava';
import { type Channel, FanOut, type Subscriber } from '../../../../lib/connections/rest-api/sockets/fan-out.ts';
import { Graph } from '../../../../lib/graph/graph.ts';

const owner = { kind: 'connection', name: 'desk' } as const;
const count = 200;

function start() {
  const graph = new Graph();
  graph.declare(
    owner,
    Array.from({ length: count }, (_, index) => ({
      id: `p${index}`,
      type: 'I' as const,
      access: 'read-write' as const,
    })),
  );
  const fanOut = new FanOut();
  graph.changes$.subscribe((change) => fanOut.notify(change));
  let next = 1;
  return { graph, fanOut, change: (place: number) => graph.write(`desk/p${place}`, next++, owner) };
}

/** Counts how often it is asked for each address, and what it is told. */
function createSubscriber(suffix: string) {
  const asked = new Map<string, number>();
  const reported: string[] = [];
  const subscriber: Subscriber = {
    matches({ address }) {
      asked.set(address, (asked.get(address) ?? 0) + 1);
      return address.endsWith(suffix);
    },
    observe: ({ parameter }: Channel) => ({
      subscriber,
      notify: ({ value }) => void reported.push(`${parameter.address}=${value}`),
    }),
  };
  return { subscriber, asked, reported };
}

test('D-28: a filter is matched once per parameter, also while thousands come and go', (t) => {
  const { fanOut, change } = start();
  const staying = createSubscriber('7');
  fanOut.join(staying.subscriber);
  let expected = 0;
  for (let round = 0; round < 3000; round++) {
    const coming = createSubscriber('1');
    fanOut.join(coming.subscriber);
    change(round % count);
    if (String(round % count).endsWith('7')) expected++;
    t.true(coming.asked.size <= 1);
    fanOut.leave(coming.subscriber);
  }
  t.is(staying.reported.length, expected);
  t.deepEqual([...new Set(staying.asked.values())], [1]);
});

test('D-28: a client that joins after a change receives the next, a client that left receives none', (t) => {
  const { fanOut, change } = start();
  const [first, second] = [createSubscriber(''), createSubscriber('p1')];
  fanOut.join(first.subscriber);
  change(1);
  fanOut.join(second.subscriber);
  change(1);
  fanOut.leave(first.subscriber);
  change(1);
  change(2);
  t.deepEqual(first.reported, ['desk/p1=1', 'desk/p1=2']);
  t.deepEqual(second.reported, ['desk/p1=2', 'desk/p1=3']);
});

test('D-28: parameters that never change again do not remember clients that left', (t) => {
  const { graph, fanOut, change } = start();
  const staying = createSubscriber('');
  fanOut.join(staying.subscriber);
  const leaving = Array.from({ length: 1000 }, () => createSubscriber(''));
  for (const { subscriber } of leaving) fanOut.join(subscriber);
  for (let place = 0; place < count; place++) change(place);
  const channels = [...graph.parameters()].map((parameter) => fanOut.channelOf(parameter));
  t.true(channels.every(({ observers }) => observers.length === 1001));
  for (const { subscriber } of leaving) fanOut.leave(subscriber);
  t.true(
    channels.every(({ observers }) => observers.length <= 66),
    `${channels[0]?.observers.length} are remembered`,
  );
  fanOut.leave(staying.subscriber);
  t.true(channels.every(({ observers }) => observers.length === 0));
});

test('D-28: a removed parameter is forgotten, its number is not used again', (t) => {
  const { graph, fanOut } = start();
  const [parameter] = graph.parameters();
  const { id } = fanOut.channelOf(parameter!);
  t.is(fanOut.parameterOf(id), parameter);
  fanOut.forget(parameter!);
  t.is(fanOut.parameterOf(id), undefined);
  t.not(fanOut.channelOf(parameter!).id, id);
});

test('the delay of a fan-out includes the deferred work of observers', async (t) => {
  const { fanOut, change } = start();
  const sendingMs = 5;
  const send = () => {
    const beganMs = performance.now();
    while (performance.now() - beganMs < sendingMs);
  };
  const subscriber: Subscriber = {
    matches: () => true,
    observe: () => ({ subscriber, notify: () => void setImmediate(send) }),
  };
  fanOut.join(subscriber);
  for (let round = 0; round < 16; round++) {
    change(1);
    await nextRound();
  }
  const { counts, sum } = fanOut.rounds.durations;
  t.is(
    counts.reduce((all, count) => all + count),
    1,
  );
  t.true(sum >= sendingMs / 1000, `${sum} s`);
});
