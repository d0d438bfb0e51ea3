// What the desk remembers of requests is bounded, and nothing is written twice because of that.

import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { maxAnswerLength, RemoteWriteHandler } from '../../../../lib/connections/nats/sharing/remote-write-handler.ts';
import type { WriteAnswer } from '../../../../lib/connections/nats/wire/domain-messages.ts';
import type { ParameterDeclaration } from '../../../../lib/model/parameter.ts';
import { JoinedHub } from '../support/joined-hub.ts';
import { LossyNetwork } from '../support/lossy-network.ts';
import { Time } from '../support/time.ts';

/** The desk of a hub, and what asks it: `answered` hears of each answer. */
function openDesk(confirm: (() => Promise<boolean>) | undefined, ...declarations: readonly ParameterDeclaration[]) {
  const time = new Time();
  const west = new JoinedHub('west', time, new LossyNetwork(time, () => 0.5).transportOf('west'));
  west.declare(...declarations);
  const own = { isShared: () => true, isOwn: () => true, scheduler: time, notify: () => {} };
  const remoteWrites = new RemoteWriteHandler({ hub: west.hub, ...own, confirm });
  const ask = (
    number: number,
    items: readonly unknown[],
    answered: (results: WriteAnswer['results']) => void,
    asked = time.now(),
  ) => {
    const request = {
      hub: 'east',
      run: 'r',
      number,
      epoch: 'e',
      asked,
      by: ['client', 'spec'],
      hop: 1,
      why: [],
      items,
    };
    const reply = (data: Uint8Array | string) => answered((JSON.parse(String(data)) as WriteAnswer).results);
    remoteWrites.take({ subject: '', data: Buffer.from(JSON.stringify(request)), reply });
  };
  return { time, west, ask };
}

test('unconfirmed writes are refused, also when they are repeated, and repeated ones wait as well', async (t) => {
  const confirming: ((isConfirmed: boolean) => void)[] = [];
  const confirm = () =>
    new Promise<boolean>((resolve) => {
      confirming.push(resolve);
    });
  const lamp = { id: 'lamp', type: 'I', access: 'read-write' } as const;
  const { west, ask: askDesk } = openDesk(confirm, lamp);
  const answers: unknown[] = [];
  const ask = (number: number, value: number) =>
    askDesk(number, [['west/lamp', value]], ([result]) => answers.push(result));
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
  const message = 'west/lamp: not confirmed, its hub may no longer run the connection; the write may have taken effect';
  t.deepEqual(answers, Array(2).fill({ code: 'unavailable', message }));
  west.stop();
});

test('a request whose answer is forgotten is not executed again', (t) => {
  const { west, ask: askDesk } = openDesk(
    undefined,
    { id: 'bell', type: 'T', access: 'read-write' },
    { id: 'text', type: 'S', access: 'read-write' },
  );
  let fires = 0;
  west.graph.find('west/bell')!.subscribe(() => {
    fires++;
  });
  const ask = (number: number, items: readonly unknown[]): WriteAnswer['results'] => {
    let answer: WriteAnswer['results'] = [];
    askDesk(number, items, (results) => {
      answer = results;
    });
    return answer;
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
      message: 'west/bell: not confirmed, its hub no longer knows the answer; the write may have taken effect',
    },
  ]);
  t.is(fires, 1);
  west.stop();
});

test('a request that arrives too late is not executed, and an executed one is answered as before', async (t) => {
  const { time, west, ask: askDesk } = openDesk(undefined, { id: 'lamp', type: 'I', access: 'read-write' });
  const answers: unknown[] = [];
  const ask = (number: number, askedMs: number) =>
    askDesk(number, [['west/lamp', number]], ([result]) => answers.push(result), askedMs);
  await time.run(5000);
  ask(1, 3000);
  ask(2, 2999);
  await time.run(6000);
  ask(1, 3000);
  const late = { code: 'unavailable', message: 'west/lamp: not written: the request arrived too late' };
  t.deepEqual(answers, [{ v: 1 }, late, { v: 1 }]);
  t.is(west.graph.find('west/lamp')!.value, 1);
  west.stop();
});
