// The table of function blocks: which arguments each takes, which parameters it gives, and the logic behind it. Settings,
// checks and parameters follow from this table.
import { z } from 'zod';
import { longestDurationMs, parseDurationMs } from '../../../model/time/duration.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import { type Logic, RisingEdge } from './logic.ts';
import { createTof, createTon, createTp } from './timers.ts';

// The function blocks of IEC 61131-3 that remember one bit (SR, RS) or see an edge (R_TRIG, F_TRIG).

/** SR: `set`, `reset` → Q; set wins. Q is off before the first set. */
const createSr = (): Logic => createLatch((set, reset, q) => set || (q && !reset));

/** RS: `set`, `reset` → Q; reset wins. Q is off before the first set. */
const createRs = (): Logic => createLatch((set, reset, q) => !reset && (set || q));

/** R_TRIG: `in` → a trigger when it becomes true; the first value is no edge. */
const createRTrig = (): Logic => createEdgeTrigger((value) => value);

/** F_TRIG: `in` → a trigger when it becomes false; the first value is no edge. */
const createFTrig = (): Logic => createEdgeTrigger((value) => !value);

function createLatch(next: (set: boolean, reset: boolean, q: boolean) => boolean): Logic {
  const outputs = [false];
  return {
    outputs,
    wakeAt: Infinity,
    step: (values) => {
      outputs[0] = next(values[0] as boolean, values[1] as boolean, outputs[0]!);
    },
    remember: () => ({ outputs: [...outputs], edges: [] }),
    recall: (remembered) => {
      outputs[0] = remembered.outputs[0] as boolean;
    },
  };
}

function createEdgeTrigger(read: (value: boolean) => boolean): Logic {
  const outputs: Value[] = [false];
  const edge = new RisingEdge();
  return {
    outputs,
    wakeAt: Infinity,
    step: (values) => {
      outputs[0] = edge.rises(read(values[0] as boolean));
    },
    remember: () => ({ outputs: [], edges: [edge.wasFalse] }),
    recall: ({ edges }) => {
      edge.wasFalse = edges[0]!;
    },
  };
}

/** What an argument has to be: a literal within bounds, or the name of something that has one of the types. */
export interface ArgumentKind {
  readonly types: readonly ValueType[];
  readonly expected: string;
  isLiteral(value: unknown): boolean;
  /** Reads a literal that is written as text; undefined: the text is a name. */
  readText?(text: string): Value | undefined;
  readonly schema: z.ZodType;
}

interface BlockType {
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

// The counters of IEC 61131-3: CTU, CTD and CTUD. They count rising edges, and stop at ±(2^53−1), the bounds of an integer
// parameter. A reset goes before a load, and a load before counting. An edge up and an edge down at the same time cancel out.

const most = Number.MAX_SAFE_INTEGER;

/** CTU: `up`, `reset`, `pv` → done (count >= pv), count. */
function createCtu(): Logic {
  const up = new RisingEdge();
  return createCounter([up], (count, values) => {
    const change = up.rises(values[0] as boolean) ? 1 : 0;
    const next = values[1] ? 0 : saturate(count + change);
    return [next >= (values[2] as number), next];
  });
}

/** CTD: `down`, `load`, `pv` → done (count <= 0), count; `load` sets the count to pv. */
function createCtd(): Logic {
  const down = new RisingEdge();
  return createCounter([down], (count, values) => {
    const change = down.rises(values[0] as boolean) ? -1 : 0;
    const next = values[1] ? saturate(values[2] as number) : saturate(count + change);
    return [next <= 0, next];
  });
}

/** CTUD: `up`, `down`, `reset`, `load`, `pv` → done (count >= pv), count, down-done (count <= 0). */
function createCtud(): Logic {
  const up = new RisingEdge();
  const down = new RisingEdge();
  return createCounter([up, down], (count, values) => {
    const change = (up.rises(values[0] as boolean) ? 1 : 0) - (down.rises(values[1] as boolean) ? 1 : 0);
    const next = values[2] ? 0 : saturate(values[3] ? (values[4] as number) : count + change);
    return [next >= (values[4] as number), next, next <= 0];
  });
}

/** Creates a counter from how it finds its next outputs; the count is the second of them. */
function createCounter(
  edges: readonly RisingEdge[],
  next: (count: number, values: readonly Value[]) => readonly Value[],
): Logic {
  let outputs: readonly Value[] = [false, 0];
  return {
    get outputs() {
      return outputs;
    },
    wakeAt: Infinity,
    step: (values) => {
      outputs = next(outputs[1] as number, values);
    },
    remember: () => ({ outputs: [outputs[1]!], edges: edges.map(({ wasFalse }) => wasFalse) }),
    recall: (remembered) => {
      outputs = [false, remembered.outputs[0]!];
      for (const [index, edge] of edges.entries()) edge.wasFalse = remembered.edges[index]!;
    },
  };
}

/** Keeps a count an integer within the bounds. */
function saturate(count: number): number {
  return Math.max(-most, Math.min(most, Math.trunc(count))) + 0; // never -0
}
