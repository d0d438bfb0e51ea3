// A pair whose store is in one folder: who takes over finds there what the other one has had under way, however that one ended.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { deadlineMs, eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { type HubUnderTest, startHubFrom, statusOf, writer } from '../../../support/hub.ts';
import { startNats } from '../../../support/nats/servers.ts';
import { needs } from '../../../support/programs.ts';
import { start } from '../../../support/system/process.ts';

needs('nats');

const store = { type: 'store', shared: true };
const desk = { type: 'dummy', parameters: ['lamp,B,false', 'rang1,I,0', 'rang2,I,0', 'starts,I,0'] };
const rules = [
  ...[1, 2].map((n) => ({ from: `clock/timer/${n}/trigger`, map: `param('desk/rang${n}') + 1`, to: `desk/rang${n}` })),
  { from: 'hub/started', map: "param('desk/starts') + 1", to: 'desk/starts' },
];

const runs = (hub: HubUnderTest) => hub.leadership.term !== undefined && statusOf(hub, 'clock').state === 'running';
const values = (hub: HubUnderTest) => ['lamp', 'rang1', 'rang2', 'starts'].map((id) => hub.find(`desk/${id}`)?.value);

/** Whether a write was acknowledged: on a busy machine the owner may be stale at the moment, or answer late. */
async function isWritten(hub: HubUnderTest, address: string, input: unknown): Promise<boolean> {
  const parameter = hub.find(address)!;
  if (parameter.remote === undefined) return hub.writeTo(parameter, input, writer) !== undefined;
  const [report] = await hub.writeRemote(parameter.remote, [{ parameter, input }], writer);
  return !(report instanceof Error);
}

test('the other hub of a pair continues with the values and timers after a kill, then after an end', async (t) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const data = await createFolder(t, {});
  const house = { type: 'nats', servers: nats.urls, domain: 'd', hub: 'west', pair: true };
  const flow = {
    connections: { house, store: { ...store, folder: data }, desk, clock: { type: 'timer' } },
    rules,
  };
  const path = join(await createFolder(t, { 'flow.json5': flow }), 'flow.json5');
  const main = start(t, ['run', path]);
  await main.shows(/running the connections and rules of .*, term 1/);

  const standby = await startHubFrom(t, { 'flow.json5': flow });
  await eventually(() => standby.find('desk/starts')?.value === 1 && standby.find('desk/lamp')?.remote !== undefined);
  t.like(statusOf(standby, 'store'), { state: 'disabled' });
  t.regex(statusOf(standby, 'store').reason, /^standby of /);
  const beganAt = Date.now();
  await eventually(() => isWritten(standby, 'clock/timer/1/start', 6000), 'the timer runs');
  await eventually(() => isWritten(standby, 'desk/lamp', true), 'the lamp is on');
  const isKept = () => {
    const database = new DatabaseSync(join(data, 'values.db'), { readOnly: true, timeout: deadlineMs });
    const count = (table: string) => database.prepare(`SELECT * FROM ${table}`).all().length;
    const found = count('under_way') > 0 && count('parameter') > 1;
    database.close();
    return found;
  };
  await eventually(() => existsSync(join(data, 'values.db')), 'the store is open');
  await eventually(isKept, 'what is under way is on the disk');
  main.process.kill('SIGKILL');
  await eventually(() => runs(standby));
  await eventually(() => standby.find('desk/rang1')?.value === 1, 'the timer ends');
  t.not(statusOf(standby, 'store').state, 'disabled');
  t.true(Date.now() >= beganAt + 5500);
  t.deepEqual(values(standby), [true, 1, 0, 1]);

  const third = await startHubFrom(t, { 'flow.json5': flow });
  await eventually(() => third.find('desk/rang1')?.value === 1 && third.find('desk/lamp')?.remote !== undefined);
  await eventually(() => isWritten(standby, 'clock/timer/2/start', 1500), 'the timer runs');
  await standby.stop();
  await eventually(() => third.find('desk/rang2')?.value === 1, 'the timer ends');
  t.deepEqual(values(third), [true, 1, 1, 1]);
  await third.stop();

  const last = await startHubFrom(t, { 'flow.json5': flow });
  await eventually(() => last.find('desk/starts')?.value === 2, 'none was there: it starts with what is kept');
  t.deepEqual(values(last), [true, 1, 1, 2]);
});
