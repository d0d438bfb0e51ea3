// The values that steps hold are limited in bytes, per step and for all of them together: texts of 60 KB, in virtual time.

import test from 'ava';
import { Subject } from 'rxjs';
import { OneValue } from '../../../lib/flow/steps/held-values.ts';
import type { StepRuntime } from '../../../lib/flow/steps/step.ts';
import { stepTypes } from '../../../lib/flow/steps/steps.ts';
import { HubError } from '../../../lib/model/error.ts';
import { Ledger } from '../../../lib/model/held-bytes.ts';
import type { Value } from '../../../lib/model/value.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { runStep, type Timed } from '../../support/flow/step.ts';

const mebibyte = 1024 * 1024;
const text = (index: number) => String(index).padEnd(60_000, '.');
const textBytes = 120_000;
const texts = (count: number): Timed[] => Array.from({ length: count }, (_, index) => [index, text(index)]);

test('a delay holds at most 16 MB, drops further values, and passes on the rest', (t) => {
  const ledger = new Ledger(Number.POSITIVE_INFINITY);
  const { out, limits } = runStep('delay', '10s', texts(200), 20_000, { type: 'S', ledger });
  const most = Math.floor((16 * mebibyte) / (textBytes + 512));
  t.deepEqual(
    out,
    Array.from({ length: most }, (_, index): Timed => [index + 10_000, text(index)]),
  );
  t.deepEqual(new Set(limits), new Set(['a delay holds 16 MB at most; the next one was dropped']));
  t.is(limits.length, 200 - most);
  t.is(ledger.totalBytes, 0);
});

test('numbers are limited by their count', (t) => {
  const numbers = Array.from({ length: 10_010 }, (_, index): Timed => [0, index]);
  const { out, limits } = runStep('delay', 1000, numbers, 2000);
  t.is(out.length, 10_000);
  t.deepEqual(new Set(limits), new Set(['a delay holds 10,000 values at most; the next one was dropped']));
});

test('a delay passes on each value after its time, then completes, and drops all when it ends', (t) => {
  const { out } = runStep(
    'delay',
    100,
    [
      [0, 1],
      [50, 2],
      [50, 3],
    ],
    149,
  );
  t.deepEqual(out, [[100, 1]]);
  const later = runStep(
    'delay',
    100,
    [
      [0, 1],
      [50, 2],
      [50, 3],
    ],
    150,
  );
  t.deepEqual(later.out, [
    [100, 1],
    [150, 2],
    [150, 3],
  ]);
});

/** Two steps on one clock and one ledger. */
function startTwo(names: readonly (readonly [name: string, setting: unknown])[], mostBytes: number) {
  const clock = new VirtualClock();
  const ledger = new Ledger(mostBytes);
  const none = () => {
    throw new HubError('bad-flow', 'there are no expressions here');
  };
  const running = names.map(([name, setting], index) => {
    const type = stepTypes.get(name)!;
    const limits: string[] = [];
    const out: Value[] = [];
    const runtime: StepRuntime = {
      ...{ scheduler: clock, causalScheduler: clock, bind: none },
      overflow: (message) => void limits.push(message),
      causeBytes: () => 0,
      open: (letGo) => ledger.open({ kind: 'steps', owner: `rule ${index}`, letGo }),
    };
    const input = new Subject<Value>();
    const step = type.prepare(type.setting.parse(setting), { type: 'S', compile: none, prepare: none });
    const subscription = step
      .create(runtime)(input)
      .subscribe((value) => void out.push(value));
    return { input, out, limits, subscription };
  });
  return { clock, ledger, running };
}

const letGo = 'the hub holds too much data, so the values that the step held were dropped';

test('when steps hold too much together, the one that holds most drops all, and both continue', (t) => {
  const { clock, ledger, running } = startTwo(
    [
      ['delay', '10s'],
      ['delay', '10s'],
    ],
    mebibyte,
  );
  const [one, other] = running as [(typeof running)[0], (typeof running)[0]];
  for (let index = 0; index < 3; index++) one.input.next(text(index));
  for (let index = 0; index < 6; index++) other.input.next(text(index));
  t.deepEqual([one.limits, other.limits], [[], [letGo]]);
  other.input.next('short');
  clock.advanceTo(10_000);
  t.deepEqual(one.out, [text(0), text(1), text(2)]);
  t.deepEqual(other.out, ['short']);
  t.is(ledger.totalBytes, 0);
});

for (const [name, setting] of [
  ['debounceTime', 1000],
  ['auditTime', 1000],
  ['sampleTime', 1000],
  ['throttleTime', { duration: 1000, trailing: true }],
  ['repeat', 1000],
] as const)
  test(`${name} counts its waiting text, and drops it when the hub holds too much`, (t) => {
    const { clock, ledger, running } = startTwo([[name, setting]], 200_000);
    const { input, out, limits, subscription } = running[0]!;
    input.next('short');
    t.is(ledger.totalBytes, 0);
    input.next(text(1));
    t.is(ledger.totalBytes, textBytes);
    clock.advanceTo(2000);
    t.is(out.at(-1), text(1));
    t.is(ledger.totalBytes, name === 'repeat' ? textBytes : 0, 'passed on');
    input.next(text(2));
    input.next(text(3));
    const before = out.length;
    const other = ledger.open({ kind: 'answers', owner: 'another', letGo: () => {} });
    other.set(100_000);
    t.deepEqual(limits, [letGo]);
    t.is(ledger.totalBytes, 100_000);
    clock.advanceTo(5000);
    t.is(out.length, before, 'it has forgotten what waited');
    other.set(0);
    input.next(text(5));
    clock.advanceTo(8000);
    t.is(out.at(-1), text(5), 'it goes on');
    subscription.unsubscribe();
    t.is(ledger.totalBytes, 0);
  });

test('a step that holds one value counts long text, and nothing else', (t) => {
  const ledger = new Ledger(Number.POSITIVE_INFINITY);
  const one = new OneValue(
    { open: (letGo) => ledger.open({ kind: 'steps', owner: 'a', letGo }), overflow: () => {} },
    () => {},
  );
  for (const [value, bytes] of [
    [1, 0],
    [text(1), textBytes],
    ['short', 0],
    [text(2), textBytes],
    [undefined, 0],
  ] as const) {
    one.note(value);
    t.is(ledger.totalBytes, bytes);
  }
});

test('windows count their values, and are emptied when the hub holds too much', (t) => {
  const { clock, ledger, running } = startTwo(
    [
      ['count', '10s'],
      ['delay', '100s'],
    ],
    300_000,
  );
  const [one, other] = running as [(typeof running)[0], (typeof running)[0]];
  for (let index = 0; index < 3200; index++) one.input.next('x');
  t.is(ledger.totalBytes, 3200 * 64);
  other.input.next(text(1));
  t.deepEqual(one.limits, [letGo]);
  one.input.next('x');
  t.is(one.out.at(-1), 1);
  clock.advanceTo(20_000);
  t.is(one.out.at(-1), 0);
});
