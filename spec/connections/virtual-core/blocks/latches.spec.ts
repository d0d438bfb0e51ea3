// The timing diagrams of SR, RS, R_TRIG and F_TRIG (IEC 61131-3).

import test from 'ava';
import { drawDiagram } from '../../../support/core.ts';

const diagram = test.macro((t, desk: string[], q: object, rows: Record<string, string>) =>
  drawDiagram(t, desk, { q }, rows),
);

const bits = ['set,B', 'reset,B'];

test(
  'SR: set wins',
  diagram,
  bits,
  { block: 'SR', set: 'set', reset: 'reset' },
  {
    set: '_#___#_##_',
    reset: '___#_#__##',
    q: '_##__####_',
  },
);

test(
  'RS: reset wins',
  diagram,
  bits,
  { block: 'RS', set: 'set', reset: 'reset' },
  {
    set: '_#___#_##_',
    reset: '___#_#__##',
    q: '_##____#__',
  },
);

test(
  'SR: not before both are known, then set immediately',
  diagram,
  bits,
  { block: 'SR', set: 'set', reset: 'reset' },
  {
    set: '?####_',
    reset: '???__#',
    q: '???##_',
  },
);

test(
  'SR: a literal is an argument too',
  diagram,
  bits,
  { block: 'SR', set: 'set', reset: false },
  {
    set: '_#_',
    q: '_##',
  },
);

test(
  'R_TRIG: fires when its input becomes true',
  diagram,
  ['in,B'],
  { block: 'R_TRIG', in: 'in' },
  {
    in: '_##_#__',
    q: '_^__^__',
  },
);

test(
  'R_TRIG: the first value is not an edge',
  diagram,
  ['in,B'],
  { block: 'R_TRIG', in: 'in' },
  {
    in: '??##_#_',
    q: '_____^_',
  },
);

test(
  'F_TRIG: fires when its input becomes false',
  diagram,
  ['in,B'],
  { block: 'F_TRIG', in: 'in' },
  {
    in: '_##_#__',
    q: '___^_^_',
  },
);

test(
  'F_TRIG: the first value is not an edge',
  diagram,
  ['in,B'],
  { block: 'F_TRIG', in: 'in' },
  {
    in: '??__#_#',
    q: '_____^_',
  },
);
