// The causes of values that a TypeScript stream emits later. RxJS operators that take time schedule their work while a change is being
// delivered; the work then runs on behalf of that change. The cause of a value that arrives later in another way, such as from a promise,
// is the last change that entered the stream.

import {
  asyncScheduler,
  type SchedulerAction,
  type SchedulerLike,
  type Subscription,
  type TimestampProvider,
} from 'rxjs';
import type { Graph } from '../../../../graph/graph.ts';
import type { Change } from '../../../../model/parameter.ts';

/**
 * The change that scheduled work or, if the work was rescheduled, the latest such change: `debounceTime` keeps its timer and reads the
 * clock again.
 */
interface Held {
  cause: Change | undefined;
}

/** The change that was being delivered when `keepCause` was called, for later work on behalf of the change. */
export interface KeptCause {
  /** Runs work on behalf of the kept change. */
  run(work: () => void): void;
  /** Like `run`, unless the work already has a cause. */
  runUnlessKnown(work: () => void): void;
}

/** The causes of the rule whose stream is currently running; undefined outside streams. */
let present: StreamCauses | undefined;

/** Tracks the causes of the values in one rule's stream. */
export class StreamCauses {
  readonly scheduler: SchedulerLike;
  readonly #graph: Graph;
  #lastIn: Change | undefined;
  #newest: Held = { cause: undefined };

  constructor(graph: Graph, scheduler: SchedulerLike) {
    this.#graph = graph;
    this.scheduler = scheduler;
  }

  timeOfDay(): number {
    return this.#graph.now();
  }

  /** Runs work inside the stream, started by a change or by the start of the rule. */
  runInside(work: () => void): void {
    this.#lastIn = this.#graph.cause;
    as(this, work);
  }

  /** Runs the stream's effects on other parts of the hub. Work without a cause is attributed to the last change that entered the stream. */
  runOutside(work: () => void): void {
    as(undefined, () => {
      if (this.#graph.cause === undefined) this.#graph.onBehalfOf(this.#lastIn, work);
      else work();
    });
  }

  /** Runs work later, on behalf of the change that is currently being delivered. */
  schedule<State>(
    work: (this: SchedulerAction<State>, state?: State) => void,
    delayMs?: number,
    state?: State,
  ): Subscription {
    const causes = this;
    const held: Held = { cause: this.#graph.cause };
    this.#newest = held;
    return this.scheduler.schedule<State>(
      function (state) {
        causes.#runFor(held, () => work.call(this, state as State));
      },
      delayMs,
      state,
    );
  }

  renew(): void {
    this.#newest.cause = this.#graph.cause;
  }

  keep(): KeptCause {
    const held: Held = { cause: this.#graph.cause };
    return {
      run: (work) => this.#runFor(held, work),
      runUnlessKnown: (work) => (this.#graph.cause === undefined ? this.#runFor(held, work) : work()),
    };
  }

  #runFor({ cause }: Held, work: () => void): void {
    this.#graph.onBehalfOf(cause, () => as(this, work));
  }
}

/** Captures the change that is currently being delivered. Outside the streams of rules, there is no such change. */
export function keepCause(): KeptCause {
  return present?.keep() ?? withoutCause;
}

const withoutCause: KeptCause = { run: (work) => work(), runUnlessKnown: (work) => work() };

function as(causes: StreamCauses | undefined, work: () => void): void {
  const before = present;
  present = causes;
  try {
    work();
  } finally {
    present = before;
  }
}

/**
 * The scheduler that applies while no rule is running: before any rule runs, or in work that returns to a flow later, such as a promise.
 */
const outside: SchedulerLike = {
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler) as typeof asyncScheduler.schedule,
};

/**
 * The default scheduler for operators in the streams of rules. The scheduler tracks causes and uses the hub's time, which is not affected
 * by adjustments to the system clock.
 */
export const streamScheduler: SchedulerLike = {
  now() {
    present?.renew();
    return steadyTime.now();
  },
  schedule<State>(work: (this: SchedulerAction<State>, state?: State) => void, delayMs?: number, state?: State) {
    return present === undefined ? outside.schedule(work, delayMs, state) : present.schedule(work, delayMs, state);
  },
};

/** The time of `streamScheduler`, in milliseconds, for operators that do not schedule work. */
export const steadyTime: TimestampProvider = {
  now: () => (present?.scheduler ?? outside).now(),
};

/** The time of day, in milliseconds since 1970, as in changes. The time of day jumps when the machine's clock is set. */
export const timeOfDay: TimestampProvider = {
  now: () => present?.timeOfDay() ?? Date.now(),
};
