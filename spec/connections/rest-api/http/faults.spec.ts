// When something fails inside the hub (D-13), the client is told, the log says why, and nothing else is disturbed.

import test from 'ava';
import { NEVER, of } from 'rxjs';
import { concatWith } from 'rxjs/operators';
import { z } from 'zod';
import { type ConnectionEvent, defineConnectionType } from '../../../../lib/connections/connection.ts';
import { connectionTypes } from '../../../support/connection-types.ts';
import { eventually } from '../../../support/deadline.ts';
import { openWire, request } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';

const faulty = defineConnectionType({
  type: 'faulty',
  isExternal: false,
  settingsSchema: z.strictObject({}),
  parameters: () => [
    {
      id: 'p',
      type: 'I',
      access: 'read-write',
      accept: () => {
        throw new TypeError('secret detail');
      },
    },
  ],
  run: () => of<ConnectionEvent>({ state: 'running' }).pipe(concatWith(NEVER)),
});

test('D-13: a fault in a handler is answered 500, logged, and ends neither connection nor hub', async (t) => {
  const hub = await startTestHub(
    t,
    { connections: { api, bad: { type: 'faulty' }, desk: { type: 'dummy', parameters: ['i,I'] } } },
    { types: new Map([...connectionTypes, ['faulty', faulty]]) },
  );
  const wire = await openWire(t, hub.port);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const sentence = 'the request failed; see the log of the hub for the reason';
  wire.send(request('GET /update?parameter=bad/p&value=1'));
  wire.send(request('POST /update', { headers: form, body: 'parameter=bad/p&value=1' }));
  wire.send(request('GET /update?parameter=bad/p&value=1', { headers: { accept: 'application/json' } }));
  for (const text of [`${sentence}\n`, `${sentence}\n`]) {
    const answer = await wire.answer();
    t.deepEqual([answer.status, answer.text], [500, text]);
  }
  t.like(JSON.parse((await wire.answer()).text), { status: 500, code: 'internal', detail: sentence });
  const client = await openClient(t, hub.port);
  client.send({ p: 'bad/p', v: 1 });
  t.deepEqual(await client.next(), { error: sentence, p: 'bad/p' });
  const errors = () => hub.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
  // as often as it came, however long that took: what comes within a second of an entry is counted in the next one
  const counts = () => errors().map((message) => Number(/ \((\d+) times within a second\)$/.exec(message)?.[1] ?? 1));
  await eventually(() => counts().reduce((sum, count) => sum + count, 0) >= 4, 'all four are in the log');
  t.is(
    counts().reduce((sum, count) => sum + count),
    4,
  );
  t.true(
    errors().every((message) => /^a request failed: secret detail( \(\d times within a second\))?$/.test(message)),
  );

  wire.send(request('GET /update?parameter=desk/i&value=1'));
  t.is((await wire.answer()).text, 'OK');
  t.deepEqual(await client.next(), { p: 'desk/i', v: '1' });
});
