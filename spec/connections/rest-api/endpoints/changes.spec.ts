// The list of the parameters that have changed last: newest first, with old and new value and author, and only those that the user may read.

import test, { type ExecutionContext } from 'ava';
import type { RecentChanges } from '../../../../lib/wire/http/parameter-shapes.ts';
import { ask } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';

const users = { all: { token: 'all', read: ['**'] }, one: { token: 'one', read: ['desk/a'] } };
const flow = {
  connections: {
    api: { ...api, users },
    desk: { type: 'dummy', parameters: ['a,B,false', 'b,F', 'meter,F,0', 'copy,B,false', 'fire,T'] },
  },
  rules: [{ name: 'copies a', from: 'desk/a', to: 'desk/copy' }],
  describe: { 'desk/b': { unit: 'dB' }, 'desk/meter': { class: 'meter' } },
};

async function changes(t: ExecutionContext, hub: HubUnderTest, query = '', token = 'all') {
  const headers = { authorization: `Bearer ${token}` };
  const { status, text } = await ask(t, hub.port, `GET /hub/changes${query}`, { headers });
  t.is(status, 200, text);
  return JSON.parse(text) as RecentChanges;
}
const lines = ({ changes: list }: RecentChanges) =>
  list.map(({ parameter, previous, value, origin }) => `${parameter} ${previous} → ${value} ${origin.kind}`);

test('changes are listed newest first, with author and unit, without meters and triggers', async (t) => {
  const hub = await startTestHub(t, flow);
  hub.write('desk/b', -12.5, writer);
  hub.write('desk/meter', 1, writer);
  hub.write('desk/fire', true, writer);
  hub.write('desk/a', true, writer);
  const answer = await changes(t, hub);
  t.deepEqual(lines(answer).slice(0, 3), [
    'desk/copy false → true rule',
    'desk/a false → true client',
    'desk/b undefined → -12.5 client',
  ]);
  t.is(answer.changes[2]!.unit, 'dB');
  t.false(lines(answer).some((line) => /meter|fire/.test(line)));
  t.true(answer.isComplete);
  const limited = await changes(t, hub, '?limit=1&seconds=3600');
  t.deepEqual([lines(limited), limited.isComplete], [['desk/copy false → true rule'], false]);
});

test('a user sees the changes that it may read; a period or limit that is none is refused', async (t) => {
  const hub = await startTestHub(t, flow);
  hub.write('desk/b', 1, writer);
  hub.write('desk/a', true, writer);
  t.deepEqual(lines(await changes(t, hub, '', 'one')), ['desk/a false → true client']);
  for (const query of ['seconds=0', 'seconds=86401', 'limit=1001', 'limit=x']) {
    const headers = { authorization: 'Bearer all' };
    t.is((await ask(t, hub.port, `GET /hub/changes?${query}`, { headers })).status, 400, query);
  }
});

test('of many changes the newest are listed, and the answer shows that there are more', async (t) => {
  const parameters = Array.from({ length: 300 }, (_, place) => `p${place},I,0`);
  const hub = await startTestHub(t, { connections: { ...flow.connections, many: { type: 'dummy', parameters } } });
  hub.write('many/p7', 1, writer);
  const { changes: list, isComplete } = await changes(t, hub, '?seconds=86400');
  t.deepEqual([list.length, isComplete], [200, false]);
  t.is(list[0]!.parameter, 'many/p7');
});
