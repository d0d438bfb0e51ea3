// Rules and writes that change nothing, and rules that write to several destinations at once.

import test from 'ava';
import { testFlow } from '../../../../lib/testing/test-flow.ts';
import { startTestHub, writer } from '../../../support/hub.ts';

const desk = (...parameters: string[]) => ({ desk: { type: 'dummy', parameters } });

/** Starts rules over the parameters; `set` returns what the rules wrote because of it: `b=1`. */
async function start(t: Parameters<typeof startTestHub>[0], parameters: string[], rules: object[]) {
  const hub = await startTestHub(t, { connections: desk(...parameters), rules });
  const written: string[] = [];
  hub.changes$.subscribe(({ parameter, value, origin: { kind } }) => {
    if (kind === 'rule') written.push(`${parameter.address.slice(5)}=${value}`);
  });
  const set = (id: string, value: unknown) => {
    hub.write(`desk/${id}`, value, writer);
    return written.splice(0);
  };
  return { hub, set };
}

const parameters = ['slot,I', 'other,I,1', 'recall,T', 'list,T', 'named,T', 'deaf,T', 'order,S,-'];

test('hear: writes: writes that change nothing start a rule with one source, a list or names', async (t) => {
  const { set } = await start(t, parameters, [
    { from: 'desk/slot', to: 'desk/deaf' },
    { from: 'desk/slot', hear: 'writes', to: 'desk/recall' },
    { from: ['desk/other', 'desk/slot'], hear: 'writes', to: 'desk/list' },
    { from: { s: 'desk/slot', o: 'desk/other' }, hear: 'writes', map: 's + o > 0', to: 'desk/named' },
  ]);
  t.deepEqual(set('slot', 1), ['deaf=1', 'recall=1', 'list=1', 'named=1']);
  t.deepEqual(set('slot', 1), ['recall=1', 'list=1', 'named=1']);
  t.deepEqual(set('other', 1), ['list=1', 'named=1']);
});

test('hear: writes: rules run top to bottom, also after one of them was switched', async (t) => {
  const rules = ['a', 'b', 'c'].map((name) => ({
    name,
    from: 'desk/slot',
    hear: 'writes',
    map: `'${name}'`,
    to: 'desk/order',
  }));
  const { hub, set } = await start(t, parameters, rules);
  set('slot', 1);
  hub.switchRule('b', undefined, false, writer);
  hub.switchRule('b', undefined, true, writer);
  t.deepEqual(set('slot', 1), ['order=a', 'order=b', 'order=c']);
});

test('hear: writes: the result has the repeated write as its cause, with revision 0, and the trace has the run', async (t) => {
  const { hub, set } = await start(t, parameters, [
    { name: 'again', from: 'desk/slot', hear: 'writes', to: 'desk/recall' },
  ]);
  set('slot', 1);
  const { revision } = hub;
  set('slot', 1);
  const { cause } = hub.find('desk/recall')!.lastChange!;
  t.like(cause, { revision: 0, value: 1, previous: undefined, origin: writer });
  t.is(hub.revision, revision + 1);
  t.like(hub.runsOf('again')[0]!.runs[0], { source: 'desk/slot', value: 1, revision: 0, outcome: 'wrote' });
});

test('hear: writes: a loop of equal writes ends after 64 hops, and is reported', async (t) => {
  const { hub, set } = await start(t, parameters, [
    { name: 'there', from: 'desk/slot', hear: 'writes', to: 'desk/other' },
    { name: 'back', from: 'desk/other', hear: 'writes', to: 'desk/slot' },
  ]);
  set('slot', 1);
  t.true(hub.lines.some(({ message }) => message.startsWith('rule loop: "there", "back" made more than 64 hops')));
  t.deepEqual(
    hub.rules().map(({ state }) => state),
    ['limited', 'limited'],
  );
});

test('several destinations: each gets the result of its expression, in one turn', async (t) => {
  const to = { 'desk/x': 'value * 2', 'desk/y': 'round(value)' };
  const sum = { from: { x: 'desk/x', y: 'desk/y' }, map: 'x + y', to: 'desk/sum' };
  const all = ['a,F', 'x,F', 'y,F', 'sum,F'];
  const { set } = await start(t, all, [{ from: 'desk/a', to }, sum]);
  t.deepEqual(set('a', 1.5), ['x=3', 'y=2', 'sum=5']);
  t.deepEqual(set('a', 1.6), ['x=3.2', 'sum=5.2']);
  const flow = await testFlow({
    connections: desk(...all),
    rules: [
      { from: 'desk/a', when: 'value > 0', map: 'value + 1', pipe: [{ map: 'value * 10' }, { delay: '1s' }], to },
      sum,
    ],
    tests: [],
  });
  flow.set({ 'desk/a': 1 });
  flow.set({ 'desk/a': -1 });
  flow.advance('1s');
  flow.expect({ 'desk/x': 40, 'desk/y': 20, 'desk/sum': 60 });
  t.deepEqual(flow.timeline().match(/desk\/sum .*→ \d+/g), ['desk/sum  unknown → 60']);
  await flow.stop();
});

test('several destinations: their expressions read names and previous without map and pipe, otherwise only value', async (t) => {
  const { set } = await start(
    t,
    ['a,F', 'b,F,1', 'x,F', 'y,S', 'z,F'],
    [
      { from: { a: 'desk/a', b: 'desk/b' }, to: { 'desk/x': 'a - b', 'desk/y': "a > b ? 'a' : 'b'" } },
      { from: 'desk/a', to: { 'desk/z': 'value - previous' } },
    ],
  );
  t.deepEqual(set('a', 3), ['x=2', 'y=a']);
  t.deepEqual(set('a', 0), ['z=-3', 'x=-1', 'y=b']);
});

test('several destinations: one that waits or refuses does not affect the others; trace and state say so', async (t) => {
  const { hub, set } = await start(
    t,
    ['a,F', 'no,F', 'x,F', 'y,F', 'z,I'],
    [
      {
        name: 'r',
        from: 'desk/a',
        to: { 'desk/x': "value + param('desk/no')", 'desk/y': 'value', 'desk/z': "'x' + string(value)" },
      },
    ],
  );
  t.deepEqual(set('a', 1), ['y=1']);
  const [run] = hub.runsOf('r')[0]!.runs;
  t.like(run, { outcome: 'wrote', result: '1, x1', to: ['desk/y'], error: 'waits for desk/no, which is unknown' });
  t.deepEqual([hub.rules()[0]!.to, hub.rules()[0]!.state], [['desk/x', 'desk/y', 'desk/z'], 'failing']);
  t.is(hub.find('desk/y')!.lastChange!.cause!.parameter.address, 'desk/a');
});
