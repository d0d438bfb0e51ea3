// Latency load: the first socket makes changes at a constant rate. The latency of each change to each socket counts from the moment the
// change was handed to the network.

import type { Socket } from 'node:net';
import { Watch } from '../../spec/support/load/watch.ts';
import { openWebSocket } from '../../spec/support/load/web-socket.ts';
import { percentile } from '../../spec/support/statistics.ts';
import { busyMsOfAll, waitedMs } from '../../spec/support/system/process-usage.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { keepApart } from './cores.ts';
import { createPlainDialect } from './dialects/plain.ts';
import { createStudioDialect, type StudioLoad } from './dialects/studio.ts';
import { countMistake, openSubscribers } from './sockets/subscribers.ts';

export interface LatencyTask {
  readonly port: number;
  readonly serverPid: number;
  readonly address: string;
  /**
   * The studio that the changes come from; a change counts as arrived once everything that follows from its write has arrived. Omitted:
   * changes to one parameter.
   */
  readonly studio?: StudioLoad;
  /** The port of the hub that receives the writes; omitted: the same as `port`. */
  readonly writePort?: number;
  readonly sockets: number;
  readonly changesPerSecond: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface LatencyResult extends ArrivalFigures {
  /** Percentage of the time that server and load generator waited for a core. */
  readonly waited: number;
  /** CPU time of all server threads per change. */
  readonly busyMsPerChange: number;
}

const tickMs = 1;
const arrivalDeadlineMs = 5000;
const silenceMs = 30;

/** Opens a socket that receives nothing. */
function openWriter(port: number, watch: Watch): Promise<Socket> {
  const onBytes = () => watch.fail('expected nothing to come to who writes');
  return openWebSocket(port, `/ws?filter=${encodeURIComponent('^$')}`, { onBytes, onClose: watch.fail });
}

/** Sends changes 0, 1, 2 …, each when it is due. */
function sendEvenly(changesPerSecond: number, changes: number, send: (change: number) => void): void {
  const startedAt = performance.now();
  let sent = 0;
  const sendDue = () => {
    const due = Math.min(changes, Math.floor(((performance.now() - startedAt) * changesPerSecond) / 1000));
    while (sent < due) send(sent++);
    if (sent < changes) setTimeout(sendDue, tickMs);
  };
  sendDue();
}

/** Latencies in milliseconds, and the rate at which changes were sent. */
interface ArrivalFigures {
  readonly p50: number;
  readonly p99: number;
  readonly changesPerSecond: number;
}

class Arrivals {
  readonly sentAt: Float64Array;
  readonly #done = Promise.withResolvers<void>();
  readonly #warmUp: number;
  readonly #received: Uint32Array;
  readonly #latenciesMs: Float64Array;
  #counted = 0;
  #completeSockets = 0;

  constructor(sockets: number, warmUp: number, changes: number) {
    this.sentAt = new Float64Array(changes);
    this.#warmUp = warmUp;
    this.#received = new Uint32Array(sockets);
    this.#latenciesMs = new Float64Array((changes - warmUp) * sockets);
  }

  /** Resolves when all sockets have received all changes. */
  get complete(): Promise<void> {
    return this.#done.promise;
  }

  /** Records that a socket has received `changes` changes so far. */
  add(socket: number, changes: number): void {
    const now = performance.now();
    for (let change = Math.max(this.#warmUp, this.#received[socket]!); change < changes; change++)
      this.#latenciesMs[this.#counted++] = now - this.sentAt[change]!;
    this.#received[socket] = changes;
    if (changes === this.sentAt.length && ++this.#completeSockets === this.#received.length) this.#done.resolve();
  }

  figures(): ArrivalFigures {
    const sorted = this.#latenciesMs.sort();
    const spanMs = this.sentAt.at(-1)! - this.sentAt[this.#warmUp]!;
    return {
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      changesPerSecond: ((this.sentAt.length - this.#warmUp - 1) * 1000) / spanMs,
    };
  }
}

await runTask(async (task: LatencyTask): Promise<LatencyResult> => {
  const { port, serverPid, address, sockets, changesPerSecond, warmUpMs, measureMs } = task;
  const dialect = task.studio === undefined ? createPlainDialect(address, 1) : createStudioDialect(task.studio, 1);
  const watch = new Watch();
  const warmUpChanges = Math.floor((warmUpMs * changesPerSecond) / 1000);
  const allChanges = warmUpChanges + Math.floor((measureMs * changesPerSecond) / 1000);
  const arrivals = new Arrivals(sockets, warmUpChanges, allChanges);
  const subscribers = await openSubscribers(port, sockets, dialect, watch, (subscriber, changes) =>
    arrivals.add(subscriber, changes),
  );
  const publisher = task.writePort === undefined ? subscribers.publisher : await openWriter(task.writePort, watch);
  keepApart(serverPid);
  const startedAt = performance.now();
  const busyBefore = busyMsOfAll(serverPid);
  const waitedBefore = waitedMs(serverPid, process.pid);
  sendEvenly(changesPerSecond, allChanges, (change) => {
    arrivals.sentAt[change] = performance.now();
    publisher.write(dialect.batch(change));
  });
  const late = (error: Error) => {
    throw new Error(`${error.message}: ${countMistake(subscribers, allChanges)}`);
  };
  await watch.within(arrivals.complete, 'all changes', warmUpMs + measureMs + arrivalDeadlineMs).catch(late);
  const waited = waitedMs(serverPid, process.pid) - waitedBefore;
  const busyMsPerChange = (busyMsOfAll(serverPid) - busyBefore) / allChanges;
  const elapsedMs = performance.now() - startedAt;
  await watch.pass(silenceMs);
  const mistake = countMistake(subscribers, allChanges);
  if (mistake !== undefined) throw new Error(mistake);
  return { ...arrivals.figures(), waited: (waited / elapsedMs) * 100, busyMsPerChange };
});
