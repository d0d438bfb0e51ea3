// Idle-client load: opens many sockets, then stays quiet while the server reports its memory use.

import { setTimeout as after } from 'node:timers/promises';
import { openV1Socket } from '../../spec/support/load/v1-socket.ts';
import { Watch } from '../../spec/support/load/watch.ts';
import { openWebSocket } from '../../spec/support/load/web-socket.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { memoryOf, type UsedMemory } from '../../spec/support/system/used-memory.ts';

export interface IdleTask {
  readonly port: number;
  readonly serverPid: number;
  readonly clients: number;
  /** The pattern that each client subscribes to over patchbay.v1; undefined: plain sockets. */
  readonly include: string | undefined;
}

/** Memory per client, and the seconds until all are connected and have received their snapshot. */
export interface IdleResult extends UsedMemory {
  readonly seconds: number;
}

/** Clients opened before the first memory reading, because the first ones cost more than later ones. */
const firstClients = 100;
const openAtOnce = 100;
const settleMs = 300;
const deadlineMs = 60_000;

await runTask(async ({ port, serverPid, clients, include }: IdleTask): Promise<IdleResult> => {
  const watch = new Watch();
  const ends: number[] = [];
  const open = (client: number) =>
    include === undefined ? openPlain(port, watch) : openV1(port, include, watch, () => ends.push(client));
  await openAll(firstClients, open, watch);
  await after(settleMs);
  const before = await memoryOf(serverPid);
  const startedAt = performance.now();
  await openAll(clients, open, watch);
  const seconds = (performance.now() - startedAt) / 1000;
  await after(settleMs);
  const memory = await memoryOf(serverPid);
  if (include !== undefined && ends.length !== firstClients + clients)
    throw new Error(`expected ${firstClients + clients} ends of pictures, got ${ends.length}`);
  await watch.pass(0);
  return {
    heapBytes: (memory.heapBytes - before.heapBytes) / clients,
    residentBytes: (memory.residentBytes - before.residentBytes) / clients,
    seconds,
  };
});

async function openAll(count: number, open: (client: number) => Promise<void>, watch: Watch): Promise<void> {
  for (let opened = 0; opened < count; opened += openAtOnce) {
    const opening = Array.from({ length: Math.min(openAtOnce, count - opened) }, (_, index) => open(opened + index));
    await watch.within(Promise.all(opening), 'sockets to open', deadlineMs);
  }
}

async function openPlain(port: number, watch: Watch): Promise<void> {
  await openWebSocket(port, '/ws', { onBytes: () => watch.fail('expected nothing to come'), onClose: watch.fail });
}

/** Opens a client and calls `ended` at each end of a snapshot; resolves at the first. */
async function openV1(port: number, include: string, watch: Watch, ended: () => void): Promise<void> {
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  const onText = (payload: Buffer) => {
    if (!payload.toString().startsWith('{"end":1')) return;
    ended();
    resolve();
  };
  const { send } = await openV1Socket(port, onText, watch.fail);
  send({ sub: 1, include: [include], rate: 30 });
  await complete;
}
