// Questions about the past over real connections, of a store that does not answer.

import test from 'ava';
import type { HubPort } from '../../../../lib/connections/hub-port.ts';
import { readHistoriesQuestion } from '../../../../lib/connections/rest-api/endpoints/history.ts';
import { servePast } from '../../../../lib/connections/rest-api/endpoints/past.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { PastShares } from '../../../../lib/connections/rest-api/limits/past-shares.ts';
import { FairQueue } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';
import { settingsSchema } from '../../../../lib/connections/rest-api/settings.ts';
import { openPrincipal } from '../../../../lib/connections/rest-api/users/principal.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { serveHandler } from '../../../support/handler.ts';
import { openWire, request } from '../../../support/http.ts';

test('an invalid query of a client at its limit is refused, without other effects', async (t) => {
  const archive = { past: { ask: () => new Promise<never>(() => {}) } };
  const hub = { persistence: { archive }, find: () => undefined, parameters: () => [] } as unknown as HubPort;
  const shares = new PastShares();
  const settings = settingsSchema.parse({});
  const context = { hub, queue: new FairQueue(new Round()), pastShares: shares, log: createLogRecorder(), settings };
  const handler = servePast(context, readHistoriesQuestion, '/hub/history');
  const port = serveHandler(t, '/hub/history', handler, openPrincipal(hub));
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  t.teardown(() => process.off('unhandledRejection', note));

  const asks = async (query: string) => {
    const wire = await openWire(t, port);
    wire.send(request(`GET /hub/history?${query}`));
    return wire.answer();
  };
  t.is((await asks('points=0')).status, 400);
  for (let one = 0; one < limits.pastQuestions.default; one++) shares.enter('127.0.0.1');
  t.is((await asks('points=0')).status, 503);
  t.deepEqual(unhandled, []);
});
