// What is wrong with a Virtual Core is found at load, all at once, each with its path.

import test from 'ava';
import { mistakesOf } from '../../support/core.ts';

const desk = { type: 'dummy', parameters: ['mic,B', 'level,F', 'count,I', 'text,S', 'go,T'] };
const inputs = { mic: 'desk/mic', level: 'desk/level', count: 'desk/count', text: 'desk/text', go: 'desk/go' };

const mistakes = test.macro(async (t, outputs: object, expected: readonly string[]) => {
  const flow = { connections: { desk, core: { type: 'virtual-core', inputs, outputs } } };
  t.deepEqual(
    (await mistakesOf(t, flow)).map((line) => line.replace('connections.core.', '')),
    [...expected],
  );
});

test('all mistakes of a core, its neighbours and rules are reported together', async (t) => {
  const found = await mistakesOf(t, {
    connections: {
      core: {
        type: 'virtual-core',
        inputs: { mic: 'desk/mik', ghost: 'dask/mic', bad: 'desk', level: 'desk/level', self: 'core/nothing' },
        outputs: {
          a: { type: 'B', expression: 'b' },
          b: { type: 'B', expression: '!a' },
          sum: { type: 'F', expression: 'level + lefel' },
          lamp: { block: 'TOF', in: 'level', pt: -5 },
          unchecked: { block: 'TOF', in: 'ghost', pt: 'bad' },
        },
      },
      clock: { type: 'timer', timers: [-1] },
      desk,
    },
    rules: [{ from: 'core/lamp/elapsd', to: 'core/lamp' }],
  });
  t.deepEqual(found, [
    'connections.clock.timers[0]: expected an integer 0..2147483647 (ms) or a duration such as "1m30s", got -1 (number)',
    'connections.core.inputs.mic: unknown parameter "desk/mik", did you mean "desk/mic"?',
    'connections.core.inputs.ghost: unknown connection "dask", did you mean "desk"? (address "dask/mic")',
    'connections.core.inputs.bad: expected <Connection ID>/<Parameter ID>, got "desk" (string)',
    'connections.core.inputs.self: unknown parameter "core/nothing", expected one of core/a, core/b, core/sum, core/lamp, core/lamp/elapsed, core/unchecked, core/unchecked/elapsed',
    'connections.core.outputs.a: expected no cycle, got a → b → a',
    'connections.core.outputs.sum.expression: unknown name "lefel", did you mean "level"?',
    'connections.core.outputs.lamp.in: expected true, false or the name of an input or output of type B or T, got "level" (F)',
    'connections.core.outputs.lamp.pt: expected an integer 0..2147483647 (ms), a duration such as "5s" or the name of an input or output of type I or F, got -5 (number)',
    'rules[0].from: unknown parameter "core/lamp/elapsd", did you mean "core/lamp/elapsed"?',
    'rules[0].to: expected a writable parameter, but "core/lamp" is read-only',
  ]);
});

test(
  'the shape of an output',
  mistakes,
  {
    tof: { block: 'TOFF', in: 'mic', pt: 1 },
    neither: {},
    kind: { type: 'X', expression: 'mic' },
    extra: { block: 'SR', set: 'mic', reset: false, pt: 5 },
    typo: { block: 'TON', in: 'mic', pt: 5, pd: 5 },
    missing: { block: 'TON', in: 'mic' },
    list: { block: 'TON', in: ['mic'], pt: 5 },
  },
  [
    'outputs.tof.block: unknown block "TOFF", did you mean "TOF"?',
    'outputs.neither.type: expected S, B, I, F or T, got nothing',
    'outputs.neither.expression: expected an expression in text, got nothing',
    'outputs.kind.type: expected S, B, I, F or T, got "X" (string)',
    'outputs.extra.pt: unknown setting "pt", expected one of block, set, reset',
    'outputs.typo.pd: unknown setting "pd", did you mean "pt"?',
    'outputs.missing.pt: expected an integer 0..2147483647 (ms), a duration such as "5s" or the name of an input or output of type I or F, got nothing',
    'outputs.list.in: expected true, false or the name of an input or output of type B or T, got ["mic"] (array)',
  ],
);

test(
  'the types of expressions',
  mistakes,
  {
    flag: { type: 'B', expression: 'level' },
    number: { type: 'F', expression: 'mic' },
    words: { type: 'S', expression: 'count' },
    event: { type: 'T', expression: 'count' },
    inner: { type: 'F', expression: 'level + text' },
    syntax: { type: 'F', expression: 'level +' },
    list: { type: 'F', expression: '[level]' },
    fine: { type: 'I', expression: 'level > 0.5 && go ? level * count : 7 / 2' },
    alsoFine: { type: 'B', expression: '[1.0, 2.0].exists(level, level == count)' },
  },
  [
    'outputs.flag.expression: expected true/false as the result, got a number: compare it, as in level > 0',
    'outputs.number.expression: expected a number as the result, got true/false: use double(mic)',
    'outputs.words.expression: expected text as the result, got a number: use string(count)',
    'outputs.event.expression: expected true/false as the result, got a number: compare it, as in count > 0',
    'outputs.inner.expression: number + text: use string(level)',
    'outputs.syntax.expression: expected a value after +, got the end',
    'outputs.list.expression: expected text, a number or true/false as the result, got a list of numbers',
  ],
);

