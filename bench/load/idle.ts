// Load of idle clients: opens many sockets, then keeps still while the server tells what it holds in memory.

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
  /** What each subscribes to in patchbay.v1; undefined: they are plain sockets. */
  readonly include: string | undefined;
}

/** Memory per client; seconds until all are connected and have the picture that they subscribed to. */
export interface IdleResult extends UsedMemory {
  readonly seconds: number;
}

/** So many are there before memory is asked for the first time, as the first ones cost more than those that follow. */
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

/** Opens a client; resolves when its picture is complete, which `ended` hears as often as it is told. */
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
