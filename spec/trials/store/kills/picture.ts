// What a client of patchbay.v1 is told when it subscribes to everything.

import { once } from 'node:events';
import type { Value } from '../../../../lib/model/value.ts';
import type { Since } from '../../../../lib/wire/v1/client-messages.ts';
import type { ReceivedMessage } from '../../../../lib/wire/v1/hub-messages.ts';
import { within } from '../../../support/load/deadline.ts';
import { openV1Socket } from '../../../support/load/v1-socket.ts';

const deadlineMs = 10_000;

export interface TakenPicture {
  readonly epoch: string;
  readonly mode: string;
  readonly values: ReadonlyMap<string, Value>;
}

/** Takes a snapshot, or resumes since a revision. */
export async function takePicture(port: number, since?: Since): Promise<TakenPicture> {
  const addresses = new Map<number, string>();
  const values = new Map<string, Value>();
  const ended = Promise.withResolvers<void>();
  let epoch = '';
  let mode = '';
  const take = (message: ReceivedMessage) => {
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
