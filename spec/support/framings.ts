// Framings of all kinds, with the marks that devices use.

import type { Framing, LengthRule } from '../../lib/device/frames.ts';

export const bytes = (text: string) => Buffer.from(text, 'latin1');

export const lines: Framing = {
  kind: 'end',
  ends: [bytes('\r\n'), bytes('\n')],
  sendEnd: bytes('\r\n'),
  isBlock: false,
};
export const blocks: Framing = { kind: 'end', ends: [bytes('\n')], sendEnd: bytes('\n'), isBlock: true };
export const angles: Framing = { kind: 'enclosed', start: bytes('<'), end: bytes('>'), escapeByte: undefined };
export const stuffed: Framing = {
  kind: 'enclosed',
  start: bytes('\x10\x02'),
  end: bytes('\x10\x03'),
  escapeByte: 0x10,
};
export const sized: Framing = { kind: 'bytes', bytes: 5 };
export const headed: Framing = { kind: 'length', at: 1, bytes: 2, isLittle: false, adds: 3 };

export const prompted: Framing = { ...lines, prompts: [bytes('OK> '), bytes('>>')] };
/** The rules of a table such as `{ '80..BF': 3, F0: 'F7' }`. */
const rulesOf = (...rules: readonly [from: number, to: number, rule: LengthRule][]) =>
  Array.from({ length: 256 }, (_, byte) => rules.find(([from, to]) => byte >= from && byte <= to)?.[2]);
export const kinds: Framing = {
  kind: 'lengthBy',
  at: 1,
  rules: rulesOf([1, 1, 3], [2, 2, 5], [0xf0, 0xf0, { end: 0xf7 }]),
  isRunning: false,
};
export const midi: Framing = {
  kind: 'lengthBy',
  at: 0,
  rules: rulesOf([0xc0, 0xdf, 2], [0x80, 0xef, 3], [0xf0, 0xf0, { end: 0xf7 }], [0xf8, 0xff, 1]),
  isRunning: true,
};

/** All of them by name, with those that only differ in their numbers. */
export const framings: Readonly<Record<string, Framing>> = {
  lines,
  blocks,
  'two-byte ends': { ...lines, kind: 'end', ends: [bytes('\r\n')] },
  enclosed: angles,
  stuffed,
  'of a length': sized,
  'of one byte': { kind: 'bytes', bytes: 1 },
  'with prompts': prompted,
  'of a length by a byte': kinds,
  'of MIDI': midi,
  'with a header': headed,
  'with a little-endian header': { kind: 'length', at: 0, bytes: 4, isLittle: true, adds: 4 },
  idle: { kind: 'idle', idleMs: 10 },
  whole: { kind: 'whole' },
};
