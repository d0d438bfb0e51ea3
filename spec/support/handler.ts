// One handler of the REST API by itself, asked over real connections.

import type { ExecutionContext } from 'ava';
import type { Handler } from '../../lib/connections/rest-api/http/admission.ts';
import { replyError } from '../../lib/connections/rest-api/http/answer/reply.ts';
import type { Principal } from '../../lib/connections/rest-api/users/principal.ts';
import type { HubError } from '../../lib/model/error.ts';
import { createApp, listen } from '../../lib/net/uws.ts';

/** Serves a path to one visitor; returns the port. */
export function serveHandler(t: ExecutionContext, path: string, handler: Handler, principal: Principal): number {
  const app = createApp(undefined);
  app.get(path, (response, request) => {
    try {
      handler(response, request, principal);
    } catch (error) {
      replyError(response, error as HubError, false);
    }
  });
  const { port } = listen(app, '127.0.0.1', 0);
  t.teardown(() => app.close());
  return port;
}
