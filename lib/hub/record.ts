// Records what comes from outside: what clients write, and what connections tell. What rules and connections make of it is left out,
// as a replay makes it again. What was under way when the recording began is recorded.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { Graph } from '../graph/graph.ts';
import { SettleCall } from '../graph/settle-queue.ts';
import type { Change } from '../model/parameter.ts';
import type { OutsideTurn, RecordedWrite, Recording } from '../model/reports/audit-entry.ts';

export interface RecordOptions {
  readonly graph: Graph;
  readonly scheduler: SchedulerLike;
  /** Whether a connection tells what nobody can make again. */
  readonly isExternal: (connectionId: string) => boolean;
}

/** Calls back with each turn in which something came from outside, until it is stopped. */
export function record(next: (turn: OutsideTurn) => void, { graph, scheduler, isExternal }: RecordOptions): Recording {
  const since = { revision: graph.revision, time: graph.now() };
  const startMs = scheduler.now();
  const elapsedMs = () => Math.round(scheduler.now() - startMs);
  let writes: RecordedWrite[] = [];
  const task = new SettleCall({ order: Number.MAX_SAFE_INTEGER }, () => {
    next({ atMs: elapsedMs(), writes });
    writes = [];
  });
  const hear = (change: Change) => {
    const { origin, cause } = change;
    const isOutside =
      origin.reportedBy !== undefined || (cause === undefined ? origin.kind !== 'rule' : isLedToBefore(change, since));
    if (!isOutside && !(origin.kind === 'connection' && isExternal(origin.name))) return;
    writes.push({ address: change.parameter.address, value: graph.inputOf(change), origin });
    graph.atSettle(task);
  };
  const subscription = new Subscription();
  for (const heard$ of [graph.changes$, graph.repeated$])
    subscription.add(heard$.subscribe({ next: hear, error: () => {} }));
  return { time: since.time, elapsedMs, stop: () => subscription.unsubscribe() };
}

/** A moment in the life of a hub. */
export interface Moment {
  readonly revision: number;
  /** In milliseconds since 1970. */
  readonly time: number;
}

/** Whether what led to a change was before a moment. What follows from that later, nobody can do again. */
export function isLedToBefore({ cause }: Change, { revision, time }: Moment): boolean {
  if (cause === undefined) return false;
  return cause.revision > 0 ? cause.revision <= revision : cause.time < time;
}
