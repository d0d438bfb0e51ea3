// Load of an ingest: one socket sends batches as fast as the server takes them. It hears every change, byte for byte, or
// filters all of them out; then a ping ends each batch, and the pong says that the batch has been taken.

import { keepApart } from '../../load/cores.ts';
import { StreamReceiver } from '../../load/dialects/plain.ts';
import { type Measured, MeasuringWindow, type WindowTask } from '../../load/measuring-window.ts';
import { ExpectedStream } from '../../load/received/expected-stream.ts';
import { countMistake, openSubscribers } from '../../load/sockets/subscribers.ts';
import { Watch } from '../../load/watch.ts';
import { type Changes, createChanges } from '../../load/writes/changes.ts';
import { runTask } from '../task.ts';

export interface IngestTask extends WindowTask {
  readonly port: number;
  readonly address: string;
  /** Whether the socket hears of what it writes. */
  readonly isHeard: boolean;
  /** Whether the last value can be read at `/parameters/<address>`. */
  readonly readsBack: boolean;
}

/** How many messages a batch has, and how many batches are under way: together less than a socket's buffers hold. */
const batch = 512;
const batchesUnderWay = 4;
const stallMs = 5000;
const silenceMs = 30;
const ping = Buffer.of(0x89, 0x80, 0, 0, 0, 0);
const pong = Buffer.of(0x8a, 0);

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
  const { port, serverPid, isHeard } = task;
  const watch = new Watch();
  const { promise: done, resolve: finish } = Promise.withResolvers<Measured>();
  const stream = isHeard ? changes.received : new ExpectedStream([pong]);
  let sent = 0;
  let taken = 0;

  const send = (): void => {
    for (; window.measured === undefined && sent - taken < batchesUnderWay; sent++) {
      subscribers.publisher.write(changes.frames(sent * batch, batch));
      if (!isHeard) subscribers.publisher.write(ping);
    }
  };
  const listening = {
    entry: { path: isHeard ? '/ws' : '/ws?filter=nothing' },
    createReceiver: () => new StreamReceiver(stream, isHeard ? batch : 1),
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

async function expectValue(port: number, address: string, expected: string): Promise<void> {
  const value = await (await fetch(`http://127.0.0.1:${port}/parameters/${address}`)).text();
  if (value !== expected) throw new Error(`expected ${address} to be ${expected} at last, got ${value}`);
}
