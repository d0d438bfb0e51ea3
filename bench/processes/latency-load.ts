// Load of a latency measurement: the first socket makes changes at an even rate; how long each takes to every socket is
// counted from the moment it was handed to the network.

import { waitedMs } from '../load/busy-time.ts';
import { keepApart } from '../load/cores.ts';
import { createPlainDialect } from '../load/dialects/plain.ts';
import { countMistake, openSubscribers } from '../load/subscribers.ts';
import { percentile } from '../statistics.ts';
import { runTask } from './task.ts';

export interface LatencyTask {
  readonly port: number;
  readonly serverPid: number;
  readonly address: string;
  readonly sockets: number;
  readonly changesPerSecond: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface LatencyResult {
  readonly p50: number;
  readonly p99: number;
  /** How much of the time, in %, server and load waited for a core. */
  readonly waited: number;
  readonly changesPerSecond: number;
}

const tickMs = 1;
const arrivalDeadlineMs = 5000;
const silenceMs = 30;

await runTask(async ({ port, serverPid, address, sockets, changesPerSecond, warmUpMs, measureMs }: LatencyTask) => {
  const dialect = createPlainDialect(address, 1);
  const warmUpChanges = Math.floor((warmUpMs * changesPerSecond) / 1000);
  const allChanges = warmUpChanges + Math.floor((measureMs * changesPerSecond) / 1000);
  const sentAt = new Float64Array(allChanges);
  const received = new Uint32Array(sockets);
  const latenciesMs = new Float64Array((allChanges - warmUpChanges) * sockets);
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  let sent = 0;
  let counted = 0;
  let complete = 0;

  const subscribers = await openSubscribers(port, sockets, dialect, (subscriber, changes) => {
    const now = performance.now();
    let change = received[subscriber]!;
    for (; change < changes; change++) if (change >= warmUpChanges) latenciesMs[counted++] = now - sentAt[change]!;
    received[subscriber] = change;
    if (change === allChanges && ++complete === sockets) finish();
  });

  keepApart(serverPid);
  const startedAt = performance.now();
  const waitedBefore = waitedMs(serverPid, process.pid);
  const sendDue = () => {
    const due = Math.min(allChanges, Math.floor(((performance.now() - startedAt) * changesPerSecond) / 1000));
    for (; sent < due; sent++) {
      sentAt[sent] = performance.now();
      subscribers.publisher.write(dialect.batch(sent));
    }
    if (sent < allChanges) setTimeout(sendDue, tickMs);
  };
  sendDue();
  const deadline = after(warmUpMs + measureMs + arrivalDeadlineMs).then(() => {
    throw new Error(`not all changes arrived: ${countMistake(subscribers, allChanges)}`);
  });
  await Promise.race([done, subscribers.failed, deadline]);
  const waited = waitedMs(serverPid, process.pid) - waitedBefore;
  const elapsedMs = performance.now() - startedAt;
  await Promise.race([after(silenceMs), subscribers.failed]);
  const mistake = countMistake(subscribers, allChanges);
  if (mistake !== undefined) throw new Error(mistake);
  latenciesMs.sort();
  return {
    p50: percentile(latenciesMs, 0.5),
    p99: percentile(latenciesMs, 0.99),
    waited: (waited / elapsedMs) * 100,
    changesPerSecond: ((allChanges - warmUpChanges - 1) * 1000) / (sentAt.at(-1)! - sentAt[warmUpChanges]!),
  } satisfies LatencyResult;
});

function after(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
