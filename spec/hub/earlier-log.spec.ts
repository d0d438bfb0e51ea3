// The log of earlier runs of a hub, which a store reads: the hub does not wait for it, whoever asks for the log does.

import test from 'ava';
import { of } from 'rxjs';
import { z } from 'zod';
import { type AnyConnectionType, defineGatewayType } from '../../lib/connections/connection.ts';
import type { KeptLog } from '../../lib/connections/persistence.ts';
import type { LogPage } from '../../lib/wire/http/operation.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { ask } from '../support/http.ts';
import { api, startTestHub } from '../support/hub.ts';

test('a hub whose store takes long to read the log starts and restores; a request for the log gets all of it', async (t) => {
  const read = Promise.withResolvers<KeptLog>();
  const slow = defineGatewayType({
    type: 'slow',
    isExternal: true,
    settingsSchema: z.strictObject({}),
    parameters: () => [],
    restore: async () => ({
      values: [{ address: 'desk/a', value: 7, time: 1, readCause: () => undefined }],
      memories: [],
      log: read.promise,
    }),
    run: () => of({ state: 'running' } as const),
  });
  const types = new Map<string, AnyConnectionType>([...connectionTypes, ['slow', slow]]);
  const flow = { connections: { api, slow: { type: 'slow' }, desk: { type: 'dummy', parameters: ['a,I'] } } };
  const hub = await startTestHub(t, flow, { types });
  t.is(hub.find('desk/a')!.value, 7);
  const asked = ask(t, hub.port, 'GET /hub/log?after=5');
  await ask(t, hub.port, 'GET /hub/health'); // the hub has taken up the question before

  const entry = { n: 5, time: Date.now() - 60_000, level: 'info', message: 'of yesterday' } as const;
  read.resolve({ count: 'kept', entries: [entry], endedAt: entry.time, isClean: true });
  const { entries, count } = JSON.parse((await asked).text) as LogPage;
  t.is(count, 'kept');
  t.regex(entries[0]!.message, /^the hub was restarted/);
  t.true(entries.every(({ n }) => n > 5));
  t.is(hub.earlierLog(), undefined);
});
