// Load of an ingest over patchbay.v1: one socket sends `set` messages, each a turn, as fast as they are acknowledged, with some
// of them under way. In the end the hub must hold the last values and have counted every change.

import { busyMsOfAll } from '../load/busy-time.ts';
import { keepApart } from '../load/cores.ts';
import { within } from '../load/deadline.ts';
import { connectionId, parameterIdOf } from '../load/many-parameters.ts';
import { PictureReader } from '../load/picture.ts';
import { openV1Socket } from '../load/v1-socket.ts';
import { encodeClientText } from '../load/web-socket.ts';
import { runTask } from './task.ts';

export interface V1IngestTask {
  readonly port: number;
  readonly serverPid: number;
  /** How many parameters there are; each message sets all of them. */
  readonly parameters: number;
  /** Whether parameters are named by id, or by address. */
  readonly isById: boolean;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface V1IngestResult {
  readonly changes: number;
  readonly elapsedMs: number;
  readonly serverBusyMs: number;
}

const messagesUnderWay = 8;
const differentMessages = 32;
const deadlineMs = 10_000;

await runTask(async (task: V1IngestTask) => {
  const { port, serverPid, parameters, isById, warmUpMs, measureMs } = task;
  const reader = new PictureReader();
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const { promise: done, resolve: finish } = Promise.withResolvers<V1IngestResult>();
  let sent = 0;
  let taken = 0;
  let messages: readonly Buffer[] = [];
  let start: { at: number; busy: number; taken: number } | undefined;
  let result: V1IngestResult | undefined;

  const before = await takePicture();
  messages = Array.from({ length: differentMessages }, (_, index) => {
    const set = Array.from({ length: parameters }, (_, parameter) => [
      isById ? reader.idOf(parameter) : `${connectionId}/${parameterIdOf(parameter)}`,
      valueIn(index, parameter),
    ]);
    return encodeClientText(JSON.stringify({ set, ack: index }));
  });
  const { socket } = await openV1Socket(port, onText, (reason) => fail(new Error(reason)));
  keepApart(serverPid);
  const startedAt = performance.now();
  send();
  const figures = await Promise.race([within(warmUpMs + measureMs + deadlineMs, 'all acknowledgements', done), failed]);
  const { revision, values } = await takePicture();
  const changes = sent * parameters;
  if (revision - before.revision !== changes)
    throw new Error(`expected ${changes} changes, the hub counted ${revision - before.revision}`);
  const wrong = values.findIndex((value, parameter) => value !== valueIn((sent - 1) % differentMessages, parameter));
  if (wrong >= 0) throw new Error(`parameter ${wrong} is ${values[wrong]}, expected the last value that was sent`);
  return figures;

  function send(): void {
    for (; result === undefined && sent - taken < messagesUnderWay; sent++)
      socket.write(messages[sent % differentMessages]!);
  }

  function onText(payload: Buffer): void {
    const { ack } = reader.cache.parsedAt(reader.cache.find(payload, 0));
    if (ack === undefined) return; // hello
    if (ack !== taken % differentMessages) throw new Error(`expected ack ${taken % differentMessages}, got ${ack}`);
    taken++;
    const now = performance.now();
    if (start === undefined) {
      if (now - startedAt >= warmUpMs) start = { at: now, busy: busyMsOfAll(serverPid), taken };
    } else if (result === undefined && now - start.at >= measureMs)
      result = {
        changes: (taken - start.taken) * parameters,
        elapsedMs: now - start.at,
        serverBusyMs: busyMsOfAll(serverPid) - start.busy,
      };
    if (result !== undefined && taken === sent) finish(result);
    else send();
  }

  /** What the hub holds, by a socket of its own that subscribes to all. */
  async function takePicture(): Promise<{ revision: number; values: Float64Array }> {
    const values = new Float64Array(parameters);
    const { promise: complete, resolve } = Promise.withResolvers<number>();
    const onPicture = (payload: Buffer) => {
      const message = reader.cache.parsedAt(reader.cache.find(payload, 0));
      for (const [index, parameter] of message.parameters.entries()) values[parameter] = message.values[index]!;
      if (message.end !== undefined) resolve(message.rev!);
    };
    const opened = await openV1Socket(port, onPicture, (reason) => fail(new Error(reason)));
    opened.send({ sub: 1, include: [`${connectionId}/**`] });
    const revision = await Promise.race([within(deadlineMs, 'a picture', complete), failed]);
    opened.socket.destroy();
    return { revision, values };
  }
});

function valueIn(message: number, parameter: number): number {
  return message * 1000 + parameter / 1000;
}
