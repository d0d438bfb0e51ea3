// The list of alarms: the most urgent first, and only those that the user may read.

import test, { type ExecutionContext } from 'ava';
import type { AlarmList } from '../../../../lib/wire/http/alarm-shapes.ts';
import { ask } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';

const users = {
  all: { token: 'all', read: ['**'] },
  one: { token: 'one', read: ['alarm/low/**'] },
};
const connections = {
  api: { ...api, users },
  desk: { type: 'dummy', parameters: ['a,B,false', 'b,B,false', 'c,B'] },
  alarm: {
    type: 'alarms',
    alarms: {
      low: { when: 'desk/a', priority: 5 },
      high: { when: 'desk/b', priority: 1, text: 'Silence on air' },
      unknown: { when: 'desk/c' },
    },
  },
};

async function listed(t: ExecutionContext, hub: HubUnderTest, token = 'all', query = ''): Promise<AlarmList> {
  const headers = { authorization: `Bearer ${token}` };
  const { status, text } = await ask(t, hub.port, `GET /hub/alarms${query}`, { headers });
  t.is(status, 200, text);
  return JSON.parse(text);
}
const states = ({ alarms }: AlarmList) => alarms.map(({ address, state }) => `${address} ${state}`);

test('alarms are listed by urgency, with text, priority and time; shelved ones are last and not counted', async (t) => {
  const hub = await startTestHub(t, { connections });
  t.deepEqual(await listed(t, hub), { count: 3, active: 0, unacknowledged: 0, shelved: 0, alarms: [] });
  hub.write('desk/a', true, writer);
  hub.write('desk/b', true, writer);
  const both = await listed(t, hub);
  t.deepEqual(states(both), ['alarm/high unacknowledged', 'alarm/low unacknowledged']);
  t.like(both.alarms[0], { text: 'Silence on air', priority: 1, shelved: false });
  t.like(both.alarms[1], { text: 'low', priority: 5 });
  t.true(Math.abs(Date.parse(both.alarms[0]!.since!) - Date.now()) < 60_000);

  hub.write('alarm/high/ack', true, writer);
  hub.write('desk/a', false, writer);
  t.deepEqual(states(await listed(t, hub)), ['alarm/low returned', 'alarm/high acknowledged']);
  t.like(await listed(t, hub), { active: 1, unacknowledged: 1, shelved: 0 });

  hub.write('alarm/low/shelve', 3_600_000, writer);
  const shelved = await listed(t, hub);
  t.deepEqual(states(shelved), ['alarm/high acknowledged', 'alarm/low returned']);
  t.like(shelved, { count: 3, active: 1, unacknowledged: 0, shelved: 1 });
  const untilMs = Date.parse(shelved.alarms[1]!.shelvedUntil!) - Date.now();
  t.true(untilMs > 3_500_000 && untilMs <= 3_600_000, `${untilMs} ms`);
});

test('a user sees the alarms that it may read, and with which=all also those that are not present', async (t) => {
  const hub = await startTestHub(t, { connections });
  hub.write('desk/b', true, writer);
  t.deepEqual(states(await listed(t, hub, 'all', '?which=all')), [
    'alarm/high unacknowledged',
    'alarm/unknown unknown',
    'alarm/low normal',
  ]);
  const own = await listed(t, hub, 'one', '?which=all');
  t.deepEqual(states(own), ['alarm/low normal']);
  t.like(own, { count: 1, active: 0, unacknowledged: 0 });
});
