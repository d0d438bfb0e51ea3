// What a holder acknowledges it has told before, and it has held the lease after that.

import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { startProxy } from '../../../../bench/faults/proxy.ts';
import { Confirmation } from '../../../../lib/connections/nats/lease/confirmation.ts';
import { monotonicScheduler } from '../../../../lib/hub/scheduler.ts';
import { eventually } from '../../../support/deadline.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { connectClient } from '../../../support/sockets/client.ts';

needs('nats');

test('writes that wait share a renewal, which begins once all of them have been told', async (t) => {
  const done: string[] = [];
  let finish: (isHeld: boolean) => void = () => {};
  const lease = {
    confirm() {
      done.push('renew');
      return new Promise<boolean>((resolve) => {
        finish = resolve;
      });
    },
  };
  const confirmation = new Confirmation(lease, () => done.push('tell'), monotonicScheduler);
  const first = [confirmation.confirm(), confirmation.confirm()];
  await after(0);
  t.deepEqual(done, ['tell', 'renew']);
  const second = [confirmation.confirm(), confirmation.confirm(), confirmation.confirm()];
  await after(20);
  t.deepEqual(done, ['tell', 'renew'], 'one at a time');
  finish(true);
  t.deepEqual(await Promise.all(first), [true, true]);
  await after(20);
  t.deepEqual(done, ['tell', 'renew', 'tell', 'renew']);
  finish(false);
  t.deepEqual(await Promise.all(second), [false, false, false]);
  t.false(await confirmation.confirm(), 'nobody answers: it is not known after 2 s');
});

test('what the holder of a pair acknowledges is there after a takeover; while it is cut off it acknowledges nothing', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const link = await startProxy(nats.servers[0]!.port);
  t.teardown(() => link.end());
  const desk = { type: 'dummy', parameters: ['one,I,0', 'two,I,0', 'three,I,0'] };
  const start = (servers: readonly string[]) =>
    startTestHub(t, {
      connections: { house: { type: 'nats', servers, domain: 'd', hub: 'west', pair: true }, desk, api },
    });
  const main = await start([`nats://127.0.0.1:${link.port}`]);
  await eventually(() => main.duty.watch !== undefined);
  const standby = await start(nats.urls);
  await eventually(() => standby.find('desk/one')?.remote?.staleSince === undefined);
  const update = async (id: string, value: number) => {
    const answer = await fetch(`http://127.0.0.1:${main.port}/update?parameter=desk/${id}&value=${value}`);
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  const client = connectClient(t, main.port);
  await client.whenLive();
  let last = 0;
  const isCut = after(300).then(() => link.cut(['out', 'in']));
  for (let value = 1; ; value++) {
    const answers = await Promise.all([
      update('one', value),
      client.set('desk/two', value).catch((error: Error) => error.message),
      client.batch({ 'desk/three': value, 'desk/none': 1 }).catch((error: Error) => error.message),
    ]);
    if (answers[0] === '200 OK') {
      last = value;
      t.is(answers[1], undefined);
      t.regex(answers[2]!, /^desk\/none: unknown parameter/);
      continue;
    }
    const refusal = 'not confirmed, another hub may run it by now; it may have taken effect';
    t.is(answers[0], `503 desk/one: ${refusal}`);
    t.is(answers[1], `desk/two: ${refusal}`);
    t.regex(answers[2]!, new RegExp(`desk/three: ${refusal}`));
    break;
  }
  await isCut;
  t.true(last > 10, `${last} writes were acknowledged`);
  await eventually(() => standby.duty.watch?.term === 2);
  for (const id of ['one', 'two', 'three']) t.true((standby.find(`desk/${id}`)!.value as number) >= last, id);
  link.heal();
  await eventually(() => main.find('desk/one')?.remote?.staleSince === undefined && main.duty.watch === undefined);
});

test('where nobody takes over, answers wait for nothing', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = { type: 'nats', servers: nats.urls, domain: 'd' };
  const desk = { type: 'dummy', parameters: ['one,I,0'] };
  const alone = await startTestHub(t, { connections: { house: { ...house, hub: 'west' }, desk } });
  const bold = await startTestHub(t, {
    connections: { house: { ...house, hub: 'east', pair: true, isolated: 'go-on' }, shelf: desk },
  });
  await eventually(() => alone.duty.watch !== undefined && bold.duty.watch !== undefined);
  t.is(alone.duty.watch!.confirm, undefined);
  t.is(bold.duty.watch!.confirm, undefined);
});
