// Causes of what a stream in TypeScript emits later. Operators of RxJS that take time schedule their work while a change is told;
// that work runs on behalf of the change. What comes later in another way, such as from a promise, has the change that went in last.

import {
  asyncScheduler,
  type SchedulerAction,
  type SchedulerLike,
  type Subscription,
  type TimestampProvider,
} from 'rxjs';
import type { Graph } from '../../../../graph/graph.ts';
import type { Change } from '../../../../model/parameter.ts';

/** The change that scheduled work, or that renewed it: `debounceTime` keeps its timer and looks at the clock again. */
interface Held {
  cause: Change | undefined;
}

/** The change that is told at some moment, for what is done on its behalf later. */
export interface KeptCause {
  /** Runs work on its behalf. */
  run(work: () => void): void;
  /** The same, unless the work has a cause of its own by now. */
  runUnlessKnown(work: () => void): void;
}

/** The rule whose stream runs at this moment. */
let present: StreamCauses | undefined;

/** The causes of one rule. */
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

  /** Runs what a change, or the start of the rule, does to the stream. */
  goIn(work: () => void): void {
    this.#lastIn = this.#graph.cause;
    as(this, work);
  }

  /** Runs what the stream does to others. Without a cause of its own it is on behalf of the change that went in last. */
  comeOut(work: () => void): void {
    as(undefined, () => {
      if (this.#graph.cause === undefined) this.#graph.onBehalfOf(this.#lastIn, work);
      else work();
    });
  }

  /** Has work run later on behalf of what is told now. */
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
        causes.#goOn(held, () => work.call(this, state as State));
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
      run: (work) => this.#goOn(held, work),
      runUnlessKnown: (work) => (this.#graph.cause === undefined ? this.#goOn(held, work) : work()),
    };
  }

  #goOn({ cause }: Held, work: () => void): void {
    this.#graph.onBehalfOf(cause, () => as(this, work));
  }
}

/** Keeps the cause of this moment; outside of the streams of rules there is none. */
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

/** Where no rule runs: before, or in what comes back to a flow later, such as a promise. */
const outside: SchedulerLike = {
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler) as typeof asyncScheduler.schedule,
};

/**
 * The scheduler of the streams of rules, which operators have by default: it keeps causes, and its time is that of the hub, which no
 * setting of the clock moves.
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

/** The time of that scheduler, for those who schedule nothing by it. */
export const steadyTime: TimestampProvider = {
  now: () => (present?.scheduler ?? outside).now(),
};

/** The time of day, as changes have it; it jumps when somebody sets the clock of the machine. */
export const timeOfDay: TimestampProvider = {
  now: () => present?.timeOfDay() ?? Date.now(),
};
