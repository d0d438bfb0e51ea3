// Clients that ask for the same hear the same, over as few topics as there must be (D-28).

import test from 'ava';
import { filterOf } from '../../../../../lib/connections/rest-api/filters/filter.ts';
import { FanOut } from '../../../../../lib/connections/rest-api/sockets/fan-out.ts';
import { PlainGroups } from '../../../../../lib/connections/rest-api/sockets/plain/plain-group.ts';
import { Graph } from '../../../../../lib/graph/graph.ts';

const owner = { kind: 'connection', name: 'desk' } as const;
const topicMembers = 512;

function start() {
  const graph = new Graph();
  graph.declare(owner, [{ id: 'lamp', type: 'B', access: 'read-write' }]);
  const fanOut = new FanOut();
  graph.changes$.subscribe((change) => fanOut.notify(change));
  const reported: (readonly object[])[] = [];
  const compiled: string[] = [];
  const groups = new PlainGroups(graph, fanOut, ({ topics }) => void reported.push([...topics]));
  let value = false;
  const change = () => {
    value = !value;
    graph.write('desk/lamp', value, owner);
  };
  const join = (key = '') =>
    groups.join(key, () => {
      compiled.push(key);
      return filterOf(0.1, (address) => address.includes(key));
    });
  return { groups, reported, compiled, change, join };
}

test('a topic has a limited number of members, and free places are filled first', (t) => {
  const { groups, join } = start();
  const topics = Array.from({ length: 2 * topicMembers + 1 }, () => join());
  t.is(new Set(topics).size, 3);
  t.is(new Set(topics.map(({ text }) => text)).size, 3);
  t.deepEqual(
    [...new Set(topics)].map(({ members }) => members),
    [topicMembers, topicMembers, 1],
  );
  groups.leave(topics[0]!);
  t.is(join(), topics[0]!);
  t.is(join(), topics.at(-1)!);
});

test('a change is stored once per group, for all its topics; empty topics and groups are removed', (t) => {
  const { groups, reported, change, join } = start();
  const lamps = Array.from({ length: topicMembers + 1 }, () => join('lamp'));
  const all = join('desk');
  join('fader');
  change();
  t.deepEqual(reported.splice(0), [[lamps[0]!, lamps.at(-1)!], [all]]);
  for (const topic of lamps.slice(0, topicMembers)) groups.leave(topic);
  change();
  t.deepEqual(reported.splice(0), [[lamps.at(-1)!], [all]]);
  groups.leave(lamps.at(-1)!);
  change();
  t.deepEqual(reported.splice(0), [[all]]);
  const again = join('lamp');
  t.not(again, lamps[0]!);
  change();
  t.deepEqual(reported.splice(0), [[all], [again]]);
});

test('the filter of a group is compiled once for all members, and again after the group was empty', (t) => {
  const { groups, compiled, join } = start();
  const topics = [join('lamp'), join('lamp'), join('desk'), join('lamp')];
  t.deepEqual(compiled, ['lamp', 'desk']);
  for (const topic of topics) groups.leave(topic);
  join('lamp');
  t.deepEqual(compiled, ['lamp', 'desk', 'lamp']);
});
