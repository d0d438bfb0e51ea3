// Changes parameters in turn at an even rate, over a socket of patchbay.v1, until the parent process exits.

import { runTask } from '../system/task.ts';
import { openV1Socket } from './v1-socket.ts';

export interface EvenWritesTask {
  readonly port: number;
  readonly addresses: readonly string[];
  readonly changesPerSecond: number;
}

const tickMs = 5;

await runTask(async ({ port, addresses, changesPerSecond }: EvenWritesTask) => {
  const socket = await openV1Socket(
    port,
    () => {},
    () => process.exit(),
  );
  const startedAt = performance.now();
  let sent = 0;
  setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) * changesPerSecond) / 1000);
    const set: [string, number][] = [];
    for (; sent < due; sent++) set.push([addresses[sent % addresses.length]!, sent]);
    if (set.length > 0) socket.send({ set });
  }, tickMs);
});
