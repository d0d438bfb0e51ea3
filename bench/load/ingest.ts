// Ingest load: one socket sends batches as fast as the server accepts them. It receives either every change, compared byte for byte, or
// only the mark that ends each batch, which confirms that the batch has been processed.

import { Watch } from '../../spec/support/load/watch.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { keepApart } from './cores.ts';
import { type Changes, createChanges, StreamReceiver } from './dialects/plain.ts';
import { type Measured, MeasuringWindow, type WindowTask } from './measuring-window.ts';
import { ExpectedStream } from './received/expected-stream.ts';
import { countMistake, openSubscribers } from './sockets/subscribers.ts';

export interface IngestTask extends WindowTask {
  readonly port: number;
  readonly address: string;
  /** Whether the socket receives the changes it writes; otherwise it receives the mark. */
  readonly isHeard: boolean;
  /**
   * The address of a parameter set after each batch. Undefined: a ping ends the batch. Its pong proves nothing for a hub, which answers
   * pings while messages are still queued.
   */
  readonly markAddress?: string;
  /** Whether the last value can be read at `/parameters/<address>`. */
  readonly readsBack: boolean;
}

/**
 * Messages per batch, and batches in flight: together less than a socket's buffers hold, and fewer than the 2,000 above which a hub reports
 * that messages arrive faster than it processes them.
 */
const batch = 512;
const batchesUnderWay = 3;
const stallMs = 5000;
const silenceMs = 30;
const ping = Buffer.of(0x89, 0x80, 0, 0, 0, 0);
const pong = Buffer.of(0x8a, 0);

/** What ends a batch whose changes the socket does not receive, and what is expected in return. */
interface Mark {
  readonly filter: string;
  readonly received: ExpectedStream;
  frame(batch: number): Buffer;
}

const pings: Mark = { filter: 'nothing', received: new ExpectedStream([pong]), frame: () => ping };

await runTask(async (task: IngestTask): Promise<Measured> => {
  const { port, address, readsBack } = task;
  const changes = createChanges(address, batch);
  const { measured, batches } = await sendBatches(task, changes);
  if (readsBack) await expectValue(port, address, changes.valueOf(batches * batch - 1));
  return { ...measured, done: measured.done * batch };
});

/** Sends until everything sent within the window has been processed; resolves to the measurement and the number of batches. */
async function sendBatches(
  task: IngestTask,
  changes: Changes,
): Promise<{ readonly measured: Measured; readonly batches: number }> {
  const { port, serverPid } = task;
  const watch = new Watch();
  const { promise: done, resolve: finish } = Promise.withResolvers<Measured>();
  const mark = markOf(task);
  let sent = 0;
  let taken = 0;

  const send = (): void => {
    for (; window.measured === undefined && sent - taken < batchesUnderWay; sent++) {
      subscribers.publisher.write(changes.frames(sent * batch, batch));
      if (mark !== undefined) subscribers.publisher.write(mark.frame(sent));
    }
  };
  const listening = {
    entry: { path: mark === undefined ? '/ws' : `/ws?filter=${encodeURIComponent(mark.filter)}` },
    createReceiver: () =>
      mark === undefined ? new StreamReceiver(changes.received, batch) : new StreamReceiver(mark.received, 1),
  };
  const subscribers = await openSubscribers(port, 1, listening, watch, (_, batches) => {
    taken = batches;
    window.look(taken);
    if (window.measured !== undefined && taken === sent) finish(window.measured);
    send();
  });
  keepApart(serverPid);
  const window = new MeasuringWindow(task);
  send();
  watch.failAtStandstill(
    stallMs,
    () => taken,
    () => `${countMistake(subscribers, sent)}`,
  );
  const measured = await watch.wait(done);
  await watch.pass(silenceMs);
  const mistake = countMistake(subscribers, sent);
  if (mistake !== undefined) throw new Error(mistake);
  return { measured, batches: sent };
}

/** Undefined: the socket receives the changes themselves. */
function markOf({ isHeard, markAddress }: IngestTask): Mark | undefined {
  if (isHeard) return undefined;
  if (markAddress === undefined) return pings;
  const { received, frames } = createChanges(markAddress, 1);
  return { filter: `^${markAddress}$`, received, frame: (batch) => frames(batch, 1) };
}

async function expectValue(port: number, address: string, expected: string): Promise<void> {
  const value = await (await fetch(`http://127.0.0.1:${port}/parameters/${address}`)).text();
  if (value !== expected) throw new Error(`expected ${address} to be ${expected} at last, got ${value}`);
}
