// What a client of patchbay.v1 is told when it subscribes to everything.

import { once } from 'node:events';
import { within } from '../load/deadline.ts';
import { openV1Socket, type V1Message } from '../load/sockets/v1-socket.ts';

const deadlineMs = 10_000;

export interface TakenPicture {
  readonly epoch: string;
  readonly mode: string;
  readonly values: ReadonlyMap<string, string | number>;
}

/** Takes a snapshot, or resumes since a revision. */
export async function takePicture(port: number, since?: { epoch: string; rev: number }): Promise<TakenPicture> {
  const addresses = new Map<number, string>();
  const values = new Map<string, string | number>();
  const ended = Promise.withResolvers<void>();
  let epoch = '';
  let mode = '';
  const take = (message: V1Message) => {
    epoch = message.hello?.epoch ?? epoch;
    mode = message.mode ?? mode;
    for (const [id, address] of message.def ?? []) addresses.set(id, address);
    for (const [id, value] of message.set ?? []) values.set(addresses.get(id)!, value);
    if (message.end !== undefined) ended.resolve();
  };
  const socket = await openV1Socket(
    port,
    (payload) => take(JSON.parse(payload.toString())),
    (reason) => ended.reject(new Error(reason)),
  );
  socket.send({ sub: 1, include: ['**'], ...(since && { since }) });
  await within(deadlineMs, 'the end of the picture', ended.promise);
  socket.socket.destroy();
  await once(socket.socket, 'close');
  return { epoch, mode, values };
}
