// Causes across time: what is scheduled while a change is told runs on behalf of that change, however much later. So a
// timer that fires has its start as its cause, without a word about causes in the connection.

import type { SchedulerAction, SchedulerLike } from 'rxjs';
import type { Graph } from './graph.ts';

/** Creates a scheduler on another one's clock whose work runs on behalf of the change that was told when it was scheduled. */
export function createCausalScheduler(graph: Graph, scheduler: SchedulerLike): SchedulerLike {
  return {
    now: () => scheduler.now(),
    schedule<State>(work: (this: SchedulerAction<State>, state?: State) => void, delayMs?: number, state?: State) {
      const { cause } = graph;
      return scheduler.schedule<State>(
        function (state) {
          graph.onBehalfOf(cause, () => work.call(this, state as State));
        },
        delayMs,
        state,
      );
    },
  };
}
