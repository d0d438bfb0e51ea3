// The dashboards of the soak test, and what they show. Some of them read nothing for most of each minute. Each value is the time of its
// write. At the end every dashboard must show the newest value of every parameter.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { Dashboard } from '../../support/load/dashboard.ts';
import { EvenWriter } from '../../support/load/even-writer.ts';
import { Histogram } from '../../support/load/histogram.ts';
import { PictureReader } from '../../support/load/picture.ts';
import { Watch } from '../../support/load/watch.ts';
import { runTask } from '../../support/system/task.ts';

export interface SoakTask {
  readonly port: number;
  readonly dashboards: number;
  readonly stalled: number;
  /** How long these read nothing, and how long they then read. */
  readonly stallMs: number;
  readonly readMs: number;
  readonly parameters: number;
  /** Changes per second of each parameter, and the number of messages per second to each dashboard. */
  readonly changesPerSecond: number;
  readonly rate: number;
}

/** The report of the load on request, since the previous request: latency from write to arrival, in milliseconds. */
export interface SoakLook {
  /** `null`: nothing has arrived. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly values: number;
}

const openAtOnce = 50;
const openMs = 120_000;
const newestMs = 60_000;
const lookMs = 20;

await runTask(async (task: SoakTask): Promise<Record<string, never>> => {
  const watch = new Watch();
  const reader = new PictureReader();
  const arrival = new Histogram();
  const startedAt = performance.now();
  const nowMs = () => performance.now() - startedAt;
  const { parameters, rate } = task;
  const dashboards: Dashboard[] = [];
  while (dashboards.length < task.dashboards) {
    const count = Math.min(openAtOnce, task.dashboards - dashboards.length);
    const settings = { parameters, rate, arrival, nowMs };
    const opening = Array.from({ length: count }, () => Dashboard.open(task.port, reader, settings, watch.fail));
    dashboards.push(...(await watch.within(Promise.all(opening), 'dashboards to be complete', openMs)));
  }
  const writer = await EvenWriter.open([{ port: task.port, reader }], { ...task, nowMs }, watch);
  const ending = new AbortController();
  const stalling = stallAgain(dashboards.slice(0, task.stalled), task, ending.signal);
  process.on('message', (message) => {
    if (message !== 'look') return;
    const look: SoakLook = { p50: arrival.percentile(0.5), p99: arrival.percentile(0.99), values: arrival.total };
    arrival.clear();
    process.send!({ result: look });
  });
  process.send!({ result: 'begin' });
  await watch.wait(untilToldToEnd());
  ending.abort();
  await stalling;
  const newest = await writer.stop();
  const difference = () => dashboards.map((one) => one.differenceTo(newest)).find((text) => text !== undefined);
  const isShown = () => difference() === undefined;
  const looks = { deadlineMs: newestMs, everyMs: lookMs };
  await watch.untilSo('the newest values on every dashboard', isShown, looks).catch((error: Error) => {
    throw new Error(`${error.message}: ${difference() ?? 'they came late'}`);
  });
  return {};
});

async function untilToldToEnd(): Promise<void> {
  for (;;) if ((await once(process, 'message'))[0] === 'end') return;
}

/**
 * Until the end: some dashboards read nothing for a while, then they read for a while. In the end they read. One begins after the other: each
 * finds several MiB that wait, which takes this process a tenth of a second, and it is also the one that writes.
 */
async function stallAgain(
  dashboards: readonly Dashboard[],
  { stallMs, readMs }: SoakTask,
  signal: AbortSignal,
): Promise<void> {
  const pass = (ms: number) => after(ms, undefined, { signal }).catch(() => {});
  const stall = async (dashboard: Dashboard, beginMs: number) => {
    await pass(beginMs);
    while (!signal.aborted) {
      dashboard.pause();
      await pass(stallMs);
      dashboard.resume();
      await pass(readMs);
    }
  };
  const gapMs = (stallMs + readMs) / dashboards.length;
  await Promise.all(dashboards.map((dashboard, index) => stall(dashboard, index * gapMs)));
}
