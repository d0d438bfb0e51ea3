// Runs history and audit queries in a separate thread. The thread receives several queries together, so that it never has to wait for the
// next query. The thread starts with the first query and ends after a minute without queries.
import { Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { HubError, messageOf } from '../../../model/error.ts';
import { within } from '../../../model/time/deadline.ts';
import type { ConnectionEvent } from '../../connection.ts';
import type { PastArchive, PastQuestion, ReadyAnswer } from '../../persistence.ts';
import { StoreThread } from '../store-thread.ts';
import { type PackedQuestion, packList, type ReadAnswer, type ReadRequest } from './reader-messages.ts';

/** The maximum number of waiting queries. */
export const maxQuestions = 4096;
/**
 * The maximum number of queries that the thread receives together. The thread receives half of the waiting queries, so that it reads the
 * second half while the answers to the first half are being sent. Queries that the thread does not reach soon are queued again.
 */
const maxBatch = 64;
/**
 * The number of parameters in list queries at which a batch ends, because queries that the thread does not reach have to be packed and sent
 * again.
 */
const maxBatchParameters = 1000;
/** The time without queries after which the thread ends, in milliseconds. */
const idleMs = 60_000;
/**
 * The time after which a thread that has not answered counts as blocked by the disk, and is abandoned, in milliseconds. The thread itself
 * stops slow queries earlier.
 */
const hungMs = 15_000;
/** The number of blocked threads, which cannot be ended, at which no further thread is started, because it would be blocked as well. */
const maxHanging = 2;
/**
 * The time after which changes are definitely on disk, in milliseconds. A query that needs the newest changes waits for at most `flushMs`.
 */
const writtenWithinMs = 1000;
const flushMs = 100;

interface PastReaderOptions {
  readonly history: ReadFile;
  readonly audit: ReadFile;
  readonly scheduler: SchedulerLike;
}

/** A database that another part of the store writes and the reader reads. */
export interface ReadFile {
  readonly path: string;
  /** Resolves once all changes so far have been written. */
  flush(): Promise<void>;
  /** Called when the reader has found damage in the database. */
  onDamage(reason: string): void;
}

interface Question extends Waiting {
  readonly question: PastQuestion;
  readonly resolve: (answer: ReadyAnswer) => void;
  readonly reject: (error: unknown) => void;
}

type Thread = StoreThread<readonly ReadRequest[], readonly ReadAnswer[]>;

/**
 * Creates the part of a store that reads. `offer` publishes the reader and returns a function that withdraws it; `finish` waits until the
 * reader has ended. Cold; never errors.
 */
export function readPast(
  options: PastReaderOptions & { offer(past: PastArchive): () => void; finish(work: Promise<unknown>): void },
): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const reader = new PastReader(options);
    const end = options.offer(reader);
    subscriber.next({ state: 'running' });
    return () => {
      end();
      options.finish(reader.end());
    };
  });
}

export class PastReader implements PastArchive {
  readonly #options: PastReaderOptions;
  readonly #queue = new QuestionQueue<Question>();
  #thread: Thread | undefined;
  /** The number of abandoned threads that have not ended yet. */
  #hanging = 0;
  #idle: Subscription | undefined;
  #isBusy = false;
  #isEnded = false;

  constructor(options: PastReaderOptions) {
    this.#options = options;
  }

  /** The number of waiting queries. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Whether the thread is running. */
  get isAwake(): boolean {
    return this.#thread !== undefined;
  }

