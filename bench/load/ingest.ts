// Load of an ingest: one socket sends batches as fast as the server takes them. It hears every change, byte for byte, or of a mark that
// ends each batch and says that the batch has been taken.

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
  /** Whether the socket hears of what it writes; else it hears of the mark. */
  readonly isHeard: boolean;
  /**
   * The address of a parameter that is set after each batch. Undefined: a ping ends it, whose pong says nothing of a hub, which answers it
   * while messages wait.
   */
  readonly markAddress?: string;
  /** Whether the last value can be read at `/parameters/<address>`. */
  readonly readsBack: boolean;
}

/**
 * How many messages a batch has, and how many batches are under way: together less than a socket's buffers hold, and fewer than the 2,000
 * of which a hub says that they come faster than it takes them.
 */
const batch = 512;
const batchesUnderWay = 3;
const stallMs = 5000;
const silenceMs = 30;
const ping = Buffer.of(0x89, 0x80, 0, 0, 0, 0);
const pong = Buffer.of(0x8a, 0);

/** What ends a batch that nobody hears, and what comes back for it. */
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

/** Sends until all that was sent within the window is taken; resolves to what was measured, and how many batches there were. */
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

/** Undefined: the changes themselves are heard. */
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
