// Questions about the past over real connections, of a store that does not answer.

import test from 'ava';
import type { HubPort } from '../../../../../lib/connections/hub-port.ts';
import { replyError } from '../../../../../lib/connections/rest-api/http/answer/reply.ts';
import { limits } from '../../../../../lib/connections/rest-api/limits/limits.ts';
import { PastShares } from '../../../../../lib/connections/rest-api/limits/past-shares.ts';
import { createTaskQueue } from '../../../../../lib/connections/rest-api/pacing/work-queue.ts';
import { readHistoriesQuestion } from '../../../../../lib/connections/rest-api/pages/past/history.ts';
import { servePast } from '../../../../../lib/connections/rest-api/pages/past/serve-past.ts';
import { openVisitor } from '../../../../../lib/connections/rest-api/users/visitor.ts';
import type { HubError } from '../../../../../lib/model/error.ts';
import { createApp, listen } from '../../../../../lib/net/uws.ts';
import { createLogRecorder } from '../../../../support/connection.ts';
import { openWire, request } from '../../../../support/http.ts';

test('a question that makes no sense, of somebody who has no room for one more, is refused and nothing else', async (t) => {
  const archive = { past: { ask: () => new Promise<never>(() => {}) } };
  const hub = { keeping: { archive }, find: () => undefined, parameters: () => [] } as unknown as HubPort;
  const shares = new PastShares();
  const context = { hub, tasks: createTaskQueue(), shares, log: createLogRecorder() };
  const handler = servePast(context, readHistoriesQuestion);
  const visitor = openVisitor(hub);
  const app = createApp(undefined);
  app.get('/hub/history', (response, asked) => {
    try {
      handler(response, asked, visitor);
    } catch (error) {
      replyError(response, error as HubError, false);
    }
  });
  const listener = listen(app, '127.0.0.1', 0);
  t.teardown(() => app.close());
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  t.teardown(() => process.off('unhandledRejection', note));

  const asks = async (query: string) => {
    const wire = await openWire(t, listener.port);
    wire.send(request(`GET /hub/history?${query}`));
    return wire.answer();
  };
  t.is((await asks('points=0')).status, 400);
  for (let one = 0; one < limits.pastQuestions.default; one++) shares.enter('127.0.0.1');
  t.is((await asks('points=0')).status, 503);
  t.deepEqual(unhandled, []);
});
