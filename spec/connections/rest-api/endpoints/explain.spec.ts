// GET /hub/explain/<address> of an address that has no parameter: the nearest one is named, of those alone that one may read.

import test from 'ava';
import { ask } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';

const desk = { type: 'dummy', parameters: ['lamp,B', 'level,F', 'secret-lamp,B'] };
const sentence = (address: string) => `${address}: no parameter has this address`;

test('an address without a parameter is answered 404 with the nearest one, first of its connection', async (t) => {
  const rack = { type: 'dummy', parameters: ['lamp,B', 'lmp,B'] };
  const hub = await startTestHub(t, { connections: { api, desk, rack } });
  for (const [address, nearest] of [
    ['desk/lmap', 'desk/lamp'],
    ['desk/lmp', 'desk/lamp'],
    ['dekc/level', 'desk/level'],
    ['desk/nothing-like-it', undefined],
    ['desk/constructor', undefined],
    ['desk/__proto__', undefined],
  ] as const) {
    const { status, text } = await ask(t, hub.port, `GET /hub/explain/${address}`, {
      headers: { accept: 'text/plain' },
    });
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
    t.deepEqual([status, text], [404, `${sentence(address)}${hint}\n`]);
  }
});

test('D-40: hidden parameters are never suggested', async (t) => {
  const users = { ann: { token: 'ann', read: ['desk/level'] }, root: { token: 'root', read: ['**'] } };
  const hub = await startTestHub(t, { connections: { api: { ...api, users }, desk } });
  const askAs = async (user: string) => {
    const headers = { accept: 'text/plain', authorization: `Bearer ${user}` };
    return (await ask(t, hub.port, 'GET /hub/explain/desk/secret-lmap', { headers })).text;
  };
  t.is(await askAs('ann'), `${sentence('desk/secret-lmap')}\n`);
  t.is(await askAs('root'), `${sentence('desk/secret-lmap')}, did you mean "desk/secret-lamp"?\n`);
});

test('in a hub of many parameters nothing is compared, and the answer is as fast', async (t) => {
  const many = { type: 'dummy', parameters: Array.from({ length: 12_000 }, (_, index) => `meter-${index},F`) };
  const hub = await startTestHub(t, { connections: { api, many } });
  const { text } = await ask(t, hub.port, 'GET /hub/explain/many/metr-1', { headers: { accept: 'text/plain' } });
  t.is(text, `${sentence('many/metr-1')}\n`);
});
