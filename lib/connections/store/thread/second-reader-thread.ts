// The second reader thread, which helps the first one with long lists. It reports no errors, because the first thread encounters the same
// errors.

import { type MessagePort, workerData } from 'node:worker_threads';
import { Opened } from '../reader/audit-file.ts';
import { piecesOf, readPiece } from '../reader/histories/histories.ts';
import { type Mark, PastDatabase } from '../reader/past-database.ts';
import { Deadline, momentOf } from '../reader/past-moment.ts';
import { unpackList } from '../reader/reader-messages.ts';
import {
  notifyDelivered,
  reportEnded,
  type SharedPiece,
  type ShareRequest,
  takePlace,
} from '../reader/second-reader.ts';
import type { ThreadData } from '../store-thread.ts';
import { yieldToHub } from './give-way.ts';

const port = (workerData as ThreadData<MessagePort>).data;
const history = new Opened((path) => new PastDatabase(path));

yieldToHub();
port.on('message', (request: ShareRequest) => {
  try {
    help(request);
  } catch {
    history.close();
  } finally {
    reportEnded(request.shared);
  }
});

function help({ number, path, question: packed, now, mark, leftMs, shared }: ShareRequest): void {
  const deadline = new Deadline(leftMs);
  const question = unpackList(packed);
  const database = history.at(path);
  database.read(() => {
    const moment = momentOf(database, now, deadline);
    if (!isSame(moment.mark, mark)) return; // the database has been changed in the meantime
    const count = piecesOf(question);
    for (let place = takePlace(shared); place < count; place = takePlace(shared)) {
      const { text, isCut } = readPiece(moment, question, place, false);
      if (isCut) return;
      port.postMessage({ number, place, text } satisfies SharedPiece);
      notifyDelivered(shared);
    }
  });
}

function isSame(a: Mark, b: Mark): boolean {
  return a.seen === b.seen && a.minutes === b.minutes && a.hours === b.hours;
}
