// Each limit that a rule can reach has its own message: in the log, in the state of the rule, and in its trace.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { maxWritesPerTurn } from '../../../../lib/graph/turn.ts';
import { testFlow } from '../../../../lib/index.ts';
import { startTestHub, writer } from '../../../support/hub.ts';

const desk = { type: 'dummy', parameters: ['a,I', 'b,I', 'c,I', 'd,I', 'level,F', 'go,T'] };

test('hops and writes of a turn are different limits with different messages', async (t) => {
  const names = ['a', 'b', 'c'];
  const hub = await startTestHub(t, {
    connections: { desk },
    rules: [
      { name: 'loop', from: 'desk/d', map: 'value + 1', to: 'desk/d' },
      ...names.map((from) => ({
        name: from,
        from: `desk/${from}`,
        map: 'value + 1',
        to: names.map((to) => `desk/${to}`),
      })),
    ],
  });
  hub.write('desk/d', 1, writer);
  t.is(
    await hub.logged(/more than/),
    'rule loop: "loop" made more than 64 hops in one turn; the write to desk/d was dropped',
  );
  t.like(hub.rules()[0], { state: 'limited', reason: 'it loops: a write to desk/d was dropped', dropped: 1 });
  hub.turn(() => {
    for (let count = 0; count <= maxWritesPerTurn; count++) hub.write('desk/level', count, writer);
  });
  t.is(
    await hub.logged(/131,072/),
    'client "spec" made more than 131,072 writes in one turn; the write to desk/level was dropped',
  );
});

test('rules that multiply reach the limit of writes in a turn, and the message says so', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk },
    rules: ['a a 3', 'a b 5', 'b a 7', 'b b 11'].map((name) => {
      const [from, to, factor] = name.split(' ');
      return { name, from: `desk/${from}`, map: `value * ${factor} % 1000003`, to: `desk/${to}` };
    }),
  });
  hub.write('desk/a', 1, writer);
  t.regex(
    await hub.logged(/131,072/),
    /^rule "[ab] [ab] \d+" made more than 131,072 writes in one turn; the write to desk/,
  );
  const limited = hub.rules().filter(({ state }) => state === 'limited');
  t.true(limited.some(({ reason }) => reason.startsWith('it made more than 131,072 writes in one turn: ')));
});

for (const [step, reason, outcome] of [
  [{ delay: '1h' }, 'a delay holds 10,000 values at most; the next one was dropped', 'held'],
  [{ window: { of: 'max', over: '1h' } }, 'a window holds 10,000 values at most; the oldest one was dropped', 'wrote'],
  [{ count: '1h' }, 'a count holds 10,000 values at most; the oldest one was dropped', 'wrote'],
] as const)
  test(`${Object.keys(step)} reports when it is full, and counts what it drops`, async (t) => {
    const hub = await startTestHub(t, {
      connections: { desk },
      rules: [{ name: 'later', from: 'desk/a', pipe: [step], to: 'desk/b' }],
    });
    for (let count = 0; count < 10_003; count++) hub.write('desk/a', count, writer);
    t.regex(await hub.logged(/ holds /), new RegExp(`^rule "later" \\(.*flow\\.json5\\) is limited: ${reason}$`));
    t.like(hub.rules(), [{ state: 'limited', reason, dropped: 3 }]);
    t.like(hub.runsOf('later')[0]!.runs[0], { outcome, error: reason });
  });

test('text that is too long is a fault of the rule that makes it, and the message says so', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ['text', 'twice'] } },
    rules: [{ name: 'twice', from: 'desk/text', map: 'value + value', to: 'desk/twice' }],
  });
  hub.write('desk/text', 'x'.repeat(32_769), writer);
  const reason = 'desk/twice: expected text of at most 65536 characters, got 65538 characters';
  t.regex(await hub.logged(/characters/), new RegExp(`^rule "twice" \\(.*flow\\.json5\\) failed: ${reason}$`));
  t.like(hub.rules()[0], { state: 'failing', reason, faults: 1 });
});

