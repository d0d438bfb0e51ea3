// Reads the past in a thread of its own. It is handed some questions at once, so that it need not wait for the next one. The thread is
// there from the first question on, until nobody has asked for a minute.
import { Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { HubError, messageOf } from '../../../model/error.ts';
import { within } from '../../../model/time/deadline.ts';
import type { ConnectionEvent } from '../../connection.ts';
import type { PastArchive, PastQuestion, ReadyAnswer } from '../../persistence.ts';
import { StoreThread } from '../store-thread.ts';
import { type HandedQuestion, handListOver, type ReadAnswer, type ReadRequest } from './reader-messages.ts';

/** So many questions wait at most. */
export const maxQuestions = 4096;
/**
 * The thread is handed half of those that wait at once, but no more than so many: while the first half is on its way to who asked, it
 * reads the second. What it has not come to soon waits for its turn again.
 */
const maxHanded = 64;
/** No list follows so many parameters in one hand-over: what is handed over and not come to is handed over again. */
const maxHandedParameters = 1000;
/** After so long without a question the thread ends. */
const idleMs = 60_000;
/** A thread that has not answered after so long hangs in the disk, and is given up. It ends what takes long by itself, earlier. */
const hungMs = 15_000;
/** Nothing ends a thread that hangs. While so many do, there is no other one: each would hang as well. */
const maxHanging = 2;
/** What happens is written after so long in any case. Where that matters it is waited for, but not for long. */
const writtenWithinMs = 1000;
const flushMs = 100;

interface PastReaderOptions {
  readonly history: ReadFile;
  readonly audit: ReadFile;
  readonly scheduler: SchedulerLike;
}

/** A database that others write. */
export interface ReadFile {
  readonly path: string;
  /** Resolves once everything that has happened is written. */
  flush(): Promise<void>;
  /** Hears that the database is damaged. */
  onDamage(reason: string): void;
}

interface Question extends Waiting {
  readonly question: PastQuestion;
  readonly resolve: (answer: ReadyAnswer) => void;
  readonly reject: (error: unknown) => void;
}

type Thread = StoreThread<readonly ReadRequest[], readonly ReadAnswer[]>;

/** The part of a store that reads; `offer` makes it known, and returns what ends that; `finish` takes over the end of the thread. Cold; never errs. */
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
  /** How many threads were given up and have not ended. */
  #hanging = 0;
  #idle: Subscription | undefined;
  #isBusy = false;
  #isEnded = false;

  constructor(options: PastReaderOptions) {
    this.#options = options;
  }

  /** How many questions wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Whether the thread is there. */
  get isAwake(): boolean {
    return this.#thread !== undefined;
  }

  ask(question: PastQuestion, asker: string, isWanted: () => boolean): Promise<ReadyAnswer> {
    if (this.#isEnded) return Promise.reject(unavailable('the store is ending'));
    if (this.#queue.size >= maxQuestions)
      return Promise.reject(unavailable(`expected at most ${maxQuestions} questions at once, all are there`));
    const { promise, resolve, reject } = Promise.withResolvers<ReadyAnswer>();
    const drop = () => reject(unavailable('nobody wants to know any more'));
    this.#queue.add({ question, asker, weight: weightOf(question), isWanted, drop, resolve, reject });
    if (!this.#isBusy) void this.#work();
    return promise;
  }

  /** Ends the thread; what waits is refused. Resolves when it has ended. */
  async end(): Promise<void> {
    this.#isEnded = true;
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take())
      next.reject(unavailable('the store is ending'));
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
    return this.#queue.takeSome(Math.min(maxHanded, Math.ceil(this.#queue.size / 2)), maxHandedParameters);
  }

  async #answer(some: readonly Question[]): Promise<void> {
    const questions = some.map(({ question }) => question);
    const fine = new Set(questions.filter(isFine).map((question) => this.#fileOf(question)));
    await Promise.all([...fine].map((file) => within(file.flush(), flushMs)));
    if (this.#isEnded) {
      for (const { reject } of some) reject(unavailable('the store is ending'));
      return;
    }
    const answers = await this.#read(
      questions.map((question) => ({ path: this.#fileOf(question).path, question: handOver(question) })),
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

  /** When the thread fails, that is the answer to the first question; the others may have better luck with the next thread. */
  async #read(requests: readonly ReadRequest[]): Promise<readonly ReadAnswer[]> {
    if (this.#thread === undefined && this.#hanging >= maxHanging)
      return [{ failure: 'the disk does not answer, and the threads that wait for it do not end' }];
    try {
      this.#thread ??= new StoreThread('reader-thread', 'reads the past');
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

function handOver(question: PastQuestion): HandedQuestion {
  return question.ask === 'history' && question.list !== undefined ? handListOver(question) : question;
}

/** Whether it makes a difference what has happened in the last second. */
function isFine(question: PastQuestion): boolean {
  return question.ask !== 'history' || (question.to - question.from) / question.points < writtenWithinMs;
}

function unavailable(message: string): HubError {
  return new HubError('unavailable', message);
}

// Questions that wait for the thread that reads. Askers take turns, so that nobody waits for all that somebody else has asked.

interface Waiting {
  readonly asker: string;
  /** What it costs to hand it over, in parameters. */
  readonly weight: number;
  /** Whether somebody still wants the answer. */
  isWanted(): boolean;
  /** Nobody did any more when its turn came. */
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

  /** Puts those back, of those that were taken last, that have not had their turn after all: they are the next ones. */
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

  /** Takes the next ones that are still wanted, so many at most; the last one may go beyond the weight. */
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

  /** Takes the next one that is still wanted; undefined: there is none. */
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
