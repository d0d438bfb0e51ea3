// The ceiling of an HTTP read: raw uWebSockets.js, which sends one and the same answer to every request.

import { createApp, listen } from '../../lib/net/uws.ts';
import { runTask } from './task.ts';

export interface HttpAnswerTask {
  /** Without those that the library writes itself: Date, uWebSockets, Content-Length. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

await runTask(({ headers, body }: HttpAnswerTask) => {
  const app = createApp(undefined);
  app.get('/parameters/*', (response) => {
    for (const [name, value] of headers) response.writeHeader(name, value);
    response.end(body);
  });
  return listen(app, '127.0.0.1', 0).port;
});
