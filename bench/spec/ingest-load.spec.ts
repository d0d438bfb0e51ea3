// The load of an ingest against servers that are right, and that are wrong in one way each.

import test from 'ava';
import { createApp, listen, type WebSocket } from '../../lib/net/uws.ts';
import { performTask } from '../../spec/support/system/task-process.ts';
import type { IngestTask } from '../load/ingest.ts';
import type { Measured } from '../load/measuring-window.ts';

type Take = (socket: WebSocket<unknown>, text: string, count: number) => void;

/** Runs the load against a server in this process that takes messages so; resolves to how many the load counted. */
async function loadOn(
  task: Pick<IngestTask, 'isHeard' | 'readsBack' | 'markAddress'>,
  take: Take,
  valueAfter = (last: string) => (JSON.parse(last) as { v: string }).v,
): Promise<number> {
  const app = createApp(undefined);
  let count = 0;
  let last = '';
  app.ws('/ws', {
    maxBackpressure: 64 * 1024 * 1024,
    message(socket, message) {
      const text = Buffer.from(message).toString();
      last = text;
      take(socket, text, ++count);
    },
  });
  app.get('/parameters/*', (response) => void response.end(valueAfter(last)));
  const { port } = listen(app, '127.0.0.1', 0);
  try {
    const { done } = await performTask<Measured>('bench/load/ingest.ts', {
      port,
      serverPid: process.pid,
      address: 'desk/level',
      ...task,
      warmUpMs: 10,
      measureMs: 50,
    } satisfies IngestTask);
    return done;
  } finally {
    app.close();
  }
}

const echo: Take = (socket, text) => void socket.send(text);
const keepSilent: Take = () => {};

test('every returned message counts', async (t) => {
  t.true((await loadOn({ isHeard: true, readsBack: true }, echo)) > 0);
});

test('every silently accepted message counts', async (t) => {
  t.true((await loadOn({ isHeard: false, readsBack: true }, keepSilent)) > 0);
});

test('a server that answers pings before it takes messages is credited only with the messages it took', async (t) => {
  let taken = 0;
  let most = 0;
  const takeLate: Take = (socket, text, count) => {
    most = Math.max(most, count - taken);
    if (!text.includes('desk/mark')) return;
    setTimeout(() => {
      taken = count;
      echo(socket, text, count);
    }, 5);
  };
  t.true((await loadOn({ isHeard: false, readsBack: false, markAddress: 'desk/mark' }, takeLate)) > 0);
  t.true(most > 512 && most < 2000, `${most} messages`);
});

test('a changed message fails the round', async (t) => {
  const wrong: Take = (socket, text, count) => echo(socket, count === 700 ? text.replace('99', '66') : text, count);
  await t.throwsAsync(loadOn({ isHeard: true, readsBack: false }, wrong), { message: /^socket 0, byte \d+: expected/ });
});

test('a message that is answered with an error fails the round', async (t) => {
  const wrong: Take = (socket, _, count) => count === 700 && void socket.send('{"error":"no"}');
  await t.throwsAsync(loadOn({ isHeard: false, readsBack: false }, wrong), {
    message: /^socket 0, byte \d+: expected .*, got ·+{"error":"no"}/,
  });
});

test('a final value other than the last written one fails the round', async (t) => {
  await t.throwsAsync(
    loadOn({ isHeard: false, readsBack: true }, keepSilent, () => 'none'),
    { message: /^expected desk\/level to be \d.* at last, got none$/ },
  );
});
