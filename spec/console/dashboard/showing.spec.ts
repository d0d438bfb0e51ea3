// How values look on a dashboard.

import test from 'ava';
import {
  drawnAs,
  isLit,
  marksOf,
  shareOf,
  showValue,
  toneAt,
  valueAt,
} from '../../../lib/console/dashboard/showing.ts';
import type { WidgetOf } from '../../../lib/dashboard/format.ts';
import { compileExpression } from '../../../lib/expression/expression.ts';

test('numbers have the decimals of the widget, or at most three; an unknown number is a dash', (t) => {
  t.deepEqual(
    [showValue(undefined), showValue(1.23456), showValue(2, 2), showValue(-0.5), showValue(true), showValue('on')],
    ['–', '1.235', '2.00', '-0.5', 'true', 'on'],
  );
});

test('numbers are rounded like the function fixed of expressions', (t) => {
  const { evaluate } = compileExpression('fixed(value, digits)', { value: 'F', digits: 'F' });
  for (const value of [-0.04, 1.005, -1.005, 2.5, -2.5, 0.125, 1.15, 1e-7, -0, 12, 999.995, 1e20])
    for (const digits of [0, 1, 2, 6]) t.is(showValue(value, digits), String(evaluate({ value, digits })));
  t.deepEqual(
    [-0.0004, 1.0005, -1.0005, -0, 1e300, 1e21].map((value) => showValue(value)),
    ['0', '1.001', '-1.001', '0', '1e+300', '1e+21'],
  );
});

test('D-02: a lamp is lit if its value converts to true, or equals its setting', (t) => {
  t.deepEqual(
    [true, 1, 0.1, 'true', 'TRUE', '1'].map((value) => isLit(value)),
    Array(6).fill(true),
  );
  t.deepEqual(
    [undefined, false, 0, -1, '', 'on', '2'].map((value) => isLit(value)),
    Array(7).fill(false),
  );
  t.true(isLit(2, 2) && isLit('2', 2) && isLit(false, false));
  t.false(isLit(3, 2) || isLit(undefined, 0));
});

test('a number has the tone of the highest zone that it has reached, in any order of zones', (t) => {
  const zones = [
    { from: 0.9, tone: 'danger' },
    { from: 0.7, tone: 'warning' },
  ] as const;
  t.deepEqual(
    [0.5, 0.7, 0.95, undefined, 'text'].map((value) => toneAt(zones, value)),
    [undefined, 'warning', 'danger', undefined, undefined],
  );
});

test('the share of a range stays within it', (t) => {
  t.deepEqual(
    [-10, -5, 0, 5, 10, undefined, 'loud'].map((value) => shareOf(value, -5, 5)),
    [0, 0, 0.5, 1, 1, 0, 0],
  );
});

test('a widget has label, unit, range, step and choices of its parameter, unless it sets them', (t) => {
  const place = { at: [1, 1], size: [1, 1], address: 'desk/level' } as const;
  const about = { label: 'Mic 1', unit: 'dB', min: -90, max: 10, step: 0.5, choices: { off: 0, on: 1 } };
  const fader = { type: 'fader', ...place, digits: undefined, law: 'linear', scale: false } as const;
  t.like(drawnAs({ ...fader, size: [1, 1] }, about), { label: 'Mic 1', unit: 'dB', min: -90, max: 10, step: 0.5 });
  t.like(drawnAs({ ...fader, size: [1, 1], label: 'Own', min: 0, unit: '%' }, about), {
    label: 'Own',
    unit: '%',
    min: 0,
    max: 10,
  });
  t.like(drawnAs({ ...fader, size: [1, 1] }), { unit: '', min: 0, max: 1, step: undefined });
  t.like(drawnAs({ ...fader, size: [1, 1], min: 5 }), { min: 5, max: 6 });
  const value: WidgetOf<'value'> = { type: 'value', ...place, size: [1, 1], zones: [], texts: {} };
  t.like(drawnAs(value, about), { texts: { 0: 'off', 1: 'on' }, unit: 'dB' });
  t.like(drawnAs({ ...value, texts: { 1: 'AN' } }, about), { texts: { 1: 'AN' } });
});

test('the decibels of a fader are far apart near 0 dB, and its positions lead back to them', (t) => {
  const shares = [-60, -40, -20, 0, 12].map((db) => shareOf(db, -60, 12, 'db'));
  t.true(shares[3]! - shares[2]! > 2 * (shares[1]! - shares[0]!));
  t.deepEqual([shares[0], shares[4]], [0, 1]);
  for (const db of [-60, -33, -8.5, 0, 7])
    t.true(Math.abs(valueAt(shareOf(db, -60, 12, 'db'), -60, 12, 'db') - db) < 1e-9);
  t.is(valueAt(0.25, 0, 8), 2);
});

test('a scale has round marks, and 0 dB always', (t) => {
  t.deepEqual(marksOf(0, 100, 'linear'), [0, 20, 40, 60, 80, 100]);
  t.deepEqual(marksOf(-1, 1, 'linear'), [-1, -0.5, 0, 0.5, 1]);
  t.true(marksOf(-60, 12, 'db').includes(0) && marksOf(-60, 12, 'db').length <= 11);
});
