// Load of idle clients: opens many sockets, then keeps still while the server tells what it holds in memory.

import { setTimeout as after } from 'node:timers/promises';
import { within } from '../load/deadline.ts';
import { memoryOf, type UsedMemory } from '../load/used-memory.ts';
import { openV1Socket } from '../load/v1-socket.ts';
import { openWebSocket } from '../load/web-socket.ts';
import { runTask } from './task.ts';

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

await runTask(async ({ port, serverPid, clients, include }: IdleTask) => {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const onEnd = (reason: string) => fail(new Error(reason));
  let ended = 0;

  await openAll(firstClients);
  await after(settleMs);
  const before = await memoryOf(serverPid);
  const startedAt = performance.now();
  await openAll(clients);
  const seconds = (performance.now() - startedAt) / 1000;
  await after(settleMs);
  const memory = await memoryOf(serverPid);
  if (include !== undefined && ended !== firstClients + clients)
    throw new Error(`expected ${firstClients + clients} ends of pictures, got ${ended}`);
  await Promise.race([after(0), failed]);
  return {
    heapBytes: (memory.heapBytes - before.heapBytes) / clients,
    residentBytes: (memory.residentBytes - before.residentBytes) / clients,
    seconds,
  } satisfies IdleResult;

  async function openAll(count: number): Promise<void> {
    for (let opened = 0; opened < count; opened += openAtOnce) {
      const opening = Array.from({ length: Math.min(openAtOnce, count - opened) }, open);
      await Promise.race([within(deadlineMs, 'sockets to open', Promise.all(opening)), failed]);
    }
  }

  async function open(): Promise<void> {
    if (include === undefined) {
      const onBytes = () => onEnd('expected nothing to come');
      await openWebSocket(port, '/ws', { onBytes, onClose: onEnd });
      return;
    }
    const { promise: complete, resolve } = Promise.withResolvers<void>();
    const onText = (payload: Buffer) => {
      if (!payload.toString().startsWith('{"end":1')) return;
      ended++;
      resolve();
    };
    const socket = await openV1Socket(port, onText, onEnd);
    socket.send({ sub: 1, include: [include], rate: 30 });
    await complete;
  }
});
