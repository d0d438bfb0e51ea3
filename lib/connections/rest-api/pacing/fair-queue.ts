// Clients can request a lot of work: lists of all parameters, subscriptions, messages faster than the hub processes them. Work that is not
// done immediately waits here, and is done between rounds of the event loop, for a few milliseconds each time. Users, and networks of
// clients without a user, take turns: the user or network that has used the least time is next. Within each user or network, lines such as
// sockets take turns in the same way.

import { Heap } from '../../../model/heap.ts';
import { processorMs, type Round } from './round.ts';

/** The maximum duration of a slice, in milliseconds, for work that can be divided. */
const sliceMs = 0.5;
/** The time in each round during which work is done as soon as it arrives, in milliseconds. */
export const atOnceMs = 5;
/** How long the hub works on waiting tasks between two rounds, in milliseconds. */
export const betweenMs = 5;
/**
 * The publishing time of a sender's changes above which the sender may do nothing immediately for `waitsMs`, in milliseconds, because other
 * senders have precedence.
 */
const longMs = 5;
const waitsMs = 1000;

/** Work that a client has requested, which is done in slices. */
export interface Task {
  /** The share to which the task is charged: a user or a network. */
  readonly share: string;
  /** The part of the share that gets separate slices, such as a socket. All tasks of the share whose line is undefined form one line. */
  readonly line: object | undefined;
  /** Works until `endMs` on the monotonic clock; returns whether more can be done immediately. Must not throw. */
  advance(endMs: number): boolean;
}

/** A share that is waiting for a slice, or a line within a share. */
interface Waiting {
  /**
   * The total duration of all slices so far, in milliseconds. A newcomer begins with the lowest total among the waiting shares or lines.
   */
  usedMs: number;
  /** The position in the order of arrival: among equal totals, the earliest arrival is next. */
  number: number;
}

interface Line extends Waiting {
  readonly key: object | undefined;
  /** The tasks in order of arrival; the first task gets the next slice. */
  readonly tasks: Set<Task>;
}

interface Share extends Waiting {
  readonly name: string;
  readonly lines: Queue<object | undefined, Line>;
}

/** The number of remembered shares or lines at which the queue forgets all those whose total does not exceed the total of a newcomer. */
const mostRemembered = 1024;

/** The waiting shares or lines, ordered by the time that they have used; the least time comes first. */
class Queue<Key, One extends Waiting> {
  readonly #byKey = new Map<Key, One>();
  readonly #order = new Heap<One>(isBefore);
  /** The total, in milliseconds, of the share or line that had the last slice, which is where a newcomer begins. */
  #usedMs = 0;
  /**
   * The totals of shares or lines that left while others were waiting, keyed like the queue. Without these totals, leaving after each slice
   * would make a share a newcomer each time.
   */
  readonly #left = new Map<Key, number>();
  #sweepAt = mostRemembered;
  #arrivals = 0;

  get size(): number {
    return this.#byKey.size;
  }

  find(key: Key): One | undefined {
    return this.#byKey.get(key);
  }

