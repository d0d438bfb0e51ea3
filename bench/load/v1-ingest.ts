// patchbay.v1 ingest load: one socket sends `set` messages, each of which is a turn, as fast as they are acknowledged, with several in
// flight. At the end the hub must hold the last values and have counted every change.

import { connectionId, parameterIdOf } from '../../spec/support/load/many-parameters.ts';
import { PictureReader } from '../../spec/support/load/picture.ts';
import { openV1Socket } from '../../spec/support/load/v1-socket.ts';
import { Watch } from '../../spec/support/load/watch.ts';
import { encodeClientText } from '../../spec/support/load/web-socket.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { keepApart } from './cores.ts';
import { type Measured, MeasuringWindow, type WindowTask } from './measuring-window.ts';

export interface V1IngestTask extends WindowTask {
  readonly port: number;
  /** Number of parameters; each message sets all of them. */
  readonly parameters: number;
  /** Whether messages name parameters by id instead of by address. */
  readonly isById: boolean;
}

const messagesUnderWay = 8;
const differentMessages = 32;
const deadlineMs = 10_000;

/** Measures the number of acknowledged changes. */
await runTask(async (task: V1IngestTask): Promise<Measured> => {
  const { port, parameters } = task;
  const reader = new PictureReader();
  const watch = new Watch();
  const before = await takePicture(port, parameters, reader, watch);
  const { measured, messages } = await sendMessages(task, reader, watch);
  const { revision, values } = await takePicture(port, parameters, reader, watch);
  const changes = messages * parameters;
  if (revision - before.revision !== changes)
    throw new Error(`expected ${changes} changes, the hub counted ${revision - before.revision}`);
  const last = (messages - 1) % differentMessages;
  const wrong = values.findIndex((value, parameter) => value !== valueIn(last, parameter));
  if (wrong >= 0) throw new Error(`parameter ${wrong} is ${values[wrong]}, expected the last value that was sent`);
  return { ...measured, done: measured.done * parameters };
});

/** Sends until everything sent within the window has been acknowledged; resolves to the measurement and the number of messages. */
async function sendMessages(
  task: V1IngestTask,
  reader: PictureReader,
  watch: Watch,
): Promise<{ readonly measured: Measured; readonly messages: number }> {
  const { port, serverPid, warmUpMs, measureMs } = task;
  const { promise: done, resolve: finish } = Promise.withResolvers<Measured>();
  const frames = framesOf(task, reader);
  let sent = 0;
  let taken = 0;

  const send = () => {
    for (; window.measured === undefined && sent - taken < messagesUnderWay; sent++)
      socket.write(frames[sent % differentMessages]!);
  };
  const onText = (payload: Buffer) => {
    const { ack } = reader.cache.parsedAt(reader.cache.find(payload, 0));
    if (ack === undefined) return; // hello
    if (ack !== taken % differentMessages) throw new Error(`expected ack ${taken % differentMessages}, got ${ack}`);
    window.look(++taken);
    if (window.measured !== undefined && taken === sent) finish(window.measured);
    else send();
  };
  const { socket } = await openV1Socket(port, onText, watch.fail);
  keepApart(serverPid);
  const window = new MeasuringWindow(task);
  send();
  const measured = await watch.within(done, 'all acknowledgements', warmUpMs + measureMs + deadlineMs);
  return { measured, messages: sent };
}

/** The messages that are sent in rotation, each with different values. */
function framesOf({ parameters, isById }: V1IngestTask, reader: PictureReader): readonly Buffer[] {
  return Array.from({ length: differentMessages }, (_, index) => {
    const set = Array.from({ length: parameters }, (_, parameter) => [
      isById ? reader.idOf(parameter) : `${connectionId}/${parameterIdOf(parameter)}`,
      valueIn(index, parameter),
    ]);
    return encodeClientText(JSON.stringify({ set, ack: index }));
  });
}

/** Reads the hub's values and revision through a separate socket that subscribes to all parameters. */
async function takePicture(
  port: number,
  parameters: number,
  reader: PictureReader,
  watch: Watch,
): Promise<{ readonly revision: number; readonly values: Float64Array }> {
  const values = new Float64Array(parameters);
  const { promise: complete, resolve } = Promise.withResolvers<number>();
  const onText = (payload: Buffer) => {
    const message = reader.cache.parsedAt(reader.cache.find(payload, 0));
    for (const [index, parameter] of message.parameters.entries()) values[parameter] = message.values[index]!;
    if (message.end !== undefined) resolve(message.rev!);
  };
  const { socket, send } = await openV1Socket(port, onText, watch.fail);
  send({ sub: 1, include: [`${connectionId}/**`] });
  const revision = await watch.within(complete, 'a picture', deadlineMs);
  socket.destroy();
  return { revision, values };
}

function valueIn(message: number, parameter: number): number {
  return message * 1000 + parameter / 1000;
}
