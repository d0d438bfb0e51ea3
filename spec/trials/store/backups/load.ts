// Writes numbers, one after another, until it is stopped.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';

const tickMs = 5;

export interface Load {
  /** How many writes were sent; the hub has not taken all of them yet. */
  readonly sent: number;
  /** The last number that the hub had told so many milliseconds ago; -1: none. */
  toldBefore(ms: number): number;
  stop(): Promise<void>;
}

/** Writes so many numbers a second. */
export async function startLoad(port: number, pairs: number, rate: number): Promise<Load> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?filter=${encodeURIComponent('^desk/last$')}`);
  await once(socket, 'open');
  let [sent, isStopped] = [0, false];
  const told: { number: number; at: number }[] = [];
  socket.addEventListener('message', ({ data }) => {
    told.push({ number: Number((JSON.parse(data as string) as { v: string }).v), at: performance.now() });
  });
  const writing = (async () => {
    for (const startedAt = performance.now(); !isStopped; await after(tickMs)) {
      const due = ((performance.now() - startedAt) * rate) / 1000;
      for (; sent < due; sent++) socket.send(JSON.stringify({ p: `desk/a${sent % pairs}`, v: sent }));
    }
  })();
  return {
    get sent() {
      return sent;
    },
    toldBefore(ms) {
      return told.findLast(({ at }) => at < performance.now() - ms)?.number ?? -1;
    },
    async stop() {
      isStopped = true;
      await writing;
      socket.close();
    },
  };
}
