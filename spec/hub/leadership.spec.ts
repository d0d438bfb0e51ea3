// A gateway decides whether connections and rules run.

import test, { type ExecutionContext } from 'ava';
import { Observable, VirtualTimeScheduler } from 'rxjs';
import { z } from 'zod';
import { defineConnectionType, defineGatewayType } from '../../lib/connections/connection.ts';
import type { Leadership } from '../../lib/connections/mirroring.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { createDecider } from '../support/flow/decider.ts';
import { startTestHub, statusOf, writer } from '../support/hub.ts';

const flow = {
  connections: {
    decider: { type: 'decider' },
    desk: { type: 'dummy', parameters: ['in,I,0', 'out,I,0', 'started,I,0', 'late,I'], statusParameter: true },
    clock: { type: 'timer', timers: [1] },
  },
  rules: [
    { name: 'copies', from: 'desk/in', to: 'desk/out' },
    { name: 'counts starts', from: 'hub/started', map: "param('desk/started') + 1", to: 'desk/started' },
    { name: 'later', from: 'desk/in', pipe: [{ delay: 20 }], to: 'desk/late' },
    { name: 'starts', from: 'desk/in', atStart: true, map: '5', to: 'clock/timer/1/start' },
  ],
};

/** A hub with a gateway that holds everything back, and what the gateway decides by; its time stands still. */
async function startHeld(t: ExecutionContext) {
  let leadership: Leadership | undefined;
  const decider = createDecider((hub) => {
    leadership = hub.leadership;
  });
  const time = new VirtualTimeScheduler();
  const hub = await startTestHub(t, flow, {
    types: new Map([...connectionTypes, ['decider', decider]]),
    scheduler: time,
  });
  return { hub, leadership: leadership!, time };
}

test('nothing but gateways runs until one begins the work', async (t) => {
  const { hub, leadership } = await startHeld(t);
  t.is(leadership.term, undefined);
  t.like(statusOf(hub, 'desk'), { state: 'disabled', reason: 'waits for the decider' });
  t.like(hub.rules()[0], { enabled: false, state: 'disabled', reason: 'waits for the decider' });
  hub.write('desk/in', 1, writer);
  t.is(hub.find('desk/out')!.value, 0);
  t.throws(() => hub.control('desk', 'start', writer), { message: /"desk" is on hold: waits for the decider/ });

  leadership.begin({ number: 3, continues: false });
  t.is(leadership.term?.number, 3);
  t.is(statusOf(hub, 'desk').state, 'running');
  t.is(hub.find('desk/started')!.value, 1);
  t.not(hub.find('clock/timer/1/start')!.value, undefined, 'a rule runs at the start');
  hub.write('desk/in', 2, writer);
  t.is(hub.find('desk/out')!.value, 2);
});

test('a hub that continues with earlier values starts no rule by that', async (t) => {
  const { hub, leadership } = await startHeld(t);
  hub.write('desk/in', 7, writer);
  leadership.begin({ number: 1, continues: true });
  t.is(hub.find('desk/out')!.value, 0);
  t.is(hub.find('desk/started')!.value, 0);
  t.is(hub.find('clock/timer/1/start')!.value, undefined);
  t.true(hub.find('desk/_status/connected')!.value);
});

test('after the deadline nothing is written: neither by late work, nor by a new turn', async (t) => {
  const { hub, leadership, time } = await startHeld(t);
  let isOver = false;
  let asked = 0;
  const mayAct = () => {
    asked++;
    if (isOver && leadership.term !== undefined) void leadership.end('its time has expired');
    return !isOver;
  };
  leadership.begin({ number: 1, continues: true, mayAct });
  hub.write('desk/in', 1, writer);
  t.is(hub.find('desk/out')!.value, 1);
  t.true(asked > 0);
  isOver = true;
  hub.write('desk/in', 2, writer);
  t.is(hub.find('desk/out')!.value, 1, 'the rule had ended before the turn');
  t.like(statusOf(hub, 'desk'), { state: 'disabled', reason: 'its time has expired' });
  time.flush();
  t.is(hub.find('desk/late')!.value, undefined, 'what a rule had delayed is gone');

  isOver = false;
  leadership.begin({ number: 1, continues: true, mayAct });
  hub.write('desk/in', 3, writer);
  t.is(hub.find('desk/out')!.value, 3);
});

test('single connections are held back, while rules and all others run', async (t) => {
  const { hub, leadership } = await startHeld(t);
  leadership.begin({ number: 1, continues: true });
  leadership.holdBack(new Map([['desk', 'hub "b" has it']]));
  t.like(statusOf(hub, 'desk'), { state: 'failed', reason: 'hub "b" has it' });
  t.is(statusOf(hub, 'clock').state, 'running');
  t.throws(() => hub.control('desk', 'restart', writer), { message: /"desk" is on hold: hub "b" has it/ });
  await hub.reload();
  t.is(statusOf(hub, 'desk').state, 'failed');
  leadership.holdBack(new Map());
  t.is(statusOf(hub, 'desk').state, 'running');
});

/** A connection that runs, and does something once it is stopped. */
function runUntil(stopped: () => void): Observable<{ state: 'running' }> {
  return new Observable((subscriber) => {
    subscriber.next({ state: 'running' });
    return stopped;
  });
}

test('the last to end its work waits for those that are stopped after it', async (t) => {
  const ended: string[] = [];
  const save = Promise.withResolvers<void>();
  const settingsSchema = z.strictObject({});
  const parameters = () => [];
  const decider = defineGatewayType({
    type: 'decider',
    isExternal: true,
    settingsSchema,
    parameters,
    run: ({ finish }, hub) =>
      runUntil(() => finish(hub.leadership.end('the hub stops').then(() => ended.push('the work')))),
  });
  const saver = defineConnectionType({
    type: 'saver',
    isExternal: true,
    settingsSchema,
    parameters,
    run: ({ finish }) => runUntil(() => finish(save.promise.then(() => ended.push('a save')))),
  });
  const types = new Map([...connectionTypes, ['decider', decider], ['saver', saver]]);
  const connections = { decider: { type: 'decider' }, desk: { type: 'saver' } };
  const hub = await startTestHub(t, { connections }, { types });
  const stopped = hub.stop();
  await new Promise(setImmediate);
  save.resolve();
  await stopped;
  t.deepEqual(ended, ['a save', 'the work']);
});