  ask(question: PastQuestion, asker: string, isWanted: () => boolean): Promise<ReadyAnswer> {
    if (this.#isEnded) return Promise.reject(unavailable('the store is shutting down'));
    if (this.#queue.size >= maxQuestions)
      return Promise.reject(unavailable(`expected at most ${maxQuestions} waiting queries: try again later`));
    const { promise, resolve, reject } = Promise.withResolvers<ReadyAnswer>();
    const drop = () => reject(unavailable('nobody is waiting for the answer any more'));
    this.#queue.add({ question, asker, weight: weightOf(question), isWanted, drop, resolve, reject });
    if (!this.#isBusy) void this.#work();
    return promise;
  }

  /** Rejects the waiting queries and ends the thread. Resolves when the thread has ended. */
  async end(): Promise<void> {
    this.#isEnded = true;
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take())
      next.reject(unavailable('the store is shutting down'));
    await this.#giveUp();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    this.#idle?.unsubscribe();
    for (let some = this.#takeHalf(); some.length > 0; some = this.#takeHalf()) await this.#answer(some);
    this.#isBusy = false;
    if (!this.#isEnded) this.#idle = this.#options.scheduler.schedule(() => void this.#giveUp(), idleMs);
  }

  #takeHalf(): Question[] {
    return this.#queue.takeSome(Math.min(maxBatch, Math.ceil(this.#queue.size / 2)), maxBatchParameters);
  }

  async #answer(some: readonly Question[]): Promise<void> {
    const questions = some.map(({ question }) => question);
    const recent = new Set(questions.filter(needsRecent).map((question) => this.#fileOf(question)));
    await Promise.all([...recent].map((file) => within(file.flush(), flushMs)));
    if (this.#isEnded) {
      for (const { reject } of some) reject(unavailable('the store is shutting down'));
      return;
    }
    const answers = await this.#read(
      questions.map((question) => ({ path: this.#fileOf(question).path, question: packQuestion(question) })),
    );
    this.#queue.putBack(some.slice(answers.length));
    for (const [index, answer] of answers.entries()) this.#settle(some[index]!, answer);
    if (this.#isEnded) void this.end();
  }

  #settle({ question, resolve, reject }: Question, answer: ReadAnswer): void {
    const { path, onDamage } = this.#fileOf(question);
    if ('body' in answer) resolve(answer);
    else if ('code' in answer) reject(new HubError(answer.code, answer.message));
    else if ('failure' in answer) reject(unavailable(`cannot read ${path}: ${answer.failure}`));
    else {
      onDamage(answer.damage);
      reject(unavailable(`${path} is damaged (${answer.damage}): the store sets it aside`));
    }
  }

  /**
   * Sends queries to the thread, and returns the answers to as many of the first queries as the thread has reached. If the thread fails,
   * the first query gets the error, and the other queries are sent to the next thread.
   */
  async #read(requests: readonly ReadRequest[]): Promise<readonly ReadAnswer[]> {
    if (this.#thread === undefined && this.#hanging >= maxHanging)
      return [{ failure: 'the disk does not answer, and the threads that wait for it are still blocked' }];
    try {
      this.#thread ??= new StoreThread('reader-thread', 'reading the history and the audit');
      const answers = await within(this.#thread.ask(requests), hungMs, this.#options.scheduler);
      if (answers !== undefined) return answers;
      void this.#giveUp();
      return [{ failure: `the disk did not answer within ${hungMs / 1000} s` }];
    } catch (error) {
      void this.#giveUp();
      return [{ failure: messageOf(error) }];
    }
  }

  #fileOf({ ask }: PastQuestion): ReadFile {
    return this.#options[ask === 'audit' ? 'audit' : 'history'];
  }

  async #giveUp(): Promise<void> {
    this.#idle?.unsubscribe();
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread === undefined) return;
    this.#hanging++;
    await thread.kill().finally(() => this.#hanging--);
  }
}

function weightOf(question: PastQuestion): number {
  return question.ask === 'history' ? question.parameters.length : 1;
}

function packQuestion(question: PastQuestion): PackedQuestion {
  return question.ask === 'history' && question.list !== undefined ? packList(question) : question;
}

/** Returns whether the answer to a query may depend on changes in the last second. */
function needsRecent(question: PastQuestion): boolean {
  return question.ask !== 'history' || (question.to - question.from) / question.points < writtenWithinMs;
}

function unavailable(message: string): HubError {
  return new HubError('unavailable', message);
}

// The queries that wait for the reader thread. Askers take turns, so that an asker with many queries does not delay the other askers.

interface Waiting {
  readonly asker: string;
  /** The cost of sending the query to the thread, expressed as a number of parameters. */
  readonly weight: number;
  /** Returns whether the asker is still waiting for the answer. */
  isWanted(): boolean;
  /** Called instead of sending the query if the asker is no longer waiting for the answer. */
  drop(): void;
}

export class QuestionQueue<Item extends Waiting> {
  readonly #byAsker = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    const waiting = this.#byAsker.get(item.asker);
    if (waiting === undefined) this.#byAsker.set(item.asker, [item]);
    else waiting.push(item);
    this.#size++;
  }

  /** Puts back queries from the last batch that were not answered. They come first again among the queries of their askers. */
  putBack(items: readonly Item[]): void {
    const later = new Map(this.#byAsker);
    this.#byAsker.clear();
    for (const [asker, back] of Map.groupBy(items, (item) => item.asker)) {
      this.#byAsker.set(asker, [...back, ...(later.get(asker) ?? [])]);
      later.delete(asker);
    }
    for (const [asker, waiting] of later) this.#byAsker.set(asker, waiting);
    this.#size += items.length;
  }

  /** Removes and returns up to `most` queries that are still wanted, until their total weight reaches `mostWeight`. */
  takeSome(most: number, mostWeight = Number.POSITIVE_INFINITY): Item[] {
    const items: Item[] = [];
    for (let weight = 0; items.length < most && weight < mostWeight; ) {
      const next = this.take();
      if (next === undefined) break;
      weight += next.weight;
      items.push(next);
    }
    return items;
  }

  /** Removes and returns the next query that is still wanted; returns undefined if there is none. */
  take(): Item | undefined {
    for (const [asker, waiting] of this.#byAsker) {
      this.#byAsker.delete(asker);
      const next = this.#takeWanted(waiting);
      if (waiting.length > 0) this.#byAsker.set(asker, waiting);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  #takeWanted(waiting: Item[]): Item | undefined {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      this.#size--;
      if (item.isWanted()) return item;
      item.drop();
    }
    return undefined;
  }
}