  add(key: Key, create: (waiting: Waiting) => One): One {
    const one = create({ usedMs: Math.max(this.#usedMs, this.#left.get(key) ?? 0), number: this.#arrivals++ });
    this.#left.delete(key);
    this.#byKey.set(key, one);
    this.#order.add(one);
    return one;
  }

  /** The share or line that gets the next slice. */
  get first(): One | undefined {
    return this.#order.first;
  }

  /** Takes the first share or line out of the order. Its key remains until `leave` is called. */
  take(): One {
    const first = this.#order.take()!;
    this.#usedMs = first.usedMs;
    return first;
  }

  /** Puts back a share or line that was taken out, and adds `usedMs` to its total. It then waits for its next slice. */
  putBack(one: One, usedMs: number): void {
    one.usedMs += usedMs;
    one.number = this.#arrivals++;
    this.#order.add(one);
  }

  /** Removes a share or line that was taken out. The queue remembers its total as long as the total exceeds that of a newcomer. */
  leave(key: Key, one: One, usedMs: number): void {
    this.#byKey.delete(key);
    if (this.#byKey.size === 0) {
      this.#usedMs = 0;
      this.#left.clear();
      return;
    }
    this.#left.set(key, one.usedMs + usedMs);
    if (this.#left.size < this.#sweepAt) return;
    for (const [other, had] of this.#left) if (had <= this.#usedMs) this.#left.delete(other);
    this.#sweepAt = mostRemembered + 2 * this.#left.size;
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return one.usedMs < other.usedMs || (one.usedMs === other.usedMs && one.number < other.number);
}

export class FairQueue {
  readonly #round: Round;
  /**
   * The waiting shares, keyed by name. There are at most as many lines as connections. A line without tasks remains until its next slice.
   */
  readonly #shares = new Queue<string, Share>();
  /** The number of the last round in which work was done immediately. */
  #lastRound = 0;
  #isRequested = false;
  #isWorking = false;
  #hasSkipped = false;
  /** The CPU time of the process at the last check, in milliseconds. */
  #processorMs = 0;
  /** The functions to call when the slices between two rounds are over. */
  #atEnd: (() => void)[] = [];
  /**
   * The time until which a line, or a share's requests, may do nothing immediately, in milliseconds on the monotonic clock: their changes
   * take a long time to publish.
   */
  readonly #publishers = new Map<object | string, number>();
  #sweepAt = mostRemembered;

  constructor(round: Round) {
    this.#round = round;
  }

  /**
   * Works on a task immediately if nothing else of its share is waiting, and if this round has time left or has done no work so far. The
   * rest of the work waits for a slice. If all of the work is done later, `keep` is called to copy data that is valid only during this
   * call.
   */
  do(task: Task, keep?: () => void): void {
    const { share, line } = task;
    if (!this.#mayNow(share) || this.mustWait(line ?? share)) {
      keep?.();
      this.add(task);
      return;
    }
    const before = this.#round.publishingMs;
    const hasMore = task.advance(performance.now() + Math.max(sliceMs, atOnceMs - this.#round.workedMs));
    this.#round.look();
    this.notePublishing(line ?? share, before);
    if (hasMore) this.add(task);
  }

  /** Does work step by step and charges it to a share; resolves to the result. Errors: any error from the work. */
  run<Result>(share: string, work: Iterator<unknown, Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const advance = (endMs: number) => {
      try {
        do {
          const { done, value } = work.next();
          if (!done) continue;
          resolve(value);
          return false;
        } while (performance.now() < endMs);
        return true;
      } catch (error) {
        reject(error);
        return false;
      }
    };
    this.do({ share, line: undefined, advance });
    return promise;
  }

  /**
   * Returns whether the changes of a line, or of a share's requests, recently took a long time to publish; the sender's tasks then have to
   * wait for their slices.
   */
  mustWait(sender: object | string): boolean {
    if (this.#publishers.size === 0) return false;
    const untilMs = this.#publishers.get(sender);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#publishers.delete(sender);
    return false;
  }

  /**
   * Notes how much publishing time the immediate work of a sender has added, and returns this time in milliseconds. Before the work,
   * publishing would have taken `beforeMs`.
   */
  notePublishing(sender: object | string, beforeMs: number): number {
    const ms = this.#round.publishingMs - beforeMs;
    if (ms <= longMs) return Math.max(0, ms);
    const now = performance.now();
    this.#publishers.set(sender, now + waitsMs);
    if (this.#publishers.size < this.#sweepAt) return ms;
    for (const [other, untilMs] of this.#publishers) if (untilMs <= now) this.#publishers.delete(other);
    this.#sweepAt = mostRemembered + 2 * this.#publishers.size;
    return ms;
  }

  #mayNow(share: string): boolean {
    if (this.#isWorking || !this.#round.mayPublish || this.#shares.find(share) !== undefined) return false;
    this.#round.look();
    const isFirst = this.#lastRound !== this.#round.number;
    this.#lastRound = this.#round.number;
    return isFirst || this.#round.workedMs < atOnceMs;
  }

  /** Adds a task, which waits for its slices. */
  add(task: Task): void {
    const { share: name, line: key } = task;
    const share =
      this.#shares.find(name) ??
      this.#shares.add(name, (waiting) => ({ ...waiting, name, lines: new Queue<object | undefined, Line>() }));
    const line = share.lines.find(key) ?? share.lines.add(key, (waiting) => ({ ...waiting, key, tasks: new Set() }));
    line.tasks.add(task);
    this.#request();
  }

  remove(task: Task): void {
    this.#shares.find(task.share)?.lines.find(task.line)?.tasks.delete(task);
  }

  /** Returns whether there is time left until `endMs` on the monotonic clock, and time to publish further changes. */
  hasTime(endMs: number): boolean {
    return performance.now() < endMs && this.#round.mayPublish;
  }

  /** Calls a function as soon as all work for which this round has time is done. */
  atEnd(work: () => void): void {
    this.#atEnd.push(work);
    if (!this.#isWorking) this.#request();
  }

  #request(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    setImmediate(() => this.#work());
  }

  #work(): void {
    this.#isRequested = false;
    this.#isWorking = true;
    // Changes that take a long time to publish are published first, and then only lines without such changes get slices: other lines would
    // double the duration of this round.
    const isLate = !this.#round.mayPublish;
    if (isLate) this.#publish();
    if (this.#shares.size > 0) this.#giveSlices(isLate);
    this.#isWorking = false;
    this.#publish();
    if (this.#shares.size > 0) this.#request();
  }

  /**
   * Assigns at least one slice. When the round is late, a line whose changes take a long time to publish gets a slice only every other
   * time.
   */
  #giveSlices(isLate: boolean): void {
    const endMs = performance.now() + betweenMs;
    this.#processorMs = processorMs();
    const mayTakeLong = !isLate || this.#hasSkipped;
    this.#hasSkipped = false;
    for (let isFree = true; this.#shares.size > 0 && (isFree || this.hasTime(endMs)); isFree = false) {
      this.#hasSkipped = !mayTakeLong && this.#isLong(this.#shares.first!);
      if (this.#hasSkipped) break;
      this.#giveSlice(endMs);
    }
  }

  /** Returns whether the line that is next in a share makes changes that take a long time to publish. */
  #isLong({ name, lines }: Share): boolean {
    return this.mustWait(lines.first!.key ?? name);
  }

  #publish(): void {
    const ends = this.#atEnd;
    this.#atEnd = [];
    for (const end of ends) end();
  }

  /**
   * Returns how long a slice that began at `startMs` has lasted, in milliseconds. In a long slice, the time that the machine spent on other
   * programs does not count.
   */
  #usedSince(startMs: number): number {
    const passedMs = performance.now() - startMs;
    if (passedMs < sliceMs) return passedMs;
    const before = this.#processorMs;
    this.#processorMs = processorMs();
    return Math.min(passedMs, this.#processorMs - before);
  }

  #giveSlice(endMs: number): void {
    const share = this.#shares.take();
    const line = share.lines.take();
    const task = line.tasks.values().next().value;
    const startMs = performance.now();
    const beforeMs = this.#round.publishingMs;
    const lateMs = this.#round.lateMs;
    try {
      if (task === undefined) return;
      line.tasks.delete(task);
      if (task.advance(Math.min(endMs, startMs + sliceMs))) line.tasks.add(task);
    } finally {
      const ownMs = this.#usedSince(startMs) + this.notePublishing(line.key ?? share.name, beforeMs);
      if (line.tasks.size > 0) share.lines.putBack(line, ownMs);
      else share.lines.leave(line.key, line, ownMs);
      // late publishing delays no client, so other lines of the share are not charged for this time
      const usedMs = Math.max(0, ownMs - Math.max(0, this.#round.lateMs - lateMs));
      if (share.lines.size > 0) this.#shares.putBack(share, usedMs);
      else this.#shares.leave(share.name, share, usedMs);
    }
  }
}
