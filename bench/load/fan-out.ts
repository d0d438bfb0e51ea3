// Load of a fan-out: the first socket makes changes as fast as all sockets receive them, with a window of them under way;
// every socket must receive every change, in order. Bystanders, who listen to something else, must receive none.

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
  /** Changes are those of a studio. */
  readonly studio?: StudioLoad;
  /** Sockets that receive every change, and whether they ask for all there is or for a few parameters. */
  readonly sockets: number;
  readonly isFiltered?: boolean;
  /** Sockets that ask for other parameters. */
  readonly bystanders?: number;
  /** How many changes are under way: sent, and not yet received by all. */
  readonly window: number;
}

const dialects = { plain: createPlainDialect, v1: createV1Dialect, nats: createNatsDialect } satisfies Record<
  string,
  (address: string, batch: number, isFiltered: boolean) => Dialect
>;
const stallMs = 5000;
/** How long after the last change something that nobody sent could still come. */
const silenceMs = 30;
const bystandersAtOnce = 100;

/** Measures how many changes all sockets have received. */
await runTask(async (task: FanOutTask): Promise<Measured> => {
  const batch = Math.max(1, Math.floor(task.window / 2)); // one batch is on its way out while the other is being read
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
   * Sends a batch when one of two has arrived everywhere. Not before the other has begun to arrive, so that a server never
   * finds both at once: raw uWebSockets.js sends what goes beyond 32 frames in a round of its loop one by one.
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

/** Opens sockets that each listen to something else. */
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
