// The Virtual Core in a graph: once per turn and output, only what is affected, nothing unknown guessed, faults kept small.

import test from 'ava';
import { Engine } from '../../../lib/connections/virtual-core/core-engine.ts';
import { compile } from '../../../lib/connections/virtual-core/program.ts';
import type { Output } from '../../../lib/connections/virtual-core/settings.ts';
import type { Value } from '../../../lib/model/value.ts';
import { startCore } from '../../support/core.ts';

const ofCore = (changes: readonly string[]) => changes.filter((change) => change.startsWith('core/'));

const numbered = (count: number, make: (index: number) => Output): Record<string, Output> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`o${index}`, make(index)]));

/** 1,000 outputs over x, each over two others, so that very many ways lead to the last one. */
const diamond = numbered(1000, (index) => ({
  type: 'F',
  expression: index === 0 ? 'x + 1' : `(o${index - 1} + o${index >> 1}) / 2`,
}));

/** An engine without a graph that counts its evaluations. */
function createCountingEngine(outputs: Record<string, Output>, names: readonly string[]) {
  const inputs = Object.fromEntries(names.map((name) => [name, `desk/${name}`]));
  const program = compile({ inputs, outputs }, new Map(names.map((name) => [name, 'F'])));
  const perUnit = new Map<string, number>();
  for (const { name, logic } of program.units) {
    const step = logic.step;
    logic.step = (...values) => {
      perUnit.set(name, (perUnit.get(name) ?? 0) + 1);
      step(...values);
    };
  }
  const engine = new Engine(program.units, {
    onSet: () => {},
    onFault: (_, error) => {
      throw error;
    },
  });
  /** How often each output is evaluated when the inputs change in one turn. */
  return (values: Record<string, Value>) => {
    perUnit.clear();
    for (const [name, value] of Object.entries(values)) engine.put(program.inputs.get(name)!, value);
    engine.evaluate(0);
    return perUnit;
  };
}

test('a diamond of 1,000 outputs over one input is evaluated exactly once per output and turn', async (t) => {
  const evaluate = createCountingEngine(diamond, ['x']);
  for (let x = 0; x < 3; x++) {
    const counts = evaluate({ x });
    t.is(counts.size, 1000);
    t.true([...counts.values()].every((count) => count === 1));
  }

  const core = await startCore(t, ['x,F,0'], diamond);
  const before = core.graph.revision;
  core.turn({ x: 41 });
  t.is(core.value('core/o999'), 42);
  t.is(core.graph.revision - before, 1001);
});

test('several writes of one turn are one evaluation, over consistent values', async (t) => {
  const core = await startCore(t, ['a,I,1', 'b,I,1'], {
    sum: { type: 'I', expression: 'a + b' },
    even: { type: 'B', expression: 'sum % 2 == 0' },
  });
  core.changes.length = 0;
  core.turn({ a: 2, b: 2 });
  t.deepEqual(core.changes, ['desk/a=2', 'desk/b=2', 'core/sum=4']);
});

test('only affected outputs are evaluated: 3 of 10,000', (t) => {
  const outputs: Record<string, Output> = {
    ...numbered(9997, (index) => ({ type: 'F', expression: `y + ${index}` })),
    c: { type: 'F', expression: 'b + 1' },
    b: { type: 'F', expression: 'a + 1' },
    a: { type: 'F', expression: 'x + 1' },
  };
  const evaluate = createCountingEngine(outputs, ['x', 'y']);
  t.is(evaluate({ x: 0, y: 0 }).size, 10_000);
  t.deepEqual([...evaluate({ x: 1 }).keys()], ['a', 'b', 'c']);
  t.is(evaluate({ x: 1 }).size, 0);
});

test('an unchanged output ends the evaluation there', (t) => {
  const evaluate = createCountingEngine(
    {
      high: { type: 'B', expression: 'x > 10.0' },
      lamp: { type: 'S', expression: 'high ? "red" : "green"' },
    },
    ['x'],
  );
  evaluate({ x: 1 });
  t.deepEqual([...evaluate({ x: 2 }).keys()], ['high']);
  t.deepEqual([...evaluate({ x: 11 }).keys()], ['high', 'lamp']);
});

test('S-18, D-25: an output is unknown until all its inputs are known', async (t) => {
  const core = await startCore(t, ['a,B', 'b,B', 'n,I'], {
    both: { type: 'B', expression: 'a && b' },
    either: { type: 'B', expression: 'a || true' },
    after: { block: 'TOF', in: 'both', pt: 'n' },
    constant: { type: 'S', expression: '"on" + "air"' },
  });
  t.deepEqual(ofCore(core.changes), ['core/constant=onair']);
  core.turn({ b: false });
  t.deepEqual([core.value('core/both'), core.value('core/either')], [undefined, undefined]);
  core.turn({ a: true });
  t.deepEqual([core.value('core/both'), core.value('core/either')], [false, true]);
  t.is(core.value('core/after'), undefined);
  core.turn({ n: 100 });
  t.is(core.value('core/after'), false);
  t.is(core.value('core/after/elapsed'), 0);
});

test('results take the type of their output', async (t) => {
  const core = await startCore(t, ['x,F,2.75', 'on,B,true'], {
    whole: { type: 'I', expression: 'x * 2' },
    again: { type: 'F', expression: 'whole / 2' },
    text: { type: 'S', expression: 'on ? "on" : "off"' },
  });
  t.deepEqual(
    ['core/whole', 'core/again', 'core/text'].map((address) => core.value(address)),
    [5, 2.5, 'on'],
  );
});

