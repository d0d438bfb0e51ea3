// Load of a fan-out: the first socket makes changes as fast as all sockets receive them, with a window of them under way;
// every socket must receive every change, in order, byte for byte.

import { busyMs } from '../load/busy-time.ts';
import { createChanges } from '../load/changes.ts';
import { keepApart } from '../load/cores.ts';
import { countMistake, openSubscribers } from '../load/subscribers.ts';
import { runTask } from './task.ts';

export interface FanOutTask {
  readonly port: number;
  readonly serverPid: number;
  readonly address: string;
  readonly sockets: number;
  /** How many changes are under way: sent, and not yet received by all. */
  readonly window: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface FanOutResult {
  readonly deliveries: number;
  readonly elapsedMs: number;
  readonly serverBusyMs: number;
}

const stallMs = 5000;
/** How long after the last change something that nobody sent could still come. */
const silenceMs = 30;

await runTask(async ({ port, serverPid, address, sockets, window, warmUpMs, measureMs }: FanOutTask) => {
  const batch = Math.max(1, Math.floor(window / 2)); // one batch is on its way out while the other is being read
  const changes = createChanges(address, batch);
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

  const subscribers = await openSubscribers(port, sockets, changes.received, (subscriber, position) => {
    let batches = received[subscriber]!;
    while (position >= changes.received.bytesOf((batches + 1) * batch)) {
      const parity = batches % 2;
      received[subscriber] = ++batches;
      receivedByFirst = Math.max(receivedByFirst, batches);
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
    subscribers.publisher.write(changes.frames(sent++ * batch, batch));
  }

  function takeTime(): void {
    const now = performance.now();
    if (start === undefined) {
      if (now - startedAt >= warmUpMs) start = { at: now, busy: busyMs(serverPid), batches: receivedByAll };
    } else if (result === undefined && now - start.at >= measureMs)
      result = {
        deliveries: (receivedByAll - start.batches) * batch * sockets,
        elapsedMs: now - start.at,
        serverBusyMs: busyMs(serverPid) - start.busy,
      };
    if (result !== undefined && receivedByAll === sent) finish(result);
  }

  await Promise.race([done, subscribers.failed, untilStalled(() => receivedByAll)]);
  await Promise.race([new Promise((resolve) => setTimeout(resolve, silenceMs)), subscribers.failed]);
  const mistake = countMistake(subscribers, changes.received.bytesOf(sent * batch));
  if (mistake !== undefined) throw new Error(mistake);
  return done;

  /** Rejects when nothing goes on any more. */
  function untilStalled(progress: () => number): Promise<never> {
    return new Promise((_, reject) => {
      let last = -1;
      const timer = setInterval(() => {
        if (progress() === last) {
          clearInterval(timer);
          const bytes = changes.received.bytesOf(sent * batch);
          reject(new Error(`stalled for ${stallMs} ms: ${countMistake(subscribers, bytes)}`));
        }
        last = progress();
      }, stallMs);
    });
  }
});
