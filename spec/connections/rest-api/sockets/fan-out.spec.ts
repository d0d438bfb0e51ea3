// Each filter is matched once per parameter, whoever comes and goes, and nothing of those who left stays (design.md section 6).

import test from 'ava';
import { FanOut } from '../../../../lib/connections/rest-api/sockets/fan-out.ts';
import type { Audience, Feed } from '../../../../lib/connections/rest-api/sockets/feed.ts';
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
  graph.changes$.subscribe((change) => fanOut.tell(change));
  let next = 1;
  return { graph, fanOut, change: (place: number) => graph.write(`desk/p${place}`, next++, owner) };
}

/** Counts how often it is asked for each address, and what it is told. */
function createAudience(suffix: string) {
  const asked = new Map<string, number>();
  const told: string[] = [];
  const audience: Audience = {
    matches({ address }) {
      asked.set(address, (asked.get(address) ?? 0) + 1);
      return address.endsWith(suffix);
    },
    listenTo: ({ parameter }: Feed) => ({
      audience,
      tell: ({ value }) => void told.push(`${parameter.address}=${value}`),
    }),
  };
  return { audience, asked, told };
}

test('design.md section 6: a filter is matched once per parameter, also while thousands come and go', (t) => {
  const { fanOut, change } = start();
  const staying = createAudience('7');
  fanOut.join(staying.audience);
  let expected = 0;
  for (let round = 0; round < 3000; round++) {
    const coming = createAudience('1');
    fanOut.join(coming.audience);
    change(round % count);
    if (String(round % count).endsWith('7')) expected++;
    t.true(coming.asked.size <= 1);
    fanOut.leave(coming.audience);
  }
  t.is(staying.told.length, expected);
  t.deepEqual([...new Set(staying.asked.values())], [1]);
});

test('design.md section 6: who comes after a change hears of the next, who has left of none', (t) => {
  const { fanOut, change } = start();
  const [first, second] = [createAudience(''), createAudience('p1')];
  fanOut.join(first.audience);
  change(1);
  fanOut.join(second.audience);
  change(1);
  fanOut.leave(first.audience);
  change(1);
  change(2);
  t.deepEqual(first.told, ['desk/p1=1', 'desk/p1=2']);
  t.deepEqual(second.told, ['desk/p1=2', 'desk/p1=3']);
});

test('design.md section 6: parameters that never change again do not remember those who left', (t) => {
  const { graph, fanOut, change } = start();
  const staying = createAudience('');
  fanOut.join(staying.audience);
  const leaving = Array.from({ length: 1000 }, () => createAudience(''));
  for (const { audience } of leaving) fanOut.join(audience);
  for (let place = 0; place < count; place++) change(place);
  const feeds = [...graph.parameters()].map((parameter) => fanOut.feedOf(parameter));
  t.true(feeds.every(({ listeners }) => listeners.length === 1001));
  for (const { audience } of leaving) fanOut.leave(audience);
  t.true(
    feeds.every(({ listeners }) => listeners.length <= 66),
    `${feeds[0]?.listeners.length} are remembered`,
  );
  fanOut.leave(staying.audience);
  t.true(feeds.every(({ listeners }) => listeners.length === 0));
});

test('design.md section 6: a parameter that is no more is forgotten, its number is not used again', (t) => {
  const { graph, fanOut } = start();
  const [parameter] = graph.parameters();
  const { id } = fanOut.feedOf(parameter!);
  t.is(fanOut.parameterOf(id), parameter);
  fanOut.forget(parameter!);
  t.is(fanOut.parameterOf(id), undefined);
  t.not(fanOut.feedOf(parameter!).id, id);
});
