// The ceiling of an HTTP read: raw uWebSockets.js, which sends one and the same answer to every request, as bytes and in as few
// calls as it takes.

import { createApp, encodeText, listen } from '../../lib/net/uws.ts';
import { runTask } from '../../spec/support/system/task.ts';

export interface HttpAnswerTask {
  /** Without those that the library writes itself: Date, uWebSockets, Content-Length. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

await runTask(({ headers, body }: HttpAnswerTask) => {
  const [[name, value] = ['', ''], ...others] = headers;
  const firstName = encodeText(name);
  const allOfThem = encodeText([value, ...others.map((header) => header.join(': '))].join('\r\n'));
  const bodyBytes = encodeText(body);
  const app = createApp(undefined);
  app.get('/parameters/*', (response) => void response.writeHeader(firstName, allOfThem).end(bodyBytes));
  return listen(app, '127.0.0.1', 0).port;
});