test('a trigger is true for one evaluation, for expressions and blocks alike', async (t) => {
  const core = await startCore(t, ['go,T', 'stop,T', 'armed,B,true'], {
    fire: { type: 'T', expression: 'go && armed' },
    seen: { type: 'B', expression: 'fire' },
    on: { block: 'SR', set: 'fire', reset: 'stop' },
    falls: { block: 'F_TRIG', in: 'go' },
  });
  core.changes.length = 0;
  core.turn({ go: true });
  t.deepEqual(core.changes, [
    'desk/go=1',
    'core/fire=1',
    'core/seen=true',
    'core/on=true',
    'core/seen=false',
    'core/falls=1',
  ]);
  core.changes.length = 0;
  core.turn({ armed: false });
  core.turn({ go: true, stop: true });
  t.deepEqual(ofCore(core.changes), ['core/on=false', 'core/falls=1']);
});

test('an output of type T fires when its expression becomes true, not at first and not while it stays true', async (t) => {
  const core = await startCore(t, ['x,I,5'], { high: { type: 'T', expression: 'x > 3' } });
  for (const x of [6, 1, 7, 8]) core.turn({ x });
  t.deepEqual(ofCore(core.changes), ['core/high=1']);
});

test('an expression that fails keeps the last value, is logged, and others continue', async (t) => {
  const core = await startCore(t, ['x,F,2', 'text,S,abcdef'], {
    share: { type: 'F', expression: '10 / x' },
    cut: { type: 'S', expression: 'text.substring(0, 3)' },
    named: { type: 'F', expression: "cel.bind(m, {'a': x}, text == 'a' ? m.b : m.a)" },
    after: { type: 'F', expression: 'share + 1' },
    next: { type: 'F', expression: 'x + 1' },
  });
  t.deepEqual([core.value('core/share'), core.value('core/cut')], [5, 'abc']);
  core.lines.length = 0;
  for (let turn = 0; turn < 50; turn++) {
    core.turn({ x: 4 });
    core.turn({ x: 0, text: 'ab' });
    core.turn({ text: 'a' });
  }
  t.deepEqual([core.value('core/share'), core.value('core/cut')], [2.5, 'abc']);
  t.deepEqual([core.value('core/after'), core.value('core/next')], [3.5, 1]);
  const warnings = () => core.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  t.is(warnings().length, 3);
  t.true(warnings().includes('output "named" failed and keeps its last value: expected a key of the map, got "b"'));
  t.true(
    warnings().some((message) => message.startsWith('output "share" failed and keeps its last value: expected a')),
  );
  t.true(warnings().some((message) => message.startsWith('output "cut" failed and keeps its last value: substring')));
  core.turn({ x: 5 });
  t.is(core.value('core/share'), 2);
});

test('an expression that fails at first leaves its output unknown', async (t) => {
  const core = await startCore(t, ['x,F,0'], { share: { type: 'F', expression: '1 / x' } });
  t.is(core.value('core/share'), undefined);
  core.turn({ x: 4 });
  t.is(core.value('core/share'), 0.25);
});

test('cores feed each other in order, without half-updated values', async (t) => {
  // "after" stands before "core" in the file and in the graph, and follows it and the desk.
  const core = await startCore(
    t,
    ['x,I,1'],
    { twice: { type: 'I', expression: 'x * 2' } },
    {
      after: {
        type: 'virtual-core',
        inputs: { x: 'desk/x', twice: 'core/twice', back: 'last/back' },
        outputs: { wrong: { type: 'B', expression: 'twice != x * 2' }, sum: { type: 'I', expression: 'back + 1' } },
      },
      last: {
        type: 'virtual-core',
        inputs: { wrong: 'after/wrong', x: 'desk/x' },
        outputs: { back: { type: 'I', expression: 'wrong ? -1 : x' } },
      },
    },
  );
  core.turn({ x: 5 });
  core.turn({ x: 6 });
  t.deepEqual(
    core.changes.filter((change) => change.startsWith('after/')),
    ['after/wrong=false', 'after/sum=2', 'after/sum=6', 'after/sum=7'],
  );
});

test('an output that a rule feeds back to its own input is stopped by the limit of a turn, and the core continues', async (t) => {
  const core = await startCore(t, ['x,I,0'], { next: { type: 'I', expression: 'x + 1' } });
  const subscription = core.graph.find('core/next')!.subscribe((value) => {
    if (typeof value === 'number' && value > 100) core.graph.write('desk/x', value, { kind: 'rule', name: 'loop' });
  });
  core.turn({ x: 200 });
  t.true((core.value('core/next') as number) < 300);
  subscription.unsubscribe();
  core.turn({ x: 7 });
  t.is(core.value('core/next'), 8);
});

test('a time may be text, unless a name equals it', async (t) => {
  const core = await startCore(t, ['in,B,false', '2s,I,500'], {
    text: { block: 'TON', in: 'in', pt: '1m30s' },
    name: { block: 'TON', in: 'in', pt: '2s' },
  });
  core.turn({ in: true });
  const read = () => [core.value('core/name'), core.value('core/text')];
  core.pass(499);
  t.deepEqual(read(), [false, false]);
  core.pass(1);
  t.deepEqual(read(), [true, false]);
  core.pass(89_499);
  t.deepEqual(read(), [true, false]);
  core.pass(1);
  t.deepEqual(read(), [true, true]);
});
