// What comes from other hubs is read and worked through in turns: the hub serves everybody else in between, however much a hub sends, and
// what one sends keeps no other one waiting. What a hub sends beyond a bound is refused, which its mirror finds and mends.

import { messageOf } from '../../../model/error.ts';
import type { Log } from '../../connection.ts';
import { Shares } from './even-shares.ts';

/** Work that is done in steps, each of some milliseconds at most. */
export type Steps = Iterator<undefined, void, undefined>;
/** The same, as a generator makes it. */
export type MadeSteps = Generator<undefined, void, undefined>;

/** How long all of it takes at most in one round of the event loop, reading included, but for the step that is under way then. */
const roundMs = 5;
/** So much of that is for what waits: what comes is read also while much waits, as it may be of a hub of which nothing does. */
const waitingMs = 2.5;
/** How many bytes of one hub wait at most, and of all together; some of what a message takes beside its bytes. */
export const maxWaitingBytes = 8 * 1024 * 1024;
const maxWaitingBytesInAll = 32 * 1024 * 1024;
const messageBytes = 256;
/** And how many messages of one hub: it sends one a millisecond. */
const maxMessages = 4096;
/** How often it is logged that something of a hub was refused. */
const reportEveryMs = 1000;
/** Of a long queue those that were begun are forgotten by so many. */
const forgottenJobs = 1024;
/** So many hubs have their own turns; further ones share one. */
const maxSenders = 300;
const others = '';

interface Job {
  readonly bytes: number;
  begin(): Steps | undefined;
}

/** What waits of one hub, oldest first. */
interface Queue {
  readonly jobs: Job[];
  /** How many of them were begun. */
  begun: number;
  /** What was begun and has steps left. */
  steps: Steps | undefined;
}

interface IntakeContext {
  /** Runs work after this round of the event loop. */
  readonly soon: (work: () => void) => void;
  readonly log: Log;
  /** What measures how long something takes, in milliseconds. */
  readonly now?: () => number;
}

export class Intake {
  readonly #soon: IntakeContext['soon'];
  readonly #log: Log;
  readonly #now: () => number;
  /** By hub, the one whose turn it is first. */
  readonly #queues = new Map<string, Queue>();
  readonly #waiting = new Shares(maxWaitingBytes, maxWaitingBytesInAll);
  /** How long this round has taken; undefined: it has not begun. */
  #spentMs: number | undefined;
  /** How long it may take so far. */
  #mostMs = roundMs;
  /** Since when something is being done; undefined: nothing is. */
  #busySinceMs: number | undefined;
  /** How many messages of each hub were refused. */
  readonly #refused = new Map<string, number>();
  #reportedMs = Number.NEGATIVE_INFINITY;
  /** Hubs that are known: each has its own turns, however many others there are. */
  readonly #known = new Set<string>();

  constructor({ soon, log, now = () => performance.now() }: IntakeContext) {
    this.#now = now;
    this.#soon = soon;
    this.#log = log;
  }

  /** How many messages of a hub were refused since the start. */
  refusedOf(hub: string): number {
    return this.#refused.get(hub) ?? 0;
  }

  /** Says whether a hub is known. */
  know(hub: string, isKnown: boolean): void {
    if (isKnown) this.#known.add(hub);
    else this.#known.delete(hub);
  }

  /** Takes a message of a hub: at once, if there is time and nothing of that hub waits. */
  take(hub: string, bytes: number, begin: () => Steps | undefined): void {
    const key = this.#known.has(hub) || this.#queues.has(hub) || this.#queues.size < maxSenders ? hub : others;
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

  /** Does something for a hub when its turn comes, before what waits of it, or at once. Errors: those of the work. */
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

  /** Goes through steps for a hub when its turn comes, before what waits of it. Errors: those of the steps. */
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

  /** Does something that counts as time of this round. It may go on beyond its return: that ends when what is returned here is called. */
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
    this.#soon(this.#goOn);
  }

  /** Begins a round: each hub has a turn, until the time is over. */
  readonly #goOn = (): void => {
    this.#spentMs = undefined;
    if (this.#queues.size === 0) return;
    const end = this.begin();
    this.#mostMs = waitingMs;
    for (const [hub, queue] of this.#queues) {
      if (!this.hasTime) break;
      const hasMore = this.#advance(hub, queue);
      this.#queues.delete(hub);
      if (hasMore) this.#queues.set(hub, queue); // behind all others, whose turns come before its next one
    }
    this.#mostMs = roundMs;
    end();
  };

  /** Does the next thing of a hub; returns whether more of it waits. */
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

  /** Begins work and goes through its steps for as long as there is time; returns those that are left. */
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

  /** Does a step; returns whether there are more. */
  #step(steps: Steps): boolean {
    try {
      return !steps.next().done;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #fail(error: unknown): void {
    this.#log.error({}, `what another hub has sent could not be worked through: ${messageOf(error)}`, 'intake failed');
  }

  #refuse(hub: string): void {
    if (this.#refused.has(hub) || this.#refused.size < maxSenders) this.#refused.set(hub, this.refusedOf(hub) + 1);
    const nowMs = this.#now();
    if (nowMs - this.#reportedMs < reportEveryMs) return;
    this.#reportedMs = nowMs;
    const message = `hub "${hub}" sends more than this hub works through: what it sends beyond is left out, and mended later`;
    this.#log.warn({ hub, limitBytes: maxWaitingBytes }, message, 'sends too much');
  }
}

function* both(first: Steps, second: Steps): MadeSteps {
  for (const steps of [first, second]) while (!steps.next().done) yield;
}
