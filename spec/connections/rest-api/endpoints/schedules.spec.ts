// The list of schedules: their times in a week, as clocks in their zone show them, and only the entries that the user may read.

import test, { type ExecutionContext } from 'ava';
import type { ScheduleList } from '../../../../lib/wire/http/schedule-shapes.ts';
import { ask } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub } from '../../../support/hub.ts';

const users = { all: { token: 'all', read: ['**'] }, one: { token: 'one', read: ['opening/night'] } };
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const dayMs = 86_400_000;
const connections = {
  api: { ...api, users },
  opening: {
    type: 'schedule',
    zone: 'UTC',
    entries: {
      office: { days: 'mon-fri', from: '06:30', to: '22:00' },
      night: { days: 'sun', from: '22:00', to: '06:00' },
      always: {},
      gong: { days: 'sat', at: ['12:00', '12:30:30'] },
      often: { at: '*:*' },
    },
  },
};

async function listed(t: ExecutionContext, hub: HubUnderTest, token = 'all', query = ''): Promise<ScheduleList> {
  const headers = { authorization: `Bearer ${token}` };
  const { status, text } = await ask(t, hub.port, `GET /hub/schedules${query}`, { headers });
  t.is(status, 200, text);
  return JSON.parse(text);
}

test('each entry has its times of the week, in parts if it passes midnight', async (t) => {
  const hub = await startTestHub(t, { connections });
  const { count, schedules } = await listed(t, hub);
  const [{ days: dates, entries, zone }] = schedules as [ScheduleList['schedules'][number]];
  t.is(count, 5);
  t.is(zone, 'UTC');
  t.is(new Date(dates[0]!).getUTCDay(), 1);
  const of = (name: string) => entries.find(({ address }) => address === `opening/${name}`)!;
  t.deepEqual(
    of('office').bars,
    [0, 1, 2, 3, 4].map((day) => ({ day, from: 390, to: 1320 })),
  );
  t.deepEqual(of('night').bars, [
    { day: 0, from: 0, to: 360 },
    { day: 6, from: 1320, to: 1440 },
  ]);
  t.is(of('always').bars!.length, 7);
  t.is(of('always').open, true);
  t.deepEqual(of('always').next, []);
  t.deepEqual(of('gong').fires, [
    { day: 5, at: 720 },
    { day: 5, at: 750.5 },
  ]);
  t.is(of('gong').bars, undefined);
  t.is(of('often').fires!.length, 300);
});

test('the next times alternate between open and closed, and a week ahead has its own dates', async (t) => {
  const hub = await startTestHub(t, { connections });
  const { schedules } = await listed(t, hub, 'all', '?week=1&address=opening/office');
  const [{ days: dates, entries }] = schedules as [ScheduleList['schedules'][number]];
  t.is(entries.length, 1);
  const { next } = entries[0]!;
  t.is(next.length, 5);
  for (const [index, { time, open }] of next.entries()) {
    t.is(time.slice(11, 16), open ? '06:30' : '22:00');
    t.not(open, next[index + 1]?.open);
  }
  const present = (await listed(t, hub)).schedules[0]!.days;
  t.is(Date.parse(dates[0]!) - Date.parse(present[0]!), 7 * dayMs);
});

test('an exception is a day on which the entry would be open', async (t) => {
  const today = new Date();
  const name = days[today.getUTCDay()]!;
  const date = today.toISOString().slice(0, 10);
  const entries = { shut: { days: name, except: [date], from: '08:00' }, other: { days: name } };
  const hub = await startTestHub(t, { connections: { api, opening: { type: 'schedule', zone: 'UTC', entries } } });
  const { schedules } = JSON.parse((await ask(t, hub.port, 'GET /hub/schedules')).text) as ScheduleList;
  const [shut, other] = schedules[0]!.entries;
  const place = (today.getUTCDay() + 6) % 7;
  t.deepEqual(shut!.except, [place]);
  t.deepEqual(shut!.bars, []);
  t.deepEqual(other!.except, []);
});

test('a user sees the entries that he may read, and nothing of a schedule without any', async (t) => {
  const hub = await startTestHub(t, { connections });
  const { count, schedules } = await listed(t, hub, 'one');
  t.is(count, 1);
  t.deepEqual(
    schedules[0]!.entries.map(({ address }) => address),
    ['opening/night'],
  );
  t.deepEqual(await listed(t, hub, 'one', '?address=opening/office'), { week: 0, count: 0, schedules: [] });
});
