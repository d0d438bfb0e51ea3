// Load of dashboards: many sockets show many parameters, each with its newest value a number of times a second. A value is
// the time at which it was written, so that its age is known wherever it is shown. Some dashboards may stop reading for a while.

import { setTimeout as after } from 'node:timers/promises';
import { busyMsOfAll, waitedMs } from '../load/busy-time.ts';
import { keepApart } from '../load/cores.ts';
import { Dashboard } from '../load/dashboard.ts';
import { within } from '../load/deadline.ts';
import { Histogram } from '../load/histogram.ts';
import { PictureReader } from '../load/picture.ts';
import { memoryOf, type UsedMemory } from '../load/used-memory.ts';
import { openV1Socket } from '../load/v1-socket.ts';
import { runTask } from './task.ts';

export interface DashboardsTask {
  readonly port: number;
  readonly serverPid: number;
  readonly dashboards: number;
  readonly parameters: number;
  /** Changes per second of each parameter, and how many times a second a dashboard is sent something. */
  readonly changesPerSecond: number;
  readonly rate: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** How many dashboards read nothing while it is measured. */
  readonly stalled: number;
  /** Whether the server tells of its memory. */
  readonly tellsMemory: boolean;
}

export interface DashboardsResult {
  readonly serverBusyMs: number;
  readonly loadBusyMs: number;
  /** How long server and load waited for a core. */
  readonly waitedMs: number;
  readonly elapsedMs: number;
  /** Milliseconds from the write of a value to its arrival, of all values that arrived; 0: the fraction 0.5, 1: 0.99. */
  readonly arrival: readonly [p50: number, p99: number];
  /** Milliseconds since the write of the value that a dashboard shows, at even moments. */
  readonly shown: readonly [p50: number, p99: number];
  readonly values: number;
  /** What the server held more at the end of the measurement than at its start. */
  readonly growth: UsedMemory | undefined;
  /** How much of what the others were sent the stalled ones were spared, 0..1. */
  readonly spared: number;
}

const tickMs = 1;
const longestBatch = 2000;
const sampleEveryMs = 5;
const longestSettleMs = 500;
const openAtOnce = 100;
const deadlineMs = 20_000;

await runTask(async (task: DashboardsTask) => {
  const { port, serverPid, parameters, warmUpMs, measureMs, stalled, tellsMemory } = task;
  const settleMs = Math.min(longestSettleMs, measureMs);
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const onEnd = (reason: string) => fail(new Error(reason));
  const reader = new PictureReader();
  const arrival = new Histogram();
  const shown = new Histogram();
  const startedAt = performance.now();
  const nowMs = () => performance.now() - startedAt;

  const dashboards: Dashboard[] = [];
  while (dashboards.length < task.dashboards) {
    const count = Math.min(openAtOnce, task.dashboards - dashboards.length);
    const opening = Array.from({ length: count }, () =>
      Dashboard.open(port, reader, { parameters, rate: task.rate, arrival, nowMs }, onEnd),
    );
    dashboards.push(
      ...(await Promise.race([within(deadlineMs, 'dashboards to be complete', Promise.all(opening)), failed])),
    );
  }
  const live = dashboards.slice(stalled);
  const stalling = dashboards.slice(0, stalled);
  keepApart(serverPid);
  const stopWriting = await startWriting();
  await Promise.race([after(warmUpMs), failed]);
  const memoryBefore = tellsMemory ? await memoryOf(serverPid) : undefined;
  if (tellsMemory) await Promise.race([after(settleMs), failed]);

  for (const dashboard of stalling) dashboard.pause();
  for (const dashboard of dashboards) dashboard.bytes = 0;
  arrival.clear();
  let turn = 0;
  const sampler = setInterval(() => live[turn++ % live.length]!.sample(shown), sampleEveryMs);
  const waited = () => waitedMs(serverPid, process.pid);
  const before = {
    at: performance.now(),
    server: busyMsOfAll(serverPid),
    load: busyMsOfAll(process.pid),
    waited: waited(),
  };
  await Promise.race([after(measureMs), failed]);
  clearInterval(sampler);
  const figures = {
    elapsedMs: performance.now() - before.at,
    serverBusyMs: busyMsOfAll(serverPid) - before.server,
    loadBusyMs: busyMsOfAll(process.pid) - before.load,
    waitedMs: waited() - before.waited,
    arrival: [arrival.percentile(0.5), arrival.percentile(0.99)],
    shown: [shown.percentile(0.5), shown.percentile(0.99)],
    values: arrival.total,
  } as const;
  const memoryAfter = tellsMemory ? await memoryOf(serverPid) : undefined;
  for (const dashboard of stalling) dashboard.resume();
  await Promise.race([after(settleMs), failed]);
  const newest = await stopWriting();
  await Promise.race([within(deadlineMs, 'the newest values on every dashboard', untilAllShow(newest)), failed]).catch(
    (error: Error) => {
      throw new Error(`${error.message}: ${firstDifference(newest) ?? 'they came late'}`);
    },
  );
  await Promise.race([after(settleMs), failed]);
  const difference = firstDifference(newest);
  if (difference !== undefined) throw new Error(difference);
  const bytesOf = (some: readonly Dashboard[]) => some.reduce((sum, { bytes }) => sum + bytes, 0) / some.length;
  return {
    ...figures,
    growth: memoryAfter && {
      heapBytes: memoryAfter.heapBytes - memoryBefore!.heapBytes,
      residentBytes: memoryAfter.residentBytes - memoryBefore!.residentBytes,
    },
    spared: stalled === 0 ? 0 : 1 - bytesOf(stalling) / bytesOf(live),
  } satisfies DashboardsResult;

  /** Writes all parameters in turn, evenly; what is returned stops it and tells the newest values. */
  async function startWriting(): Promise<() => Promise<Float64Array>> {
    const newest = new Float64Array(parameters);
    const { promise: written, resolve: finish } = Promise.withResolvers<void>();
    const onText = (payload: Buffer) => {
      const { ack } = reader.cache.parsedAt(reader.cache.find(payload, 0));
      if (ack !== undefined) finish();
    };
    const writer = await openV1Socket(port, onText, onEnd);
    const perMs = (parameters * task.changesPerSecond) / 1000;
    const from = nowMs();
    let sent = 0;
    let timer: NodeJS.Timeout | undefined;
    const writeDue = () => {
      const due = Math.min(Math.floor((nowMs() - from) * perMs) - sent, longestBatch);
      const value = Math.round(nowMs() * 1000) / 1000;
      const set = Array.from({ length: due }, (_, index) => {
        const parameter = (sent + index) % parameters;
        newest[parameter] = value;
        return [reader.idOf(parameter), value] as const;
      });
      if (due > 0) writer.send({ set });
      sent += Math.max(0, due);
      timer = setTimeout(writeDue, tickMs);
    };
    writeDue();
    return async () => {
      clearTimeout(timer);
      writer.send({ set: [], ack: 1 });
      await Promise.race([within(deadlineMs, 'an acknowledgement', written), failed]);
      return newest;
    };
  }

  async function untilAllShow(newest: Float64Array): Promise<void> {
    while (dashboards.some((dashboard) => dashboard.differenceTo(newest) !== undefined)) await after(tickMs);
  }

  function firstDifference(newest: Float64Array): string | undefined {
    for (const [index, dashboard] of dashboards.entries()) {
      const difference = dashboard.differenceTo(newest);
      if (difference !== undefined)
        return `dashboard ${index}${index < stalled ? ', which had stalled,' : ''} ${difference}`;
    }
    return undefined;
  }
});
