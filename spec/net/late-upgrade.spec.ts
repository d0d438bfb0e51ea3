// Handshakes that wait for their turn, since those before them had long filters. They are answered whole, and their sockets stay open.

import test from 'ava';
import { ask } from '../support/http.ts';
import { api, expectQuietLog, startTestHub, writer } from '../support/hub.ts';
import { openRawClient } from '../support/sockets/socket.ts';

test('a hundred clients whose handshakes wait for their turns are all live, with the first values', async (t) => {
  const names = Array.from({ length: 5000 }, (_, index) => `p${index}`);
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: [...names, 'mark,I'] } },
  });
  hub.write('desk/mark', 1, writer);
  const queries = Array.from({ length: 100 }, (_, index) => `?snapshot=true&filter=[0-4]${index}$&filter=mark`);
  const clients = await Promise.all(queries.map((query) => openRawClient(t, hub.port, query)));
  for (const { frames } of clients) t.deepEqual((await frames.next()).payload.toString(), '{"p":"desk/mark","v":"1"}');
  const { count } = JSON.parse((await ask(t, hub.port, 'GET /hub/clients')).text);
  t.is(count, clients.length);
  hub.write('desk/mark', 2, writer);
  for (const { frames } of clients) t.deepEqual((await frames.next()).payload.toString(), '{"p":"desk/mark","v":"2"}');
  expectQuietLog(t, hub);
});
