// The table of function blocks, with the arguments, parameters and logic of each block. The settings schema, the checks and the parameters
// are derived from this table.
import { z } from 'zod';
import { longestDurationMs, parseDurationMs } from '../../../model/time/duration.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import { type Logic, type Remembered, RisingEdge } from './logic.ts';

// The IEC 61131-3 timers TON, TOF and TP, each with the output Q and the elapsed time. Timers are accurate to one millisecond. To limit the
// number of changes, the elapsed time changes only at the start, every 100 ms while the timer is running, and at the end. A new `pt`
// applies immediately and is counted from the same start. `pt` is limited to 0..2^31−1 ms.

/** The step by which the elapsed time of a running timer changes, in milliseconds. */
const elapsedGridMs = 100;

/** TON: `in`, `pt` → on when `in` has been true for `pt`, off when `in` is false. The elapsed time then returns to 0. */
const createTon = (): Logic =>
  createTimer((watch, isIn, ptMs, now) => {
    if (!isIn) return watch.clear(false);
    if (!watch.q && watch.hasRun(ptMs, now)) watch.end(true, ptMs);
  });

/**
 * TOF: `in`, `pt` → on when `in` is true, off when `in` has been false for `pt`. If `in` is false at first, the output is off and the timer
 * is not running.
 */
const createTof = (): Logic =>
  createTimer((watch, isIn, ptMs, now) => {
    if (isIn) return watch.clear(true);
    if (watch.q && watch.hasRun(ptMs, now)) watch.end(false, ptMs);
  });

/**
 * TP: `in`, `pt` → on for exactly `pt` after a rising edge of `in`; a second edge does not extend the pulse. The elapsed time returns to 0
 * when the pulse is over and `in` is false. If `pt` is 0, there is no pulse.
 */
const createTp = (): Logic => {
  const edge = new RisingEdge();
  return createTimer((watch, isIn, ptMs, now) => {
    const isEdge = edge.rises(isIn);
    if (watch.q && watch.hasRun(ptMs, now)) watch.end(false, ptMs);
    if (watch.q) return;
    if (isEdge && ptMs > 0) {
      watch.clear(true);
      watch.hasRun(ptMs, now);
    } else if (!isIn) watch.clear(false);
  }, edge);
};

type TimerStep = (watch: Stopwatch, isIn: boolean, ptMs: number, now: number) => void;

function createTimer(step: TimerStep, edge = new RisingEdge()): Logic {
  const watch = new Stopwatch();
  return {
    get outputs() {
      return watch.outputs;
    },
    get wakeAt() {
      return watch.wakeAt;
    },
    step: (values, now) => {
      const ptMs = Math.trunc(Math.max(0, Math.min(longestDurationMs, values[1] as number)));
      step(watch, values[0] as boolean, ptMs, now);
    },
    remember: () => ({ ...watch.remember(), edges: [edge.wasFalse] }),
    recall: (remembered, now) => {
      edge.wasFalse = remembered.edges[0]!;
      watch.recall(remembered, now);
    },
  };
}

/** The output Q of a timer, and the elapsed time since the timer was started. */
class Stopwatch {
  readonly outputs: [boolean, number] = [false, 0];
  wakeAt = Infinity;
  #startedAt: number | undefined = undefined;
  #ptMs = 0;

  get q(): boolean {
    return this.outputs[0];
  }

  /** Stops the timer and sets the elapsed time to 0. */
  clear(q: boolean): void {
    this.end(q, 0);
  }

  /** Stops the timer and sets the elapsed time. */
  end(q: boolean, elapsedMs: number): void {
    this.outputs[0] = q;
    this.outputs[1] = elapsedMs;
    this.wakeAt = Infinity;
    this.#startedAt = undefined;
  }

