// The thread that runs history and audit queries, one after another, while other threads are writing. It also encodes the answers, so that
// the hub's thread does not have to.

import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { HubError, messageOf } from '../../../model/error.ts';
import type { AuditQuestion, EventsQuestion, HistoryQuestion } from '../../persistence.ts';
import { AuditFile, Opened } from '../reader/audit-file.ts';
import { answerHistories } from '../reader/histories/histories.ts';
import { PastDatabase } from '../reader/past-database.ts';
import { answerEvents } from '../reader/past-events.ts';
import { Deadline, momentOf } from '../reader/past-moment.ts';
import { isPackedList, type ReadAnswer, type ReadRequest, unpackList } from '../reader/reader-messages.ts';
import { SecondReader } from '../reader/second-reader.ts';
import { troubleOf } from './database/store-database.ts';
import { yieldToHub } from './give-way.ts';

/** The time limit for one query, in milliseconds. */
const longestMs = 5000;
/** The time after which the thread sends the answers so far, in milliseconds. The hub then sends the remaining queries again. */
const turnMs = 20;

const port = parentPort!;
const history = new Opened((path) => new PastDatabase(path));
const audit = new Opened((path) => new AuditFile(path));
const second = new SecondReader();
yieldToHub();

port.on('message', (requests: readonly ReadRequest[]) => {
  const answers: ReadAnswer[] = [];
  const bodies: ArrayBuffer[] = [];
  const endMs = performance.now() + turnMs;
  for (const request of requests) {
    const answer = answerTo(request);
    answers.push(answer);
    if (!('body' in answer)) break; // the hub handles the error before the next query is run
    bodies.push(answer.body.buffer);
    if (performance.now() >= endMs) break;
  }
  port.postMessage(answers, bodies);
});

function answerTo({ path, question: packed }: ReadRequest): ReadAnswer {
  try {
    const question = isPackedList(packed) ? unpackList(packed) : packed;
    const deadline = new Deadline(longestMs);
    return ready(
      question.ask === 'audit' ? readAudit(path, question, deadline) : readHistory(path, question, deadline),
    );
  } catch (error) {
    if (error instanceof HubError) return { code: error.code, message: error.message };
    history.close();
    audit.close();
    return troubleOf(error) === 'damaged' ? { damage: messageOf(error) } : { failure: messageOf(error) };
  }
}

function readHistory(path: string, question: HistoryQuestion | EventsQuestion, deadline: Deadline): string {
  const database = history.at(path);
  return database.read(() => {
    const now = Date.now();
    const moment = momentOf(database, now, deadline);
    if (question.ask === 'events') return answerEvents(moment, question);
    return answerHistories(moment, question, () => second.read(path, now, moment, question));
  });
}

function readAudit(path: string, question: AuditQuestion, deadline: Deadline): string {
  return audit.at(path).answer(question, deadline);
}

function ready(text: string): ReadAnswer {
  const body = new TextEncoder().encode(text);
  return { body, tag: hash('sha1', body, 'base64url') };
}
