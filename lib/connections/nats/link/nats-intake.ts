// Reads and processes messages from other hubs in turns. In between, the hub does all its other work, no matter how much other hubs send,
// and no hub delays the messages from another hub. Messages beyond a bound are rejected; the mirror of the sending hub detects the gap and
// repairs it.

import { messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';

/** Work that is divided into steps, each of which takes at most a few milliseconds. */
export type Steps = Iterator<undefined, void, undefined>;
/** Steps that are implemented as a generator. */
export type MadeSteps = Generator<undefined, void, undefined>;

/**
 * The time that reading and processing may take in one round of the event loop, in milliseconds. A step that is in progress at the limit is
 * finished.
 */
const roundMs = 5;
/**
 * The part of this time that is available for waiting messages, in milliseconds. Reading continues even if many messages are waiting,
 * because the next message may be from a hub that has no waiting messages.
 */
const waitingMs = 2.5;
/** The maximum number of waiting bytes for each hub, and for all hubs together. Each message requires some additional memory. */
export const maxWaitingBytes = 8 * 1024 * 1024;
const maxWaitingBytesInAll = 32 * 1024 * 1024;
const messageBytes = 256;
/** The maximum number of waiting messages from one hub. A hub sends at most one message per millisecond. */
const maxMessages = 4096;
/** The interval at which the log reports that messages from a hub were rejected, in milliseconds. */
const reportEveryMs = 1000;
/** The number of processed entries that are removed from a long queue at once. */
const forgottenJobs = 1024;
/** The maximum number of hubs that get their own turns. All other hubs share one turn. */
const maxSenders = 300;
const sharedQueue = '';

interface Job {
  readonly bytes: number;
  begin(): Steps | undefined;
}

/** The work that is waiting for one hub, oldest first. */
interface Queue {
  readonly jobs: Job[];
  /** The number of jobs in the queue that have begun. */
  begun: number;
  /** The remaining steps of the job that has begun last. */
  steps: Steps | undefined;
}

interface IntakeContext {
  /** Calls `work` after this round of the event loop. */
  readonly soon: (work: () => void) => void;
  readonly log: Log;
  /** Returns the time on a monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

export class Intake {
  readonly #soon: IntakeContext['soon'];
  readonly #log: Log;
  readonly #now: () => number;
  /** The queues, keyed by hub name, in the order in which they are handled. */
  readonly #queues = new Map<string, Queue>();
  readonly #waiting = new Shares(maxWaitingBytes, maxWaitingBytesInAll);
  /** The time that this round has taken so far, in milliseconds; undefined if no round is in progress. */
  #spentMs: number | undefined;
  /** The time that this round may take, in milliseconds, as far as it is known so far. */
  #mostMs = roundMs;
  /** The time at which the current work began, in milliseconds; undefined if no work is in progress. */
  #busySinceMs: number | undefined;
  /** The number of rejected messages, keyed by hub name. */
  readonly #refused = new Map<string, number>();
  #reportedMs = Number.NEGATIVE_INFINITY;
  /** The names of the known hubs. Each known hub gets its own turns, no matter how many other hubs there are. */
  readonly #known = new Set<string>();

  constructor({ soon, log, now = () => performance.now() }: IntakeContext) {
    this.#now = now;
    this.#soon = soon;
    this.#log = log;
  }

  /** Returns the number of messages from a hub that have been rejected since the start. */
  refusedOf(hub: string): number {
    return this.#refused.get(hub) ?? 0;
  }

  /** Records whether a hub is known, so that it has its own turns. */
  know(hub: string, isKnown: boolean): void {
    if (isKnown) this.#known.add(hub);
    else this.#known.delete(hub);
  }

  /** Receives a message from a hub. Processes it immediately if there is time and no other message from this hub is waiting. */
  take(hub: string, bytes: number, begin: () => Steps | undefined): void {
    const key = this.#known.has(hub) || this.#queues.has(hub) || this.#queues.size < maxSenders ? hub : sharedQueue;
    const waiting = this.#queues.get(key);
    if (waiting === undefined && this.hasTime) {
      const steps = this.#run(begin);
      if (steps !== undefined) this.#queues.set(key, { jobs: [], begun: 0, steps });
      return;
    }
    const job = { bytes: bytes + messageBytes, begin };
    const isFull = waiting !== undefined && waiting.jobs.length - waiting.begun >= maxMessages;
    if (isFull || !this.#waiting.take(key, job.bytes)) this.#refuse(hub);
    else if (waiting === undefined) this.#queues.set(key, { jobs: [job], begun: 0, steps: undefined });
    else waiting.jobs.push(job);
  }

  /**
   * Runs `work` for a hub, either immediately or in the hub's next turn, before the hub's waiting messages. Errors: any error from `work`.
   */
  async run<T>(hub: string, work: () => T): Promise<T> {
    let result: T;
    await this.goThrough(hub, {
      next() {
        result = work();
        return { done: true, value: undefined };
      },
    });
    return result!;
  }

  /** Runs steps for a hub in the hub's turns, before the hub's waiting messages. Errors: any error from the steps. */
  goThrough(hub: string, steps: Steps): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const own: Steps = {
      next() {
        try {
          const result = steps.next();
          if (result.done) resolve();
          return result;
        } catch (error) {
          reject(error);
          return { done: true, value: undefined };
        }
      },
    };
    const waiting = this.#queues.get(hub);
    if (waiting !== undefined) waiting.steps = waiting.steps === undefined ? own : both(own, waiting.steps);
    else {
      const steps = this.hasTime ? this.#run(() => own) : own;
      if (steps !== undefined) this.#queues.set(hub, { jobs: [], begun: 0, steps });
    }
    return promise;
  }

  /** Whether there is time left in this round. */
  get hasTime(): boolean {
    this.#enter();
    const busyMs = this.#busySinceMs === undefined ? 0 : this.#now() - this.#busySinceMs;
    return this.#spentMs! + busyMs < this.#mostMs;
  }

  /**
   * Begins work whose time counts towards this round. The work may continue after this method has returned, until the returned function is
   * called.
   */
  begin(): () => void {
    if (this.#busySinceMs !== undefined) return () => {};
    this.#enter();
    this.#busySinceMs = this.#now();
    return () => {
      if (this.#busySinceMs === undefined) return;
      this.#spentMs = (this.#spentMs ?? 0) + this.#now() - this.#busySinceMs;
      this.#busySinceMs = undefined;
    };
  }

  #enter(): void {
    if (this.#spentMs !== undefined) return;
    this.#spentMs = 0;
    this.#soon(this.#runRound);
  }

  /** Runs a round, in which each hub has a turn until the time limit is reached. */
  readonly #runRound = (): void => {
    this.#spentMs = undefined;
    if (this.#queues.size === 0) return;
    const end = this.begin();
    this.#mostMs = waitingMs;
    for (const [hub, queue] of this.#queues) {
      if (!this.hasTime) break;
      const hasMore = this.#advance(hub, queue);
      this.#queues.delete(hub);
      if (hasMore) this.#queues.set(hub, queue); // after all other hubs
    }
    this.#mostMs = roundMs;
    end();
  };

  /** Does the next piece of work for a hub. Returns whether more work is waiting. */
  #advance(hub: string, queue: Queue): boolean {
    const { steps, jobs } = queue;
    if (steps !== undefined) {
      queue.steps = undefined;
      if (this.#step(steps)) queue.steps = queue.steps === undefined ? steps : both(queue.steps, steps);
    } else {
      const job = jobs[queue.begun++]!;
      this.#waiting.give(hub, job.bytes);
      queue.steps = this.#run(job.begin);
      if (queue.begun === jobs.length || queue.begun >= forgottenJobs) {
        jobs.splice(0, queue.begun);
        queue.begun = 0;
      }
    }
    return queue.steps !== undefined || jobs.length > 0;
  }

  /** Begins a job and runs its steps while there is time. Returns the remaining steps, or undefined if the job is complete. */
  #run(begin: Job['begin']): Steps | undefined {
    const end = this.begin();
    try {
      const steps = begin();
      while (steps !== undefined && this.#step(steps)) if (!this.hasTime) return steps;
    } catch (error) {
      this.#fail(error);
    } finally {
      end();
    }
    return undefined;
  }

  /** Runs one step. Returns whether more steps remain. */
  #step(steps: Steps): boolean {
    try {
      return !steps.next().done;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #fail(error: unknown): void {
    this.#log.error({}, `a message from another hub could not be processed: ${messageOf(error)}`, 'intake failed');
  }

  #refuse(hub: string): void {
    if (this.#refused.has(hub) || this.#refused.size < maxSenders) this.#refused.set(hub, this.refusedOf(hub) + 1);
    const nowMs = this.#now();
    if (nowMs - this.#reportedMs < reportEveryMs) return;
    this.#reportedMs = nowMs;
    const message = `hub "${hub}" sends more than this hub can process: this hub drops the excess and requests it again later`;
    this.#log.warn({ hub, limitBytes: maxWaitingBytes }, message, 'too many messages');
  }
}

function* both(first: Steps, second: Steps): MadeSteps {
  for (const steps of [first, second]) while (!steps.next().done) yield;
}

// A bound for each of several users, and a common bound for all users together. When the common bound has been reached, each user may still
// take an equal share, so that earlier users do not lock out later users.

export class Shares {
  readonly #most: number;
  readonly #mostInAll: number;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(most: number, mostInAll: number) {
    this.#most = most;
    this.#mostInAll = mostInAll;
  }

  /** Returns the amount that a user has taken. */
  of(user: string): number {
    return this.#taken.get(user) ?? 0;
  }

  /** Takes an amount for a user, or takes nothing if the amount would exceed a bound. Returns whether the amount was taken. */
  take(user: string, amount: number): boolean {
    const taken = this.of(user) + amount;
    const isEven = taken <= this.#mostInAll / (this.#taken.size + 1);
    if (taken > this.#most || (this.#all + amount > this.#mostInAll && !isEven)) return false;
    this.#taken.set(user, taken);
    this.#all += amount;
    return true;
  }

  /** Returns an amount that a user has taken. */
  give(user: string, amount: number): void {
    const left = this.of(user) - amount;
    if (left > 0) this.#taken.set(user, left);
    else this.#taken.delete(user);
    this.#all -= amount;
  }
}
