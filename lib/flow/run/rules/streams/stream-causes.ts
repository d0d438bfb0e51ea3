// Causes of what a stream in TypeScript emits later. Operators of RxJS that take time schedule their work while a change is told;
// that work runs on behalf of the change. What comes later in another way, such as from a promise, has the change that went in last.

import { asyncScheduler, type SchedulerAction } from 'rxjs';
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
let isInstalled = false;

/** The causes of one rule. */
export class StreamCauses {
  readonly #graph: Graph;
  #lastIn: Change | undefined;
  #newest: Held = { cause: undefined };

  constructor(graph: Graph) {
    this.#graph = graph;
    install();
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

  hold(): Held {
    this.#newest = { cause: this.#graph.cause };
    return this.#newest;
  }

  renew(): void {
    this.#newest.cause = this.#graph.cause;
  }

  keep(): KeptCause {
    const held: Held = { cause: this.#graph.cause };
    return {
      run: (work) => this.goOn(held, work),
      runUnlessKnown: (work) => (this.#graph.cause === undefined ? this.goOn(held, work) : work()),
    };
  }

  /** Runs work that was scheduled. */
  goOn({ cause }: Held, work: () => void): void {
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

/** Lets the scheduler that operators have by default keep causes, for streams of rules alone. */
function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { schedule, now } = asyncScheduler;
  asyncScheduler.now = () => {
    present?.renew();
    return now.call(asyncScheduler);
  };
  asyncScheduler.schedule = <State>(
    work: (this: SchedulerAction<State>, state?: State) => void,
    delayMs?: number,
    state?: State,
  ) => {
    const causes = present;
    if (causes === undefined) return schedule.call(asyncScheduler, work as never, delayMs, state);
    const held = causes.hold();
    return schedule.call<typeof asyncScheduler, Parameters<typeof schedule<State>>, ReturnType<typeof schedule>>(
      asyncScheduler,
      function (state) {
        causes.goOn(held, () => work.call(this, state as State));
      },
      delayMs,
      state,
    );
  };
}
