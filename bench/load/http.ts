// HTTP read load: keep-alive connections, each with a number of pipelined requests in flight; every byte of every response is compared.

import { connect, type Socket } from 'node:net';
import { Watch } from '../../spec/support/load/watch.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { keepApart } from './cores.ts';
import { type Measured, MeasuringWindow, type WindowTask } from './measuring-window.ts';
import { ExpectedAnswers } from './received/expected-answers.ts';

export interface HttpTask extends WindowTask {
  readonly port: number;
  readonly request: string;
  /** One complete response as expected, except for its Date. */
  readonly answer: string;
  readonly connections: number;
  readonly depth: number;
}

const stallMs = 5000;
const readBuffer = Buffer.allocUnsafeSlow(256 * 1024);

/** Measures the number of responses. */
await runTask(async (task: HttpTask): Promise<Measured> => {
  const { port, serverPid, depth, connections } = task;
  const { promise: done, resolve: finish } = Promise.withResolvers<Measured>();
  const watch = new Watch();
  const expected = new ExpectedAnswers(task.answer, depth);
  const requests = Buffer.from(task.request.repeat(depth));
  let answers = 0;
  let running = connections;

  const open = () =>
    openConnection(port, expected, depth, watch, (socket) => {
      answers += depth;
      window.look(answers);
      if (window.measured === undefined) socket.write(requests);
      else if (--running === 0) finish(window.measured);
    });
  const sockets = await Promise.all(Array.from({ length: connections }, open));
  keepApart(serverPid);
  const window = new MeasuringWindow(task);
  watch.failAtStandstill(
    stallMs,
    () => answers,
    () => `${answers} answers came`,
  );
  for (const socket of sockets) socket.write(requests);
  return watch.wait(done);
});

/** Opens a connection; calls `answered` when all responses of a round have arrived, to send the next. */
function openConnection(
  port: number,
  expected: ExpectedAnswers,
  depth: number,
  watch: Watch,
  answered: (socket: Socket) => void,
): Promise<Socket> {
  const roundBytes = expected.bytes * depth;
  let position = 0;
  const onRead = (length: number, chunk: Uint8Array): boolean => {
    if (!expected.matches(chunk as Buffer, length, position)) {
      const came = JSON.stringify((chunk as Buffer).toString('latin1', 0, Math.min(length, 300)));
      watch.fail(`expected the answer, from byte ${position % expected.bytes} on, got ${came}`);
    }
    position += length;
    if (position > roundBytes) watch.fail(`expected ${depth} answers, got more`);
    if (position < roundBytes) return true;
    position = 0;
    answered(socket);
    return true;
  };
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread: { buffer: readBuffer, callback: onRead } });
  socket.on('end', () => watch.fail('the server closed a connection that is kept alive'));
  return new Promise((resolve, reject) => {
    socket.on('connect', () => resolve(socket));
    socket.on('error', (error) => {
      reject(error);
      watch.fail(error.message);
    });
  });
}
