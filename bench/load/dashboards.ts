// Dashboard load: many sockets show many parameters and receive the newest value of each several times a second. Every value is the time it
// was written, so its age is known wherever it is shown. Some dashboards may stop reading for a while.

import { Dashboard, type DashboardSettings } from '../../spec/support/load/dashboard.ts';
import { EvenWriter, type Written } from '../../spec/support/load/even-writer.ts';
import { Histogram } from '../../spec/support/load/histogram.ts';
import { PictureReader } from '../../spec/support/load/picture.ts';
import { Watch } from '../../spec/support/load/watch.ts';
import { busyMsOfAll, waitedMs } from '../../spec/support/system/process-usage.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { memoryOf, type UsedMemory } from '../../spec/support/system/used-memory.ts';
import { keepApart } from './cores.ts';

export interface DashboardsTask {
  /** The hubs that serve dashboards, an equal share each. */
  readonly hubs: readonly { readonly port: number; readonly pid: number }[];
  /** The hubs that receive writes; each receives the same values. */
  readonly writtenPorts: readonly number[];
  /** Total across all hubs. */
  readonly dashboards: number;
  readonly parameters: number;
  /** Changes per second of each parameter; `rate` is the number of messages per second to each dashboard. */
  readonly changesPerSecond: number;
  readonly rate: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** How many dashboards stop reading during the measurement. */
  readonly stalled: number;
  /** Whether to measure the hub's memory; only with a single hub. */
  readonly tellsMemory: boolean;
}

export interface DashboardsResult {
  /** Total of all hubs that serve dashboards. */
  readonly serverBusyMs: number;
  readonly loadBusyMs: number;
  /** How long these hubs and the load generator waited for a core. */
  readonly waitedMs: number;
  readonly elapsedMs: number;
  /** Milliseconds from write to arrival, over all values that arrived: 50th and 99th percentile. */
  readonly arrival: readonly [p50: number, p99: number];
  /** Age in milliseconds of the values shown on the dashboards, sampled at regular intervals. */
  readonly shown: readonly [p50: number, p99: number];
  readonly values: number;
  /** How much the server's memory grew during the measurement. */
  readonly growth: UsedMemory | undefined;
  /** The fraction of the live dashboards' traffic that the stalled ones were not sent, 0..1. */
  readonly spared: number;
}

const tickMs = 1;
const sampleEveryMs = 5;
const longestSettleMs = 500;
const openAtOnce = 100;
const deadlineMs = 20_000;

await runTask(async (task: DashboardsTask): Promise<DashboardsResult> => {
  const { hubs, parameters, rate, warmUpMs, measureMs, tellsMemory } = task;
  const serverPid = hubs[0]!.pid;
  const settleMs = Math.min(longestSettleMs, measureMs);
  const watch = new Watch();
  const arrival = new Histogram();
  const startedAt = performance.now();
  const nowMs = () => performance.now() - startedAt;

  const settings = { parameters, rate, arrival, nowMs };
  const readers = new Map(hubs.map(({ port }) => [port, new PictureReader()]));
  const dashboards = await openDashboards(task, readers, settings, watch);
  const written: Written[] = [];
  for (const port of task.writtenPorts)
    written.push({ port, reader: readers.get(port) ?? (await lookOnce(port, settings, watch)) });
  for (const { pid } of hubs) keepApart(pid);
  const writer = await EvenWriter.open(written, { ...task, nowMs }, watch);
  await watch.pass(warmUpMs);
  const memoryBefore = tellsMemory ? await memoryOf(serverPid) : undefined;
  if (tellsMemory) await watch.pass(settleMs);
  const stalling = dashboards.slice(0, task.stalled);
  const live = dashboards.slice(task.stalled);
  for (const dashboard of stalling) dashboard.pause();
  const figures = await measure(task, dashboards, live, arrival, watch);
  const memoryAfter = tellsMemory ? await memoryOf(serverPid) : undefined;
  for (const dashboard of stalling) dashboard.resume();
  await watch.pass(settleMs);
  await expectNewest(dashboards, task.stalled, await writer.stop(), settleMs, watch);
  return {
    ...figures,
    growth: memoryAfter && {
      heapBytes: memoryAfter.heapBytes - memoryBefore!.heapBytes,
      residentBytes: memoryAfter.residentBytes - memoryBefore!.residentBytes,
    },
    spared: task.stalled === 0 ? 0 : 1 - meanBytes(stalling) / meanBytes(live),
  };
});

