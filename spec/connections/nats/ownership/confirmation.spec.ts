// What a holder acknowledges it has told before, and it has held the lease after that.

import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { Confirmation } from '../../../../lib/connections/nats/ownership/decide-ownership.ts';
import { monotonicScheduler } from '../../../../lib/hub/scheduler.ts';
import { eventually } from '../../../support/deadline.ts';
import { api, confirmed, type HubUnderTest, startTestHub } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { connectClient } from '../../../support/sockets/client.ts';
import { idleTimeOf } from '../../../support/system/machine.ts';
import { startProxy } from '../../../trials/domain/proxy.ts';

needs('nats');

/** A holder that is so busy that it has stopped at its fence, and goes on later. */
const paused = /: no hub currently runs the connections of "west"/;

test('waiting writes share a renewal, which begins once all of them have been sent', async (t) => {
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
  let isReported = true;
  const notifyAll = async () => {
    done.push('tell');
    return isReported;
  };
  const confirmation = new Confirmation(lease, notifyAll, monotonicScheduler);
  const first = [confirmation.confirm(), confirmation.confirm()];
  await after(0);
  t.deepEqual(done, ['tell', 'renew']);
  const second = [confirmation.confirm(), confirmation.confirm(), confirmation.confirm()];
  await after(20);
  t.deepEqual(done, ['tell', 'renew'], 'one at a time');
  finish(true);
  t.deepEqual(await Promise.all(first), [true, true]);
  await after(30);
  t.deepEqual(done, ['tell', 'renew', 'tell', 'renew']);
  finish(false);
  t.deepEqual(await Promise.all(second), [false, false, false]);
  isReported = false;
  const third = confirmation.confirm();
  t.false(await third, 'who stands by has not got it');
  isReported = true;
  const ms = await idleTimeOf(async () => {
    const fourth = confirmation.confirm();
    await after(30);
    t.deepEqual(await Promise.all([fourth, confirmation.confirm()]), [false, false], 'nobody answers');
  });
  t.true(ms < 3000, `both have waited for 2 s, not ${Math.round(ms)} ms`);
});

test('writes acknowledged by the holder of a pair exist after a takeover; an isolated holder acknowledges nothing', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const link = await startProxy(nats.servers[0]!.port);
  t.teardown(() => link.end());
  const copies = Array.from({ length: 20 }, (_, index) => `copy/${index}`);
  const parameters = ['one,I,0', 'two,I,0', 'three,I,0', 'text,S', ...copies.map((id) => `${id},S`)];
  const desk = { type: 'dummy', parameters };
  const rules = [{ name: 'copies', from: 'desk/text', to: copies.map((id) => `desk/${id}`) }];
  const start = (servers: readonly string[]) =>
    startTestHub(t, {
      connections: { house: { type: 'nats', servers, domain: 'd', hub: 'west', pair: true }, desk, api },
      rules,
    });
  const main = await start([`nats://127.0.0.1:${link.port}`]);
  await eventually(() => main.leadership.term !== undefined);
  const standby = await start(nats.urls);
  await eventually(() => isMirrored(standby));
  const update = async (id: string, value: number) => {
    const answer = await fetch(`http://127.0.0.1:${main.port}/update?parameter=desk/${id}&value=${value}`);
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  const client = connectClient(t, main.port);
  await client.whenLive();
  const messageOf = (error: Error) => error.message;
  const text = 'x'.repeat(60_000);
  const isWritten = async () => {
    const reason = await confirmed(() => client.set('desk/text', text)).then(() => '', messageOf);
    if (reason !== '') t.regex(reason, paused);
    return reason === '';
  };
  await eventually(isWritten, 'the text is acknowledged');
  t.is(standby.find('desk/copy/19')!.value, text, 'a turn that is too long for a message has come as well');
  const refusal = 'not confirmed, another hub may run the connection by now; the write may have taken effect';
  let acknowledged = 0;
  let isCut = false;
  /** Writes until it is refused, as it is cut off and not as the machine is busy; returns the last value that was acknowledged. */
  const writeOn = async (id: string, write: (value: number) => Promise<string>) => {
    let last = 0;
    for (let value = 1; ; value++) {
      const answer = await write(value);
      if (answer !== '') {
        if (!isCut && paused.test(answer)) continue;
        t.regex(answer, new RegExp(`desk/${id}: ${refusal}`));
        if (isCut) return last;
        continue;
      }
      t.true((standby.find(`desk/${id}`)!.value as number) >= value, 'who stands by has what was acknowledged');
      last = value;
      acknowledged++;
    }
  };
  const writing = Promise.all([
    writeOn('one', async (value) => (await update('one', value)).replace('200 OK', '')),
    writeOn('two', (value) => client.set('desk/two', value).then(() => '', messageOf)),
    writeOn('three', async (value) => {
      const report = await client.batch({ 'desk/three': value, 'desk/none': 1 }).then(() => '', messageOf);
      t.regex(report, /desk\/none: unknown parameter/);
      return report.includes('desk/three') ? report : '';
    }),
  ]);
  await eventually(() => acknowledged >= 50);
  isCut = true;
  link.cut(['out', 'in']);
  const last = await writing;
  await eventually(() => standby.leadership.term !== undefined, 'it takes over');
  for (const [index, id] of ['one', 'two', 'three'].entries())
    t.true((standby.find(`desk/${id}`)!.value as number) >= last[index]!, id);
  link.heal();
  await eventually(() => isMirrored(main) && main.leadership.term === undefined);
});

function isMirrored(hub: HubUnderTest): boolean {
  const remote = hub.find('desk/one')?.remote;
  return remote !== undefined && remote.staleSince === undefined;
}

test('without a takeover, answers wait for nothing', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const house = { type: 'nats', servers: nats.urls, domain: 'd' };
  const desk = { type: 'dummy', parameters: ['one,I,0'] };
  const alone = await startTestHub(t, { connections: { house: { ...house, hub: 'west' }, desk } });
  const bold = await startTestHub(t, {
    connections: { house: { ...house, hub: 'east', pair: true, isolated: 'go-on' }, shelf: desk },
  });
  await eventually(() => alone.leadership.term !== undefined && bold.leadership.term !== undefined);
  t.is(alone.leadership.term!.confirm, undefined);
  t.is(bold.leadership.term!.confirm, undefined);
});