test(
  'the types of arguments',
  mistakes,
  {
    words: { block: 'SR', set: 'text', reset: 'go' },
    number: { block: 'SR', set: 'mic', reset: 'level' },
    flag: { block: 'CTU', up: 'go', pv: 'mic' },
    half: { block: 'CTU', up: 'go', pv: 0.5 },
    long: { block: 'TP', in: 'mic', pt: 2147483648 },
    second: { block: 'TP', in: 'flag/count', pt: 'flag/count' },
    unknown: { block: 'TP', in: 'mik', pt: 'second/elapsed' },
  },
  [
    'outputs.words.set: expected true, false or the name of an input or output of type B or T, got "text" (S)',
    'outputs.number.reset: expected true, false or the name of an input or output of type B or T, got "level" (F)',
    'outputs.flag.pv: expected an integer -9007199254740991..9007199254740991 or the name of an input or output of type I or F, got "mic" (B)',
    'outputs.half.pv: expected an integer -9007199254740991..9007199254740991 or the name of an input or output of type I or F, got 0.5 (number)',
    'outputs.long.pt: expected an integer 0..2147483647 (ms), a duration such as "5s" or the name of an input or output of type I or F, got 2147483648 (number)',
    'outputs.second.in: expected true, false or the name of an input or output of type B or T, got "flag/count" (I)',
    'outputs.unknown.in: unknown name "mik", did you mean "mic"?',
  ],
);

test(
  'names',
  mistakes,
  {
    mic: { type: 'B', expression: 'true' },
    lamp: { block: 'TON', in: 'mic', pt: 5 },
    'lamp/elapsed': { type: 'I', expression: '5' },
    'on//air': { type: 'B', expression: 'mic' },
    'on-air': { type: 'B', expression: 'go' },
    'on air': { type: 'B', expression: 'go' },
    unclear: { type: 'B', expression: 'on_air' },
    clear: { block: 'R_TRIG', in: 'on-air' },
    double: { type: 'F', expression: 'level' },
    word: { type: 'F', expression: 'double' },
  },
  [
    'outputs.mic: expected a unique name: "mic" already belongs to an input',
    'outputs["lamp/elapsed"]: expected a unique name: "lamp/elapsed" already belongs to output "lamp"',
    'outputs["on//air"]: expected a Parameter ID without empty segments between /, got "on//air" (string)',
    'outputs.unclear.expression: expected an unambiguous name: on_air stands for "on-air" and "on air"',
    'outputs.word.expression: expected a name other than double, which is a reserved word',
  ],
);

test(
  'cycles',
  mistakes,
  {
    self: { type: 'F', expression: 'self + 1' },
    latch: { block: 'SR', set: 'mic', reset: 'timer' },
    timer: { block: 'TON', in: 'latch', pt: 'timer/elapsed' },
    before: { type: 'B', expression: 'latch' },
  },
  [
    'outputs.self: expected no cycle, got self → self',
    'outputs.latch: expected no cycle, got latch → timer → latch',
    'outputs.timer: expected no cycle, got timer → timer',
  ],
);

test('a cycle across connections names its members, and one within by addresses too', async (t) => {
  const core = (input: string, output: object) => ({
    type: 'virtual-core',
    inputs: { x: input },
    outputs: { out: output, side: { type: 'F', expression: '1' } },
  });
  const add = { type: 'F', expression: 'x + 1' };
  t.deepEqual(
    await mistakesOf(t, {
      connections: { a: core('c/out', add), b: core('a/out', add), c: core('b/out', add), own: core('own/out', add) },
    }),
    [
      'connections.c.inputs.x: expected no cycle, got c/out → b/out → a/out → c/out',
      'connections.own.inputs.x: expected no cycle, got own/out → own/out',
    ],
  );
  t.deepEqual(await mistakesOf(t, { connections: { a: core('b/side', add), b: core('a/out', add) } }), []);
});

test('at most 32,768 outputs', async (t) => {
  const outputs = Object.fromEntries(
    Array.from({ length: 32_769 }, (_, index) => [`o${index}`, { type: 'I', expression: '1' }]),
  );
  t.deepEqual(await mistakesOf(t, { connections: { core: { type: 'virtual-core', outputs } } }), [
    'connections.core.outputs: expected at most 32768 outputs',
  ]);
});