/** Opens the dashboards, spread across the hubs in turn; resolves when all of them are complete. */
async function openDashboards(
  task: DashboardsTask,
  readers: ReadonlyMap<number, PictureReader>,
  settings: DashboardSettings,
  watch: Watch,
): Promise<readonly Dashboard[]> {
  const all: Dashboard[] = [];
  while (all.length < task.dashboards) {
    const count = Math.min(openAtOnce, task.dashboards - all.length);
    const opening = Array.from({ length: count }, (_, index) => {
      const { port } = task.hubs[(all.length + index) % task.hubs.length]!;
      return Dashboard.open(port, readers.get(port)!, settings, watch.fail);
    });
    all.push(...(await watch.within(Promise.all(opening), 'dashboards to be complete', deadlineMs)));
  }
  return all;
}

/** Learns the parameter ids of a hub that serves no dashboards. */
async function lookOnce(port: number, settings: DashboardSettings, watch: Watch): Promise<PictureReader> {
  const reader = new PictureReader();
  const dashboard = await Dashboard.open(port, reader, { ...settings, arrival: new Histogram() }, watch.fail);
  dashboard.end();
  return reader;
}

/** Measures what arrives at all dashboards, and samples what the live ones show, one at a time in rotation. */
async function measure(
  { hubs, measureMs }: DashboardsTask,
  dashboards: readonly Dashboard[],
  live: readonly Dashboard[],
  arrival: Histogram,
  watch: Watch,
): Promise<Omit<DashboardsResult, 'growth' | 'spared'>> {
  const shown = new Histogram();
  for (const dashboard of dashboards) dashboard.bytes = 0;
  arrival.clear();
  let turn = 0;
  const sampler = setInterval(() => live[turn++ % live.length]!.sample(shown), sampleEveryMs);
  const now = () => ({
    elapsedMs: performance.now(),
    serverBusyMs: hubs.reduce((sum, { pid }) => sum + busyMsOfAll(pid), 0),
    loadBusyMs: busyMsOfAll(process.pid),
    waitedMs: waitedMs(...hubs.map(({ pid }) => pid), process.pid),
  });
  const start = now();
  await watch.pass(measureMs);
  clearInterval(sampler);
  const end = now();
  return {
    elapsedMs: end.elapsedMs - start.elapsedMs,
    serverBusyMs: end.serverBusyMs - start.serverBusyMs,
    loadBusyMs: end.loadBusyMs - start.loadBusyMs,
    waitedMs: end.waitedMs - start.waitedMs,
    arrival: [arrival.percentile(0.5), arrival.percentile(0.99)],
    shown: [shown.percentile(0.5), shown.percentile(0.99)],
    values: arrival.total,
  };
}

/** Checks that every dashboard shows the newest values and keeps showing them. Errors: one of them does not. */
async function expectNewest(
  dashboards: readonly Dashboard[],
  stalled: number,
  newest: Float64Array,
  settleMs: number,
  watch: Watch,
): Promise<void> {
  const difference = () => firstDifference(dashboards, stalled, newest);
  const isShown = () => difference() === undefined;
  const looks = { deadlineMs, everyMs: tickMs };
  await watch.untilSo('the newest values on every dashboard', isShown, looks).catch((error: Error) => {
    throw new Error(`${error.message}: ${difference() ?? 'they came late'}`);
  });
  await watch.pass(settleMs);
  const wrong = difference();
  if (wrong !== undefined) throw new Error(wrong);
}

function firstDifference(dashboards: readonly Dashboard[], stalled: number, newest: Float64Array): string | undefined {
  for (const [index, dashboard] of dashboards.entries()) {
    const difference = dashboard.differenceTo(newest);
    if (difference !== undefined)
      return `dashboard ${index}${index < stalled ? ', which had stalled,' : ''} ${difference}`;
  }
  return undefined;
}

function meanBytes(dashboards: readonly Dashboard[]): number {
  return dashboards.reduce((sum, { bytes }) => sum + bytes, 0) / dashboards.length;
}
