// The thread that writes the history. It waits for the disk, so that the hub does not have to.

import { parentPort } from 'node:worker_threads';
import { HistoryKeeping } from '../history/database/written-history.ts';
import type { HistoryAnswer, HistoryRequest } from '../history/history-messages.ts';
import { shrinkDatabases } from './database/store-database.ts';
import { returnMemoryWhenIdle, yieldToHub } from './give-way.ts';

const port = parentPort!;
const history = new HistoryKeeping();
yieldToHub();

port.on('message', (request: HistoryRequest) => {
  const answered = answer(request);
  port.postMessage(answered, [...(answered?.buffers ?? [])]);
  if (request.ask !== 'write' || request.changes.columns.length > 0) returnMemoryWhenIdle(shrinkDatabases);
});

function answer(request: HistoryRequest): HistoryAnswer | undefined {
  switch (request.ask) {
    case 'open':
      return history.open(request);
    case 'write':
      return history.write(request.changes);
    case 'go on':
      return history.goOn();
    case 'check':
      return history.check();
    case 'close':
      history.close();
      return undefined;
  }
}
