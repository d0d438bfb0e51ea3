// The table of function blocks: which arguments each takes, which parameters it gives, and the logic behind it. Settings,
// checks and parameters follow from this table.

import { z } from 'zod';
import { longestDurationMs, parseDurationMs } from '../../../model/time/duration.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import { createCtd, createCtu, createCtud } from './counters.ts';
import { createFTrig, createRs, createRTrig, createSr } from './latches.ts';
import type { Logic } from './logic.ts';
import { createTof, createTon, createTp } from './timers.ts';

/** What an argument has to be: a literal within bounds, or the name of something that has one of the types. */
export interface ArgumentKind {
  readonly types: readonly ValueType[];
  readonly expected: string;
  isLiteral(value: unknown): boolean;
  /** Reads a literal that is written as text; undefined: the text is a name. */
  readText?(text: string): Value | undefined;
  readonly schema: z.ZodType;
}

export interface BlockType {
  readonly arguments: Readonly<Record<string, ArgumentKind>>;
  /** Arguments that may be left out; then they are false. */
  readonly optional: readonly string[];
  /** The type of each parameter, by what its ID adds to the name of the output; '' is the output itself. */
  readonly outputs: Readonly<Record<string, ValueType>>;
  create(): Logic;
}

const flag: ArgumentKind = {
  ...describeKind('true, false or the name of a B or T', z.boolean()),
  types: ['B', 'T'],
  isLiteral: (value) => typeof value === 'boolean',
};
const milliseconds: ArgumentKind = {
  ...integerArgument(0, longestDurationMs, ' (ms), a duration such as "5s"'),
  readText: parseDurationMs,
};
const count = integerArgument(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

const timerOutputs = { '': 'B', '/elapsed': 'I' } as const;

export const blockTypes: Readonly<Record<string, BlockType>> = {
  SR: { arguments: { set: flag, reset: flag }, optional: [], outputs: { '': 'B' }, create: createSr },
  RS: { arguments: { set: flag, reset: flag }, optional: [], outputs: { '': 'B' }, create: createRs },
  R_TRIG: { arguments: { in: flag }, optional: [], outputs: { '': 'T' }, create: createRTrig },
  F_TRIG: { arguments: { in: flag }, optional: [], outputs: { '': 'T' }, create: createFTrig },
  CTU: {
    arguments: { up: flag, reset: flag, pv: count },
    optional: ['reset'],
    outputs: { '': 'B', '/count': 'I' },
    create: createCtu,
  },
  CTD: {
    arguments: { down: flag, load: flag, pv: count },
    optional: ['load'],
    outputs: { '': 'B', '/count': 'I' },
    create: createCtd,
  },
  CTUD: {
    arguments: { up: flag, down: flag, reset: flag, load: flag, pv: count },
    optional: ['reset', 'load'],
    outputs: { '': 'B', '/count': 'I', '/down-done': 'B' },
    create: createCtud,
  },
  TON: { arguments: { in: flag, pt: milliseconds }, optional: [], outputs: timerOutputs, create: createTon },
  TOF: { arguments: { in: flag, pt: milliseconds }, optional: [], outputs: timerOutputs, create: createTof },
  TP: { arguments: { in: flag, pt: milliseconds }, optional: [], outputs: timerOutputs, create: createTp },
};

function integerArgument(least: number, most: number, unit = ''): ArgumentKind {
  const literal = z.number().meta({ type: 'integer', minimum: least, maximum: most });
  return {
    ...describeKind(`integer ${least}..${most}${unit} or the name of an I or F`, literal),
    types: ['I', 'F'],
    isLiteral: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  };
}

/** The schema accepts literals that are out of bounds: they are found together with wrong names and types. */
function describeKind(expected: string, literal: z.ZodType): { expected: string; schema: z.ZodType } {
  return { expected, schema: z.union([literal, z.string()], { error: expected }).describe(expected) };
}