test('a rule that reads an unknown parameter reports once which one it waits for, until it is known', async (t) => {
  const hub = await startTestHub(t, {
    connections: { desk },
    rules: [{ name: 'sum', from: 'desk/a', map: "value + param('desk/b')", to: 'desk/c' }],
  });
  hub.write('desk/a', 1, writer);
  hub.write('desk/a', 2, writer);
  const reason = 'waits for desk/b, which is unknown';
  t.regex(await hub.logged(/desk\/b/), new RegExp(`^rule "sum" \\(.*flow\\.json5\\) ${reason}$`));
  t.is(hub.lines.filter(({ message }) => message.includes(reason)).length, 1);
  t.like(hub.rules()[0], { state: 'waiting', reason, faults: 0 });
  t.like(hub.runsOf('sum')[0]!.runs[0], { outcome: 'waited', error: reason });
  hub.write('desk/b', 40, writer);
  t.like(hub.rules()[0], { state: 'running', reason: '' });
  hub.write('desk/a', 3, writer);
  t.is(hub.find('desk/c')?.value, 43);
});

for (const [what, rule] of [
  ['a rule with names', { from: { a: 'desk/a', b: 'desk/b' }, map: 'a + b' }],
  ['a rule with require: any', { from: { a: 'desk/a', b: 'desk/b' }, require: 'any', map: 'a > 5 ? a : a + b' }],
  ['a rule that reads only what it needs', { from: 'desk/a', map: "value > 5 ? value : value + param('desk/b')" }],
] as const)
  test(`${what} reports which parameter it waits for, until it is known`, async (t) => {
    const hub = await startTestHub(t, { connections: { desk }, rules: [{ name: 'it', ...rule, to: 'desk/c' }] });
    hub.write('desk/a', 1, writer);
    const reason = 'waits for desk/b, which is unknown';
    t.like(hub.rules()[0], { state: 'waiting', reason, faults: 0 });
    t.like(hub.runsOf('it')[0]!.runs[0], { outcome: 'waited', error: reason });
    hub.write('desk/a', 6, writer);
    t.is(hub.find('desk/c')?.value, what === 'a rule with names' ? undefined : 6);
    hub.write('desk/b', 4, writer);
    hub.write('desk/a', 3, writer);
    t.is(hub.find('desk/c')?.value, 7);
    t.like(hub.rules()[0], { state: 'running', reason: '' });
  });

test('a default of param replaces an unknown value, and known returns whether the value is known', async (t) => {
  const map = "param('desk/b', 10) + (known('desk/b') ? 100 : 0) + value";
  const hub = await startTestHub(t, { connections: { desk }, rules: [{ from: 'desk/a', map, to: 'desk/c' }] });
  hub.write('desk/a', 1, writer);
  t.is(hub.find('desk/c')?.value, 11);
  hub.write('desk/b', 2, writer);
  hub.write('desk/a', 3, writer);
  t.is(hub.find('desk/c')?.value, 105);
});

test('throttleTime with trailing ends with the latest value, without it with the first', async (t) => {
  const pipes = { plain: 100, same: { duration: '100ms' }, trailing: { duration: 100, trailing: true } };
  const flow = await testFlow({
    connections: { desk: { type: 'dummy', parameters: ['level,I', ...Object.keys(pipes).map((id) => `${id},I`)] } },
    rules: Object.entries(pipes).map(([id, throttleTime]) => ({
      from: 'desk/level',
      pipe: [{ throttleTime }],
      to: `desk/${id}`,
    })),
  });
  for (const level of [7, 8, 9]) flow.set({ 'desk/level': level });
  flow.expect({ 'desk/plain': 7, 'desk/same': 7, 'desk/trailing': 7 });
  flow.advance(100);
  flow.expect({ 'desk/plain': 7, 'desk/same': 7, 'desk/trailing': 9 });
  t.notThrows(() => flow.never(1000, { 'desk/trailing': 7 }));
  await flow.stop();
});

test('the meter of docs/rules.md ends at 9 after 7, 8 and 9', async (t) => {
  const readme = await readFile(join(resolve(import.meta.dirname, '../../../..'), 'docs/rules.md'), 'utf8');
  const [example = ''] = /\{\n {2}connections: \{\n {4}desk: [^\n]*'meter,I'[\s\S]*?\n\}\n/.exec(readme) ?? [];
  const { default: JSON5 } = await import('json5');
  const flow = await testFlow(JSON5.parse(example));
  for (const level of [0.07, 0.08, 0.09]) flow.set({ 'desk/level': level });
  flow.advance('1s');
  t.notThrows(() => flow.expect({ 'desk/meter': 9 }));
  await flow.stop();
});
