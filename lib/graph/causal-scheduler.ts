// Causes across time. Work that is scheduled while a change is being delivered runs on behalf of that change, no matter how much later.
// Therefore, the cause of a timer that fires is the change that started the timer, although the timer connection does not handle causes.

import type { SchedulerAction, SchedulerLike } from 'rxjs';
import type { Graph } from './graph.ts';

/**
 * Creates a scheduler that uses the clock of another scheduler. Its work runs on behalf of the change that was being delivered when the
 * work was scheduled, and does not run if `mayAct` then returns false.
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
