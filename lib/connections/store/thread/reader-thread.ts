// The thread that reads the past: a question after the other, while others write. It makes the answer as it is sent, so that the hub's
// thread need not.

import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { HubError, messageOf } from '../../../model/error.ts';
import type { PastQuestion } from '../../archive.ts';
import { Deadline } from '../reader/deadline.ts';
import { answerEvents } from '../reader/events.ts';
import { Gaps } from '../reader/gaps.ts';
import { answerHistories } from '../reader/histories.ts';
import { HistoryDatabase } from '../reader/history-database.ts';
import type { ReadAnswer, ReadRequest } from '../reader/messages.ts';
import type { Moment } from '../reader/past.ts';
import { troubleOf } from './trouble.ts';

/** How long one question may take. */
const longestMs = 5000;

const port = parentPort!;
let open: { readonly path: string; readonly database: HistoryDatabase } | undefined;

port.on('message', (request: ReadRequest) => {
  const answer = answerTo(request);
  port.postMessage(answer, 'body' in answer ? [answer.body.buffer] : []);
});

function answerTo({ path, question }: ReadRequest): ReadAnswer {
  try {
    return ready(read(path, question));
  } catch (error) {
    if (error instanceof HubError) return { code: error.code, message: error.message };
    close();
    return troubleOf(error) === 'damaged' ? { damage: messageOf(error) } : { failure: messageOf(error) };
  }
}

function read(path: string, question: PastQuestion): string {
  const deadline = new Deadline(longestMs);
  if (open?.path !== path || !open.database.isInPlace) {
    close();
    open = { path, database: new HistoryDatabase(path) };
  }
  const { database } = open;
  return database.read(() => {
    const moment: Moment = { database, mark: database.mark(), gaps: new Gaps(database.gaps()), deadline };
    return question.ask === 'history' ? answerHistories(moment, question) : answerEvents(moment, question);
  });
}

function ready(text: string): ReadAnswer {
  const body = new TextEncoder().encode(text);
  return { body, tag: createHash('sha1').update(body).digest('base64url') };
}

function close(): void {
  try {
    open?.database.close();
  } catch {} // what is damaged may not close
  open = undefined;
}
