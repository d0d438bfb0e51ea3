// The questions to a device: all questions once after a connect, repeated questions (polls), and questions after a write or an event. A
// question that is waiting for its answer is not sent again.

import { type SchedulerLike, Subscription } from 'rxjs';
import type { Matcher } from '../../device/message.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import type { Ask, Compiled, Group, Instance } from './compiled.ts';
import type { Readings } from './readings.ts';
import type { Outcome, RequestOptions } from './requests.ts';

export interface QuestionsOptions {
  readonly compiled: Compiled;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  /** The readings that apply the answers to parameters. */
  readonly readings: Readings;
  /** Returns the values that messages may use, including the values in `known`. */
  scope(known: ReadonlyMap<string, Value>): ReadonlyMap<string, Value>;
  /** Returns the number of the next request, which no earlier request has used. */
  nextId(): number;
  /** Queues a request to the device. */
  request(request: RequestOptions): void;
  /** Saves values from an answer for use in later messages. */
  save(found: Iterable<readonly [string, Value]>): void;
}

interface Asked {
  isSent: boolean;
  /** Asks again after the answer, because the value may have changed since the question was sent. */
  again?: () => void;
}

export class Questions {
  readonly #options: QuestionsOptions;
  /** The questions that are waiting for answers, keyed by name. */
  readonly #asked = new Map<string, Asked>();
  #polls = new Subscription();
  /** The number of first questions that are waiting for answers. */
  #loading = 0;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Whether all first questions have been answered. */
  get isLoaded(): boolean {
    return this.#loading === 0;
  }

  /** Sends every question once. Calls `loaded` after the last answer. */
  load(loaded: () => void): void {
    const { families, groups } = this.#options.compiled;
    this.#loading = 0;
    const answered = () => {
      if (--this.#loading === 0) loaded();
    };
    for (const group of groups.values())
      if (group.ask !== undefined && this.#askGroup(group, answered)) this.#loading++;
    for (const family of families)
      if (family.ask !== undefined && !family.isDiscovered)
        for (const instance of family.instances) if (this.askInstance(instance, family.ask, answered)) this.#loading++;
  }

  /** Asks about a group. Returns false if the same question is already waiting for its answer. */
  #askGroup(group: Group, loaded?: () => void): boolean {
    const ask = group.ask!;
    if (!this.#enqueue(group.name)) return false;
    const { readings } = this.#options;
    const isIdentified = ask.replies.length > 0;
    const done = (outcome: Outcome, isLate: boolean) => {
      if ('message' in outcome) {
        if (group.saves) this.#options.save(outcome.found);
        if (!isLate || isIdentified || (ask.until !== undefined && readings.hasItem(group, outcome.message)))
          readings.readGroup(group, outcome.message, true, outcome.found);
      }
      if (!isLate) loaded?.();
    };
    this.#request(ask, group.name, new Map(), {
      takesAny: !isIdentified && ask.until === undefined && group.head === undefined,
      head: group.head,
      ...(ask.until !== undefined && { isAnswer: (message) => readings.hasItem(group, message) }),
      done,
    });
    return true;
  }

  /** Asks about a parameter. Returns false if the same question is already waiting for its answer. */
  askInstance(instance: Instance, ask: Ask, loaded?: () => void): boolean {
    const name = `parameter ${instance.id}`;
    if (!this.#enqueue(name)) return false;
    const done = (outcome: Outcome, isLate: boolean) => {
      const read = 'message' in outcome ? ask.reads.find(({ matcher }) => matcher === outcome.matcher) : undefined;
      if (read !== undefined && (!isLate || identifiesQuestion(read.matcher)))
        this.#options.readings.apply(
          read,
          new Map([...instance.values, ...(outcome as { found: ReadonlyMap<string, Value> }).found]),
        );
      if (!isLate) loaded?.();
    };
    this.#request(ask, name, instance.values, { takesAny: false, done });
    return true;
  }

