// The ceiling of a plain fan-out: raw uWebSockets.js, which sends every message to all sockets as it came.

import { createApp, listen } from '../../lib/net/uws.ts';
import { runTask } from '../../spec/support/system/task.ts';

export interface RelayTask {
  /** Whether any socket hears of the messages; they are published all the same. */
  readonly isHeard?: boolean;
}

const maxUnreadBytes = 64 * 1024 * 1024; // nothing is ever dropped: a relay that drops would be faster than it is

await runTask(({ isHeard = true }: RelayTask) => {
  const app = createApp(undefined);
  app.ws('/ws', {
    maxBackpressure: maxUnreadBytes,
    idleTimeout: 120,
    open: (socket) => void (isHeard && socket.subscribe('all')),
    message: (_, message, isBinary) => void app.publish('all', message, isBinary),
  });
  return listen(app, '127.0.0.1', 0).port;
});
