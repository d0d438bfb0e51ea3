// What the desk remembers of requests is bounded, and nothing is written twice because of that.

import test from 'ava';
import { maxAnswerLength, WriteDesk } from '../../../../lib/connections/nats/sharing/write-desk.ts';
import type { WriteAnswer } from '../../../../lib/connections/nats/wire/messages.ts';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

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