  /** Sends the keep-alive question, if the description has one. */
  keepAlive(): void {
    const { keepAlive: ask } = this.#options.compiled;
    if (ask !== undefined && this.#enqueue('keepAlive'))
      this.#request(ask, 'keepAlive', new Map(), { takesAny: false, done: () => {} });
  }

  #enqueue(name: string): boolean {
    if (this.#asked.has(name)) return false;
    this.#asked.set(name, { isSent: false });
    return true;
  }

  #request(
    ask: Ask,
    name: string,
    variables: ReadonlyMap<string, Value>,
    { done, takesAny, head, isAnswer }: Pick<RequestOptions, 'takesAny' | 'head' | 'isAnswer' | 'done'>,
  ): void {
    const id = this.#options.nextId();
    const known = new Map(variables).set('id', id);
    this.#options.request({
      name,
      replies: ask.replies,
      fail: ask.fail,
      retryIf: ask.retryIf,
      timeoutMs: ask.timeoutMs,
      retry: ask.retry,
      retryBusy: ask.retryBusy,
      until: ask.until,
      takesAny,
      head,
      isAnswer,
      known,
      write: () => {
        const asked = this.#asked.get(name);
        if (asked !== undefined) asked.isSent = true;
        const values = this.#options.scope(known);
        return ask.send.length === 1
          ? [ask.send[0]!.format(values)]
          : ask.send.map((matcher) => matcher.format(values));
      },
      done: (outcome, isLate) => {
        const asked = isLate ? undefined : this.#asked.get(name);
        const isOver = !isLate && !this.#asked.delete(name); // the link has ended
        if ('refused' in outcome && !isOver) this.#options.log.debug({}, `${name}: ${outcome.refused}`, 'refused');
        done(outcome, isLate);
        asked?.again?.();
      },
    });
  }

  /** Asks about a group, or about the parameter itself, after a write or an event. */
  askAgain(name: string, instance: Instance | undefined): void {
    const group = this.#options.compiled.groups.get(name);
    const ask = instance?.family.ask;
    if (group?.ask !== undefined) this.#askOrRepeat(group.name, () => this.#askGroup(group));
    else if (ask !== undefined) this.#askOrRepeat(`parameter ${instance!.id}`, () => this.askInstance(instance!, ask));
  }

  #askOrRepeat(name: string, ask: () => boolean): void {
    const asked = this.#asked.get(name);
    if (ask() || asked?.isSent !== true) return;
    asked.again = () => {
      ask();
    };
  }

  /** Asks all questions again, because events may have been missed. */
  askAll(): void {
    const { families, groups } = this.#options.compiled;
    for (const group of groups.values()) if (group.ask !== undefined) this.askAgain(group.name, undefined);
    for (const family of families)
      if (family.ask !== undefined)
        for (const instance of this.#options.readings.instancesOf(family)) this.askAgain('ask', instance);
  }

  /** Starts polling. Polling stops when the device goes offline. */
  poll(): void {
    this.#polls.unsubscribe();
    const polls = new Subscription();
    this.#polls = polls;
    const { groups, families, keepAlive } = this.#options.compiled;
    const every = (ms: number | undefined, work: () => void) => {
      if (ms === undefined) return;
      let next = Subscription.EMPTY; // reused, because a `Subscription` would keep every timer that was ever added
      const again = () => {
        next = this.#options.scheduler.schedule(() => {
          work();
          if (!polls.closed) again(); // the question may have ended the link
        }, ms);
      };
      polls.add(() => next.unsubscribe());
      again();
    };
    for (const group of groups.values()) every(group.ask?.everyMs, () => this.#askGroup(group));
    for (const family of families) {
      const { ask } = family;
      if (ask !== undefined)
        every(ask.everyMs, () => {
          for (const instance of this.#options.readings.instancesOf(family)) this.askInstance(instance, ask);
        });
    }
    every(keepAlive?.everyMs, () => this.keepAlive());
  }

  /** Discards all waiting questions and stops polling, because the link has ended. */
  clear(): void {
    this.#polls.unsubscribe();
    this.#asked.clear();
  }
}

/** Returns whether a pattern identifies by itself which question a message answers. */
function identifiesQuestion(matcher: Matcher): boolean {
  return matcher.names.has('id') || /^(?:\{_\})?[^{]{2}/.test(matcher.text);
}
