// Rules in files and folders, which of these are open, and the graph that they make.

import test from 'ava';
import { buildGraph } from '../../../lib/console/flows/flow-graph.ts';
import { groupRules, maxBoxes, openGroups, type RuleGroup, rulesIn } from '../../../lib/console/flows/rule-groups.ts';
import type { RuleStatus } from '../../../lib/model/reports/rule-status.ts';

const rule = (name: string, folder: string[], from: string[], to: string[], file = 'a.json5'): RuleStatus => ({
  ...{ name, file, folder, from, to },
  ...{ place: `${file}:1:1`, enabled: true, state: 'running', reason: '', faults: 0, dropped: 0 },
});
const titles = (groups: readonly RuleGroup[]): unknown[] =>
  groups.map(({ title, rules, groups: inner }) => [title, rules.map(({ name }) => name), titles(inner)]);
const many = (folders: number, each: number) =>
  Array.from({ length: folders * each }, (_, n) =>
    rule(`r${n}`, [`f${Math.floor(n / each)}`], [`desk/${n}`], [`desk/${n + 1}`]),
  );
/** Counts the boxes of rules and closed groups. */
const boxes = (groups: readonly RuleGroup[], open: ReadonlySet<string>): number =>
  groups.reduce((sum, group) => sum + (open.has(group.id) ? group.rules.length + boxes(group.groups, open) : 1), 0);

test('rules are grouped by file and folders, in their order', (t) => {
  const groups = groupRules([
    rule('one', [], [], []),
    rule('two', ['Door', 'Lamp'], [], []),
    rule('three', ['Door'], [], []),
    rule('four', [], [], [], 'b.json5'),
    rule('five', ['Door', 'Lamp'], [], []),
  ]);
  t.deepEqual(titles(groups), [
    ['a.json5', ['one'], [['Door', ['three'], [['Lamp', ['two', 'five'], []]]]]],
    ['b.json5', ['four'], []],
  ]);
  t.deepEqual(
    rulesIn(groups[0]!).map(({ name }) => name),
    ['one', 'three', 'two', 'five'],
  );
});

test('a small installation is all open; a large one is open as far as it fits', (t) => {
  const small = groupRules(many(5, 4));
  t.is(openGroups(small, new Map()).size, 6);
  t.is(openGroups(groupRules(many(1, maxBoxes)), new Map()).size, 2, 'rather many boxes than a single one');
  t.is(openGroups(groupRules(many(1, maxBoxes + 1)), new Map()).size, 1);
  const large = groupRules(many(25, 20));
  const open = openGroups(large, new Map());
  t.deepEqual([...open], [large[0]!.id]);
  t.is(boxes(large, open), 25);
});

test('manually opened and closed groups have precedence, and the number of boxes stays within its limit', (t) => {
  const groups = groupRules(many(25, 20));
  const [file] = groups;
  const last = file!.groups.at(-1)!;
  t.true(openGroups(groups, new Map([[last.id, true]])).has(last.id));
  t.is(openGroups(groups, new Map([[file!.id, false]])).size, 0);
  const all = openGroups(groups, new Map([file!, ...file!.groups].map(({ id }) => [id, true])));
  t.true(boxes(groups, all) <= maxBoxes && boxes(groups, all) > maxBoxes - 20);
  const large = groupRules(many(1, 2 * maxBoxes));
  const opened = new Map([large[0]!, ...large[0]!.groups].map(({ id }) => [id, true]));
  t.is(openGroups(large, opened).size, 1, 'the file alone');
  t.is(openGroups(large, opened, [], Number.POSITIVE_INFINITY).size, 2, 'a list has no such bound');
});

test('open rules are between parameters, closed groups between connections, each of them once', (t) => {
  const groups = groupRules([
    rule('in the open', [], ['desk/mic'], ['desk/lamp']),
    rule('hidden', ['Closed'], ['desk/mic', 'clock/pulse/1'], ['onair/Lamp', 'onair/Title']),
  ]);
  const [file] = groups;
  const { nodes, edges } = buildGraph(groups, new Set([file!.id]));
  t.deepEqual(
    nodes.map((node) => Object.values(node).at(-1)).map((text) => String(text).replace(/^.*"(.*)"\]$/, '$1')),
    ['desk/mic', 'in the open', 'desk/lamp', 'desk', 'clock', 'Closed', 'onair'],
  );
  t.deepEqual(
    edges.map(({ address }) => address),
    ['desk/mic', 'desk/lamp', undefined, undefined, undefined],
  );
  t.is(new Set(edges.map(({ from, to }) => `${from} ${to}`)).size, edges.length);
});

test('a graph draws what goes through connections, as far as it leads to something drawn', (t) => {
  const groups = groupRules([
    rule('start', [], ['desk/mic'], ['clock/timer/1/start']),
    rule('lamp', [], ['core/late'], ['desk/lamp']),
    rule('silent', [], ['desk/level'], ['panel/silent']),
  ]);
  const ways = [
    { connection: 'core', type: 'virtual-core', from: ['clock/timer/1/trigger'], to: ['core/late', 'core/unused'] },
    { connection: 'core', type: 'virtual-core', from: ['desk/other'], to: ['core/never'] },
    { connection: 'clock', type: 'timer', from: ['clock/timer/1/start'], to: ['clock/timer/1/trigger'] },
    {
      connection: 'alarms',
      type: 'alarms',
      from: ['panel/silent', 'alarms/a/ack'],
      to: ['alarms/a', 'alarms/a/state'],
    },
  ];
  const { edges } = buildGraph(groups, new Set([groups[0]!.id]), ways);
  const lines = edges.map(({ from, to }) => [from, to].map((id) => id.replace(/^r .*"(.*)"\]$/, '$1')).join(' → '));
  t.deepEqual(lines, [
    ...['p desk/mic → start', 'start → p clock/timer/1/start'],
    ...['p core/late → lamp', 'lamp → p desk/lamp', 'p desk/level → silent', 'silent → p panel/silent'],
    ...['p clock/timer/1/trigger → w core late', 'w core late → p core/late'],
    ...['p clock/timer/1/start → w clock timer/1/trigger', 'w clock timer/1/trigger → p clock/timer/1/trigger'],
    ...['p panel/silent → w alarms a', 'w alarms a → p alarms/a'],
  ]);
});
