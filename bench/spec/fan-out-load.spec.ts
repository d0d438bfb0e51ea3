// The load against relays that are wrong in one way each: what is lost, doubled, changed or out of order fails the round.

import test from 'ava';
import { createApp, listen, type TemplatedApp } from '../../lib/net/uws.ts';
import { performTask } from '../../spec/support/system/task-process.ts';
import type { FanOutTask } from '../load/fan-out.ts';
import type { Measured } from '../load/measuring-window.ts';

type Relay = (app: TemplatedApp, text: string, count: number) => void;

const publish = (app: TemplatedApp, text: string) => void app.publish('all', text);

/** Runs the load against a relay in this process; resolves to how many changes it counted. */
async function loadOn(relay: Relay): Promise<number> {
  const app = createApp(undefined);
  let count = 0;
  app.ws('/ws', {
    open: (socket) => void socket.subscribe('all'),
    message: (_, message) => relay(app, Buffer.from(message).toString(), ++count),
  });
  const { port } = listen(app, '127.0.0.1', 0);
  const task: FanOutTask = {
    port,
    serverPid: process.pid,
    dialect: 'plain',
    address: 'desk/level',
    sockets: 5,
    window: 16,
    warmUpMs: 10,
    measureMs: 50,
  };
  try {
    return (await performTask<Measured>('bench/load/fan-out.ts', task)).done;
  } finally {
    app.close();
  }
}

test('every change of a right relay counts', async (t) => {
  const changes = await loadOn(publish);
  t.true(changes > 0);
  t.is(changes % 8, 0); // whole batches, half a window each
});

const wrong: Record<string, { relay: Relay; says: RegExp }> = {
  'a change that is left out': {
    relay: (app, text, count) => count !== 20 && publish(app, text),
    says: /^socket \d, byte \d+: expected ·{"p":"desk\/level","v":"0\.019"}.*, got ·{"p":"desk\/level","v":"0\.02"}/,
  },
  'a change that comes twice': {
    relay: (app, text, count) => {
      publish(app, text);
      if (count === 20) publish(app, text);
    },
    says: /^socket \d, byte \d+: expected/,
  },
  'a value that is changed': {
    relay: (app, text, count) => publish(app, count === 20 ? text.replace('0.019', '0.091') : text),
    says: /^socket \d, byte \d+: expected 19"}.*, got 91"}/,
  },
  'two changes that are swapped': {
    relay: (() => {
      let kept = '';
      return (app: TemplatedApp, text: string, count: number) => {
        if (count === 20) kept = text;
        else publish(app, text);
        if (count === 21) publish(app, kept);
      };
    })(),
    says: /^socket \d, byte \d+: expected/,
  },
};

for (const [name, { relay, says }] of Object.entries(wrong))
  test(`${name} fails the round`, async (t) => {
    await t.throwsAsync(loadOn(relay), { message: says });
  });
