// What the desk remembers of requests is bounded, and nothing is written twice because of that.

import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { maxAnswerLength, WriteDesk } from '../../../../lib/connections/nats/sharing/write-desk.ts';
import type { WriteAnswer } from '../../../../lib/connections/nats/wire/messages.ts';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

test('what is not confirmed is refused, also when it is asked for again, and what is asked for again waits as well', async (t) => {
  const time = new Time();
  const west = new JoinedHub('west', time, new LossyNetwork(time, () => 0.5).transportOf('west'));
  west.declare({ id: 'lamp', type: 'I', access: 'read-write' });
  const confirming: ((isConfirmed: boolean) => void)[] = [];
  const desk = new WriteDesk({
    hub: west.hub,
    isShared: () => true,
    isOwn: () => true,
    scheduler: time,
    tell: () => {},
    confirm: () =>
      new Promise((resolve) => {
        confirming.push(resolve);
      }),
  });
  const answers: unknown[] = [];
  const ask = (number: number, value: number) =>
    desk.take({
      subject: '',
      data: Buffer.from(
        JSON.stringify({
          ...{ hub: 'east', run: 'r', number, epoch: 'e', by: ['client', 'spec'], hop: 1, why: [] },
          items: [['west/lamp', value]],
        }),
      ),
      reply: (data) => answers.push((JSON.parse(String(data)) as WriteAnswer).results[0]),
    });
  ask(1, 5);
  ask(1, 5);
  await Promise.resolve();
  t.deepEqual(answers, []);
  t.is(confirming.length, 1);
  confirming[0]!(true);
  await after(0);
  t.deepEqual(answers.splice(0), [{ v: 5 }, { v: 5 }]);
  ask(2, 6);
  confirming[1]!(false);
  await after(0);
  ask(2, 6);
  await after(0);
  const message = 'west/lamp: not confirmed, its hub may run it no longer; it may have taken effect';
  t.deepEqual(answers, Array(2).fill({ code: 'unavailable', message }));
  west.stop();
});

test('a request whose answer is known no longer is not carried out again', (t) => {
  const time = new Time();
  const west = new JoinedHub('west', time, new LossyNetwork(time, () => 0.5).transportOf('west'));
  west.declare({ id: 'bell', type: 'T', access: 'read-write' }, { id: 'text', type: 'S', access: 'read-write' });
  let fires = 0;
  west.graph.find('west/bell')!.subscribe(() => {
    fires++;
  });
  const desk = new WriteDesk({
    hub: west.hub,
    isShared: () => true,
    isOwn: () => true,
    scheduler: time,
    tell: () => {},
    confirm: undefined,
  });
  const ask = (number: number, items: readonly unknown[]): WriteAnswer['results'] => {
    const request = { hub: 'east', run: 'r', number, epoch: 'e', by: ['client', 'spec'], hop: 1, why: [], items };
    let answer = '';
    desk.take({
      subject: '',
      data: Buffer.from(JSON.stringify(request)),
      reply: (data) => {
        answer = String(data);
      },
    });
    return (JSON.parse(answer) as WriteAnswer).results;
  };
  const bell = ['west/bell', 1];
  t.deepEqual(ask(0, [bell]), [{ v: 1 }]);
  t.deepEqual(ask(0, [bell]), [{ v: 1 }]);
  const long = ['west/text', 'x'.repeat(65_000)];
  const items = Array.from({ length: 10 }, () => long);
  for (let number = 1; number < maxAnswerLength / 650_000 + 2; number++) ask(number, items);
  t.deepEqual(ask(0, [bell]), [
    {
      code: 'unavailable',
      message: 'west/bell: not confirmed, its hub knows the answer no longer; it may have taken effect',
    },
  ]);
  t.is(fires, 1);
  west.stop();
});
