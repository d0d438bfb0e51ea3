// Fan-out load: the first socket makes changes as fast as all sockets receive them, with a window of changes in flight; every socket must
// receive every change, in order. Bystanders, which subscribe to other parameters, must receive none.

import { Watch } from '../../spec/support/load/watch.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { keepApart } from './cores.ts';
import type { Dialect } from './dialects/dialect.ts';
import { createNatsDialect } from './dialects/nats.ts';
import { createPlainDialect } from './dialects/plain.ts';
import { createStudioDialect, type StudioLoad } from './dialects/studio.ts';
import { createV1Dialect } from './dialects/v1.ts';
import { type Measured, MeasuringWindow, type WindowTask } from './measuring-window.ts';
import { ReceivedBatches } from './received/received-batches.ts';
import { countMistake, openSubscribers, type Subscribers } from './sockets/subscribers.ts';

export interface FanOutTask extends WindowTask {
  readonly port: number;
  readonly dialect: keyof typeof dialects;
  readonly address: string;
  /** The studio that the changes come from; omitted: changes to one parameter. */
  readonly studio?: StudioLoad;
  /** Sockets that receive every change; `isFiltered`: they subscribe to a few parameters instead of all. */
  readonly sockets: number;
  readonly isFiltered?: boolean;
  /** Sockets that subscribe to other parameters. */
  readonly bystanders?: number;
  /** Number of changes in flight: sent, but not yet received by all. */
  readonly window: number;
}

const dialects = { plain: createPlainDialect, v1: createV1Dialect, nats: createNatsDialect } satisfies Record<
  string,
  (address: string, batch: number, isFiltered: boolean) => Dialect
>;
const stallMs = 5000;
/** How long to wait after the last change for anything nobody sent. */
const silenceMs = 30;
const bystandersAtOnce = 100;

/** Measures how many changes all sockets have received. */
await runTask(async (task: FanOutTask): Promise<Measured> => {
  const batch = Math.max(1, Math.floor(task.window / 2)); // one batch goes out while the other is being read
  const dialect =
    task.studio === undefined
      ? dialects[task.dialect](task.address, batch, task.isFiltered ?? false)
      : createStudioDialect(task.studio, batch);
  const watch = new Watch();
  const bystanders = await openBystanders(task, dialect, watch);
  const measured = await fanOut(task, dialect, watch);
  for (const bystander of bystanders) expectBatches(bystander, 0);
  return { ...measured, done: measured.done * batch };
});

async function fanOut(task: FanOutTask, dialect: Dialect, watch: Watch): Promise<Measured> {
  const { port, serverPid, sockets } = task;
  const { promise: done, resolve: finish } = Promise.withResolvers<Measured>();
  const received = new ReceivedBatches(sockets);
  let sent = 0;

  /**
   * Sends a batch when one of two has arrived everywhere, but not before the other has begun to arrive: a server must never find both at
   * once, because raw uWebSockets.js sends everything beyond 32 frames per loop iteration one by one.
   */
  const sendNext = () => {
    if (window.measured !== undefined || sent - received.byAll === 2 || received.byFirst < sent) return;
    subscribers.publisher.write(dialect.batch(sent++));
  };
  const subscribers = await openSubscribers(port, sockets, dialect, watch, (subscriber, batches) => {
    if (received.add(subscriber, batches)) window.look(received.byAll);
    if (window.measured !== undefined && received.byAll === sent) finish(window.measured);
    sendNext();
  });
  keepApart(serverPid);
  const window = new MeasuringWindow(task);
  sendNext();
  watch.failAtStandstill(
    stallMs,
    () => received.byAll,
    () => `${countMistake(subscribers, sent)}`,
  );
  const measured = await watch.wait(done);
  await watch.pass(silenceMs);
  expectBatches(subscribers, sent);
  return measured;
}

function expectBatches(subscribers: Subscribers, batches: number): void {
  const mistake = countMistake(subscribers, batches);
  if (mistake !== undefined) throw new Error(mistake);
}

/** Opens sockets that each subscribe to something else. */
async function openBystanders(
  { port, bystanders = 0 }: FanOutTask,
  { bystander, createReceiver }: Dialect,
  watch: Watch,
): Promise<readonly Subscribers[]> {
  const all: Subscribers[] = [];
  while (all.length < bystanders) {
    const next = Array.from({ length: Math.min(bystandersAtOnce, bystanders - all.length) }, (_, index) =>
      openSubscribers(port, 1, { entry: bystander(all.length + index + 1), createReceiver }, watch, () => {}),
    );
    all.push(...(await Promise.all(next)));
  }
  return all;
}
