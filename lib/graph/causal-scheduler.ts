// Causes across time. Work that is scheduled during the delivery of a change runs on behalf of that change, no matter how much later. So
// the cause of a timer that fires is its start, although the timer connection does not handle causes.

import type { SchedulerAction, SchedulerLike } from 'rxjs';
import type { Graph } from './graph.ts';

/**
 * Creates a scheduler on the clock of another one. Its work runs on behalf of the change that was delivered when it was scheduled, and does
 * not run if `mayAct` then returns false.
 */
export function createCausalScheduler(graph: Graph, scheduler: SchedulerLike, mayAct = () => true): SchedulerLike {
  return {
    now: () => scheduler.now(),
    schedule<State>(work: (this: SchedulerAction<State>, state?: State) => void, delayMs?: number, state?: State) {
      const { cause } = graph;
      return scheduler.schedule<State>(
        function (state) {
          if (mayAct()) graph.onBehalfOf(cause, () => work.call(this, state as State));
        },
        delayMs,
        state,
      );
    },
  };
}