  /**
   * Starts the timer if it is not running. Returns whether `pt` has elapsed; if not, requests a wake at the next step of the elapsed time.
   */
  hasRun(ptMs: number, now: number): boolean {
    this.#startedAt ??= now;
    this.#ptMs = ptMs;
    const elapsedMs = Math.round((now - this.#startedAt) * 1000) / 1000; // rounded to microseconds, because 0.3 − 0.1 is not 0.2
    if (elapsedMs >= ptMs) return true;
    const reportedMs = Math.floor(elapsedMs / elapsedGridMs) * elapsedGridMs;
    this.outputs[1] = reportedMs;
    this.wakeAt = this.#startedAt + Math.min(ptMs, reportedMs + elapsedGridMs);
    return false;
  }

  remember(): Omit<Remembered, 'edges'> {
    const ptMs = this.#startedAt === undefined ? undefined : this.#ptMs;
    return { outputs: [...this.outputs], startedAt: this.#startedAt, ptMs };
  }

  /**
   * Restores a timer. If its time is already over, the timer ends one millisecond later, when the rules that depend on it are already
   * listening.
   */
  recall({ outputs: [q, elapsedMs], startedAt, ptMs = 0 }: Remembered, now: number): void {
    this.outputs[0] = q as boolean;
    this.outputs[1] = elapsedMs as number;
    if (startedAt !== undefined) this.#startedAt = Math.min(now, Math.max(startedAt, now - ptMs + 1));
  }
}

// The IEC 61131-3 function blocks that store one bit (SR, RS) or detect an edge (R_TRIG, F_TRIG)

/** SR: `set`, `reset` → Q; set wins. Q is off before the first set. */
const createSr = (): Logic => createLatch((set, reset, q) => set || (q && !reset));

/** RS: `set`, `reset` → Q; reset wins. Q is off before the first set. */
const createRs = (): Logic => createLatch((set, reset, q) => !reset && (set || q));

/** R_TRIG: `in` → fires when `in` becomes true. The first value is not an edge. */
const createRTrig = (): Logic => createEdgeTrigger((value) => value);

/** F_TRIG: `in` → fires when `in` becomes false. The first value is not an edge. */
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

/**
 * The kind of an argument, which determines its valid values: literals within its bounds, and the names of values that have one of its
 * types.
 */
export interface ArgumentKind {
  readonly types: readonly ValueType[];
  readonly expected: string;
  isLiteral(value: unknown): boolean;
  /** Parses a literal that is written as a string. Returns undefined if the string is a name. */
  readText?(text: string): Value | undefined;
  readonly schema: z.ZodType;
}

interface BlockType {
  readonly arguments: Readonly<Record<string, ArgumentKind>>;
  /** The names of the optional arguments, which default to false. */
  readonly optional: readonly string[];
  /**
   * The types of the block's parameters, keyed by the suffix that is appended to the output's name. The suffix '' stands for the output
   * itself.
   */
  readonly outputs: Readonly<Record<string, ValueType>>;
  create(): Logic;
}

const flag: ArgumentKind = {
  ...describeKind('true, false or the name of an input or output of type B or T', z.boolean()),
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
    ...describeKind(`an integer ${least}..${most}${unit} or the name of an input or output of type I or F`, literal),
    types: ['I', 'F'],
    isLiteral: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  };
}

/**
 * Returns the schema for an argument. The schema accepts literals that are out of range, so that they are reported together with wrong
 * names and types.
 */
function describeKind(expected: string, literal: z.ZodType): { expected: string; schema: z.ZodType } {
  return { expected, schema: z.union([literal, z.string()], { error: expected }).describe(expected) };
}

// The IEC 61131-3 counters CTU, CTD and CTUD. They count rising edges and stop at ±(2^53−1), the bounds of an integer parameter. A reset
// takes precedence over a load, and a load over counting. Simultaneous edges up and down cancel each other out.

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

/** CTD: `down`, `load`, `pv` → done (count <= 0), count; `load` sets the count to `pv`. */
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

/** Creates the logic of a counter from a function that returns its next outputs. The second output is the count. */
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

/** Rounds a count to an integer and limits it to the bounds of an integer parameter. */
function saturate(count: number): number {
  return Math.max(-most, Math.min(most, Math.trunc(count))) + 0; // avoids −0
}
