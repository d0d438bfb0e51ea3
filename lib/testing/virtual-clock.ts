// A clock that advances only on request. In tests, this clock is the scheduler for connections and rules. Actions that are due at the same
// time run in the order in which they were scheduled.

import { asyncScheduler, type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import { Heap } from '../model/heap.ts';

/**
 * The maximum number of actions that run at the same virtual time. The limit stops timers of 0 ms that would otherwise restart one another
 * forever.
 */
export const maxActionsAtOneTime = 100_000;

/** The number of removed actions that may remain in the heap before a cleanup. */
const fewDue = 64;

type Work<State> = (this: SchedulerAction<State>, state?: State) => void;

interface Action {
  run(): void;
}

/** A scheduled action and its time. */
interface Due {
  /** The action; undefined if the action was removed and does not run. */
  action: Action | undefined;
  readonly timeMs: number;
  /** The action's position in the order of scheduling, which decides between equal times. */
  readonly number: number;
}

export class VirtualClock implements SchedulerLike {
  #due = new Heap<Due>(isBefore);
  /** The scheduled actions that have not been removed. */
  readonly #dueOf = new Map<Action, Due>();
  #enqueued = 0;
  #nowMs = 0;
  #actionsNow = 0;

  /** Returns the virtual time in milliseconds since the clock was created. */
  now(): number {
    return this.#nowMs;
  }

  schedule<State>(work: Work<State>, delayMs = 0, state?: State): Subscription {
    return new VirtualAction(this, work).schedule(state, delayMs);
  }

  /** Schedules an action after a delay in milliseconds. Replaces an earlier schedule of the same action. */
  enqueue(action: Action, delayMs: number): void {
    this.remove(action);
    const timeMs = this.#nowMs + Math.max(0, delayMs);
    const due: Due = { action, timeMs, number: this.#enqueued++ };
    this.#dueOf.set(action, due);
    this.#due.add(due);
  }

  remove(action: Action): void {
    const due = this.#dueOf.get(action);
    if (due === undefined) return;
    this.#dueOf.delete(action);
    due.action = undefined;
    if (this.#due.size > 2 * this.#dueOf.size + fewDue) this.#forgetRemoved();
  }

  /**
   * Moves the clock to a time, and runs all actions that are due by then, in order. Ends early when `isOver` returns true. Errors: any
   * error from an action, and more than `maxActionsAtOneTime` actions at one time.
   */
  advanceTo(timeMs: number, isOver: () => boolean = () => false): void {
    while (!isOver()) {
      const next = this.#due.first;
      if (next === undefined || next.timeMs > timeMs) {
        this.#moveTo(timeMs);
        return;
      }
      this.#due.take();
      const { action } = next;
      if (action === undefined) continue;
      this.#dueOf.delete(action);
      this.#moveTo(next.timeMs);
      if (++this.#actionsNow > maxActionsAtOneTime)
        throw new Error(
          `virtual time does not advance: more than ${maxActionsAtOneTime} timers expired at the same time`,
        );
      action.run();
    }
  }

  /**
   * Runs work during which RxJS operators without a scheduler use this clock. A program that tests a flow defined in the program itself
   * imports RxJS directly, whereas a flow file receives the hub's RxJS. The work is synchronous, so nothing else in the process is
   * affected. Errors: any error from the work.
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

  /** Removes from the heap the actions that timers have left there by restarting repeatedly. */
  #forgetRemoved(): void {
    this.#due = new Heap<Due>(isBefore);
    for (const due of this.#dueOf.values()) this.#due.add(due);
  }

  #moveTo(timeMs: number): void {
    if (timeMs <= this.#nowMs) return;
    this.#nowMs = timeMs;
    this.#actionsNow = 0;
  }
}

function isBefore(one: Due, other: Due): boolean {
  return one.timeMs < other.timeMs || (one.timeMs === other.timeMs && one.number < other.number);
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
