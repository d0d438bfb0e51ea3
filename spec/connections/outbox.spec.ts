// The outbox of webhooks and mail, in virtual time.

import test from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import { Outbox, type OutboxOptions, type Outcome } from '../../lib/connections/outbox.ts';
import { silentLog } from '../support/silent-log.ts';

test('a target is online or not before the connection reports the state that follows from it', (t) => {
  const scheduler = new VirtualTimeScheduler();
  const events: unknown[] = [];
  const outcomes: Outcome[] = [{ is: 'later', reason: 'no answer' }, { is: 'delivered' }];
  const options: OutboxOptions = {
    context: { scheduler, timeOfDay: () => 0, memory: undefined, log: silentLog, own: () => undefined },
    targets: new Map([['chat', { key: 'chat', name: 'chat.test' }]]),
    left: undefined,
    giveUpMs: 60_000,
    send: (_, done) => {
      done(outcomes.shift()!);
      return () => {};
    },
    emit: (event) => void events.push(event),
    random: () => 1,
  };
  const outbox = new Outbox(options);
  outbox.start();
  outbox.add('chat', 'hello');
  scheduler.flush();
  const shown = events.filter((event) => !JSON.stringify(event).includes('pending'));
  t.deepEqual(shown, [
    { state: 'running' },
    { set: 'chat/online', value: false },
    { state: 'degraded', reason: 'chat.test: no answer' },
    { set: 'chat/delivered', value: 0 },
    { set: 'chat/failed', value: 0 },
    { set: 'chat/dropped', value: 0 },
    { set: 'chat/online', value: true },
    { state: 'running' },
    { set: 'chat/delivered', value: 1 },
    { set: 'chat/failed', value: 0 },
    { set: 'chat/dropped', value: 0 },
  ]);
  outbox.stop();
});
