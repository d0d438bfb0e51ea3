// Load of an HTTP read: connections that are kept alive, each with a number of requests under way; every byte of every
// answer is compared.

import { connect, type Socket } from 'node:net';
import { busyMsOfAll } from '../load/busy-time.ts';
import { keepApart } from '../load/cores.ts';
import { ExpectedAnswers } from '../load/expected-answers.ts';
import { runTask } from './task.ts';

export interface HttpTask {
  readonly port: number;
  readonly serverPid: number;
  readonly request: string;
  /** One whole answer as it must come, but for its Date. */
  readonly answer: string;
  readonly connections: number;
  readonly depth: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface HttpResult {
  readonly answers: number;
  readonly elapsedMs: number;
  readonly serverBusyMs: number;
}

const stallMs = 5000;

await runTask(async (task: HttpTask) => {
  const { port, serverPid, depth, warmUpMs, measureMs } = task;
  const requests = Buffer.from(task.request.repeat(depth));
  const expected = new ExpectedAnswers(task.answer, depth);
  const roundBytes = expected.bytes * depth;
  const readBuffer = Buffer.allocUnsafeSlow(256 * 1024);
  const { promise: done, resolve: finish, reject: fail } = Promise.withResolvers<HttpResult>();
  let answers = 0;
  let running = task.connections;
  let start: { at: number; busy: number; answers: number } | undefined;
  let result: HttpResult | undefined;

  /** Takes the time; false once the measurement is over. */
  const goOn = (): boolean => {
    const now = performance.now();
    if (start === undefined) {
      if (now - startedAt >= warmUpMs) start = { at: now, busy: busyMsOfAll(serverPid), answers };
    } else if (result === undefined && now - start.at >= measureMs)
      result = {
        answers: answers - start.answers,
        elapsedMs: now - start.at,
        serverBusyMs: busyMsOfAll(serverPid) - start.busy,
      };
    return result === undefined;
  };

  const open = (): Promise<Socket> =>
    new Promise((resolve) => {
      let position = 0;
      const onRead = (length: number, chunk: Uint8Array): boolean => {
        if (!expected.matches(chunk as Buffer, length, position)) {
          const came = JSON.stringify((chunk as Buffer).toString('latin1', 0, Math.min(length, 300)));
          fail(new Error(`expected the answer, from byte ${position % expected.bytes} on, got ${came}`));
        }
        position += length;
        if (position < roundBytes) return true;
        if (position > roundBytes) fail(new Error(`expected ${depth} answers, got more`));
        position = 0;
        answers += depth;
        if (goOn()) socket.write(requests);
        else if (--running === 0) finish(result!);
        return true;
      };
      const socket = connect({
        host: '127.0.0.1',
        port,
        noDelay: true,
        onread: { buffer: readBuffer, callback: onRead },
      });
      socket.on('connect', () => resolve(socket));
      socket.on('error', fail);
      socket.on('end', () => fail(new Error('the server closed a connection that is kept alive')));
    });

  const sockets = await Promise.all(Array.from({ length: task.connections }, open));
  keepApart(serverPid);
  const startedAt = performance.now();
  let seen = -1;
  const stall = setInterval(() => {
    if (answers === seen) fail(new Error(`stalled for ${stallMs} ms after ${answers} answers`));
    seen = answers;
  }, stallMs);
  for (const socket of sockets) socket.write(requests);
  return done.finally(() => clearInterval(stall));
});
