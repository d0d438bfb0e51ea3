// Load of a fan-out: the first socket makes changes as fast as all sockets receive them, with a window of them under way;
// every socket must receive every change, in order. Bystanders, who listen to something else, must receive none.

import { busyMsOfAll } from '../load/busy-time.ts';
import { keepApart } from '../load/cores.ts';
import type { Dialect } from '../load/dialects/dialect.ts';
import { createNatsDialect } from '../load/dialects/nats.ts';
import { createPlainDialect } from '../load/dialects/plain.ts';
import { createV1Dialect } from '../load/dialects/v1.ts';
import { countMistake, openSubscribers, type Subscribers } from '../load/subscribers.ts';
import { runTask } from './task.ts';

export interface FanOutTask {
  readonly port: number;
  readonly serverPid: number;
  readonly dialect: keyof typeof dialects;
  readonly address: string;
  /** Sockets that receive every change, and whether they ask for all there is or for a few parameters. */
  readonly sockets: number;
  readonly isFiltered?: boolean;
  /** Sockets that ask for other parameters. */
  readonly bystanders?: number;
  /** How many changes are under way: sent, and not yet received by all. */
  readonly window: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface FanOutResult {
  readonly changes: number;
  readonly deliveries: number;
  readonly elapsedMs: number;
  readonly serverBusyMs: number;
}

const dialects = { plain: createPlainDialect, v1: createV1Dialect, nats: createNatsDialect } satisfies Record<
  string,
  (address: string, batch: number, isFiltered: boolean) => Dialect
>;
const stallMs = 5000;
/** How long after the last change something that nobody sent could still come. */
const silenceMs = 30;
const bystandersAtOnce = 100;

await runTask(async (task: FanOutTask) => {
  const { port, serverPid, sockets, bystanders = 0, window, warmUpMs, measureMs } = task;
  const batch = Math.max(1, Math.floor(window / 2)); // one batch is on its way out while the other is being read
  const dialect = dialects[task.dialect](task.address, batch, task.isFiltered ?? false);
  const { promise: done, resolve: finish } = Promise.withResolvers<FanOutResult>();
  /** Batches that each socket has received, that the first of them has, that all have, and that were sent. */
  const received = new Float64Array(sockets);
  let receivedByFirst = 0;
  let receivedByAll = 0;
  let sent = 0;
  /** How many sockets still lack the even and the odd batch under way. */
  const lacking = [sockets, sockets];
  let start: { at: number; busy: number; batches: number } | undefined;
  let result: FanOutResult | undefined;

  const silent = await openBystanders(port, bystanders, dialect);
  const subscribers = await openSubscribers(port, sockets, dialect, (subscriber, batches) => {
    for (let batch = received[subscriber]!; batch < batches; batch++) {
      const parity = batch % 2;
      received[subscriber] = batch + 1;
      receivedByFirst = Math.max(receivedByFirst, batch + 1);
      if (--lacking[parity]! === 0) {
        lacking[parity] = sockets;
        receivedByAll++;
        takeTime();
      }
    }
    sendNext();
  });
  keepApart(serverPid);
  const startedAt = performance.now();
  sendNext();

  /**
   * Sends a batch when one of two has arrived everywhere. Not before the other has begun to arrive, so that a server never
   * finds both at once: raw uWebSockets.js sends what goes beyond 32 frames in a round of its loop one by one.
   */
  function sendNext(): void {
    if (result !== undefined || sent - receivedByAll === 2 || receivedByFirst < sent) return;
    subscribers.publisher.write(dialect.batch(sent++));
  }

  function takeTime(): void {
    const now = performance.now();
    if (start === undefined) {
      if (now - startedAt >= warmUpMs) start = { at: now, busy: busyMsOfAll(serverPid), batches: receivedByAll };
    } else if (result === undefined && now - start.at >= measureMs)
      result = {
        changes: (receivedByAll - start.batches) * batch,
        deliveries: (receivedByAll - start.batches) * batch * sockets,
        elapsedMs: now - start.at,
        serverBusyMs: busyMsOfAll(serverPid) - start.busy,
      };
    if (result !== undefined && receivedByAll === sent) finish(result);
  }

  const failed = Promise.race([subscribers.failed, ...silent.map((some) => some.failed)]);
  await Promise.race([done, failed, untilStalled(() => receivedByAll)]);
  await Promise.race([new Promise((resolve) => setTimeout(resolve, silenceMs)), failed]);
  const mistake =
    countMistake(subscribers, sent) ?? silent.map((some) => countMistake(some, 0)).find((some) => some !== undefined);
  if (mistake !== undefined) throw new Error(mistake);
  return done;

  /** Rejects when nothing goes on any more. */
  function untilStalled(progress: () => number): Promise<never> {
    return new Promise((_, reject) => {
      let last = -1;
      const timer = setInterval(() => {
        if (progress() === last) {
          clearInterval(timer);
          reject(new Error(`stalled for ${stallMs} ms: ${countMistake(subscribers, sent)}`));
        }
        last = progress();
      }, stallMs);
    });
  }
});

/** Opens sockets that each listen to something else. */
async function openBystanders(port: number, count: number, dialect: Dialect): Promise<readonly Subscribers[]> {
  const all: Subscribers[] = [];
  while (all.length < count) {
    const next = Array.from({ length: Math.min(bystandersAtOnce, count - all.length) }, (_, index) =>
      openSubscribers(
        port,
        1,
        { entry: dialect.bystander(all.length + index + 1), createReceiver: dialect.createReceiver },
        () => {},
      ),
    );
    all.push(...(await Promise.all(next)));
  }
  return all;
}
