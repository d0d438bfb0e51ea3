// Load of an ingest: one socket sends batches as fast as the server takes them. It hears every change, byte for byte, or
// filters all of them out; then a ping ends each batch, and the pong says that the batch has been taken.

import { busyMsOfAll } from '../load/busy-time.ts';
import { createChanges } from '../load/changes.ts';
import { keepApart } from '../load/cores.ts';
import { StreamReceiver } from '../load/dialects/plain.ts';
import { ExpectedStream } from '../load/expected-stream.ts';
import { countMistake, openSubscribers } from '../load/subscribers.ts';
import { runTask } from './task.ts';

export interface IngestTask {
  readonly port: number;
  readonly serverPid: number;
  readonly address: string;
  /** Whether the socket hears of what it writes. */
  readonly isHeard: boolean;
  /** Whether the last value can be read at `/parameters/<address>`. */
  readonly readsBack: boolean;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface IngestResult {
  readonly messages: number;
  readonly elapsedMs: number;
  readonly serverBusyMs: number;
}

/** How many messages a batch has, and how many batches are under way: together less than a socket's buffers hold. */
const batch = 512;
const batchesUnderWay = 4;
const stallMs = 10_000;
const silenceMs = 30;
const ping = Buffer.of(0x89, 0x80, 0, 0, 0, 0);
const pong = Buffer.of(0x8a, 0);

await runTask(async ({ port, serverPid, address, isHeard, readsBack, warmUpMs, measureMs }: IngestTask) => {
  const changes = createChanges(address, batch);
  const stream = isHeard ? changes.received : new ExpectedStream([pong]);
  const { promise: done, resolve: finish } = Promise.withResolvers<IngestResult>();
  let sent = 0;
  let taken = 0;
  let start: { at: number; busy: number; batches: number } | undefined;
  let result: IngestResult | undefined;

  const listening = {
    entry: { path: isHeard ? '/ws' : '/ws?filter=nothing' },
    createReceiver: () => new StreamReceiver(stream, isHeard ? batch : 1),
  };
  const subscribers = await openSubscribers(port, 1, listening, (_, batches) => {
    taken = batches;
    takeTime();
    send();
  });
  keepApart(serverPid);
  const startedAt = performance.now();
  send();

  function send(): void {
    for (; result === undefined && sent - taken < batchesUnderWay; sent++) {
      subscribers.publisher.write(changes.frames(sent * batch, batch));
      if (!isHeard) subscribers.publisher.write(ping);
    }
  }

  function takeTime(): void {
    const now = performance.now();
    if (start === undefined) {
      if (now - startedAt >= warmUpMs) start = { at: now, busy: busyMsOfAll(serverPid), batches: taken };
    } else if (result === undefined && now - start.at >= measureMs)
      result = {
        messages: (taken - start.batches) * batch,
        elapsedMs: now - start.at,
        serverBusyMs: busyMsOfAll(serverPid) - start.busy,
      };
    if (result !== undefined && taken === sent) finish(result);
  }

  const stalled = after(warmUpMs + measureMs + stallMs).then(() => {
    throw new Error(`stalled: ${countMistake(subscribers, sent)}`);
  });
  stalled.catch(() => {});
  await Promise.race([done, subscribers.failed, stalled]);
  await Promise.race([after(silenceMs), subscribers.failed]);
  const mistake = countMistake(subscribers, sent);
  if (mistake !== undefined) throw new Error(mistake);
  if (readsBack) {
    const value = await (await fetch(`http://127.0.0.1:${port}/parameters/${address}`)).text();
    const last = changes.valueOf(sent * batch - 1);
    if (value !== last) throw new Error(`expected ${address} to be ${last} at last, got ${value}`);
  }
  return done;
});

function after(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs).unref());
}
