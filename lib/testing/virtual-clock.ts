// A clock that stands still until it is moved: the scheduler of connections and rules while a flow is tested. Actions that
// are due at the same time run in the order in which they were scheduled.

import { asyncScheduler, type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';

/** How many actions may run while the time stands still; ends timers of 0 ms that start one another for ever. */
export const maxActionsAtOneTime = 100_000;

type Work<State> = (this: SchedulerAction<State>, state?: State) => void;

interface Action {
  run(): void;
}

/** An action and when it is to run. */
interface Due {
  readonly action: Action;
  readonly timeMs: number;
}

export class VirtualClock implements SchedulerLike {
  /** Ordered by time, and by age where times are equal. */
  readonly #due: Due[] = [];
  #nowMs = 0;
  #actionsNow = 0;

  /** Milliseconds since the clock was made. */
  now(): number {
    return this.#nowMs;
  }

  schedule<State>(work: Work<State>, delayMs = 0, state?: State): Subscription {
    return new VirtualAction(this, work).schedule(state, delayMs);
  }

  /** Lets the action run after the delay, and no longer at the time for which it was enqueued before. */
  enqueue(action: Action, delayMs: number): void {
    this.remove(action);
    const timeMs = this.#nowMs + Math.max(0, delayMs);
    let [low, high] = [0, this.#due.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#due[middle]!.timeMs <= timeMs) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, { action, timeMs });
  }

  remove(action: Action): void {
    const index = this.#due.findIndex((due) => due.action === action);
    if (index >= 0) this.#due.splice(index, 1);
  }

  /**
   * Moves to a time and runs all actions that are due by then; it ends early once `isOver` says so. Errors: those of an action,
   * and when the time stands still although more than `maxActionsAtOneTime` actions have run.
   */
  advanceTo(timeMs: number, isOver: () => boolean = () => false): void {
    while (!isOver()) {
      const next = this.#due[0];
      if (next === undefined || next.timeMs > timeMs) {
        this.#moveTo(timeMs);
        return;
      }
      this.#due.shift();
      this.#moveTo(next.timeMs);
      if (++this.#actionsNow > maxActionsAtOneTime)
        throw new Error(`the time stands still: more than ${maxActionsAtOneTime} timers have run out at once`);
      next.action.run();
    }
  }

  /**
   * Does work during which operators of rxjs without a scheduler of their own take this clock, as in rules in TypeScript. The
   * work is synchronous, so that nothing else in the process notices. Errors: those of the work.
   */
  asDefault<Result>(work: () => Result): Result {
    const { schedule, now } = asyncScheduler;
    asyncScheduler.schedule = this.schedule.bind(this);
    asyncScheduler.now = this.now.bind(this);
    try {
      return work();
    } finally {
      asyncScheduler.schedule = schedule;
      asyncScheduler.now = now;
    }
  }

  #moveTo(timeMs: number): void {
    if (timeMs <= this.#nowMs) return;
    this.#nowMs = timeMs;
    this.#actionsNow = 0;
  }
}

class VirtualAction<State> extends Subscription implements SchedulerAction<State>, Action {
  readonly #clock: VirtualClock;
  readonly #work: Work<State>;
  #state: State | undefined;

  constructor(clock: VirtualClock, work: Work<State>) {
    super(() => clock.remove(this));
    this.#clock = clock;
    this.#work = work;
  }

  schedule(state?: State, delayMs = 0): Subscription {
    if (this.closed) return this;
    this.#state = state;
    this.#clock.enqueue(this, delayMs);
    return this;
  }

  run(): void {
    this.#work(this.#state);
  }
}
