// A client can ask for much work: lists of all parameters, subscriptions, messages faster than they are taken. What is not done at once
// waits here, and is done between rounds of the event loop, some milliseconds each time. Users, or the networks of clients that are none,
// take turns: whoever has had least comes next. So do the lines of each of them, such as its sockets.

import { Heap } from '../../../model/heap.ts';
import { processorMs, type Round } from './round.ts';

/** How long a slice lasts at most, if the work can be divided. */
const sliceMs = 0.5;
/** For so long, within one round, work is done as it comes. */
export const atOnceMs = 5;
/** How long the hub works between two rounds on what waits. */
export const betweenMs = 5;
/** Whoever has had something published that takes longer than `longMs` may do nothing at once for `waitsMs`: the others come first. */
const longMs = 5;
const waitsMs = 1000;

/** Work that a client has asked for. */
export interface Task {
  /** Whose slice it takes: the share of a user or a network. */
  readonly share: string;
  /** What of the share has slices of its own, such as a socket; undefined: all such tasks of the share are one line. */
  readonly line: object | undefined;
  /** Works until then, and returns whether there is more to do at once. It must not throw. */
  advance(endMs: number): boolean;
}

/** Who waits: a share, or a line of one. */
interface Waiting {
  /** How long its slices have lasted; who comes begins with at least as much as those have that wait already. */
  usedMs: number;
  /** Counts who came: of equal ones the first comes first. */
  number: number;
}

interface Line extends Waiting {
  readonly key: object | undefined;
  /** The one whose slice comes next is the first. */
  readonly tasks: Set<Task>;
}

interface Share extends Waiting {
  readonly name: string;
  readonly lines: Queue<object | undefined, Line>;
}

/** Of so many that have left a queue it is looked which had more than a newcomer begins with. */
const mostRemembered = 1024;

/** Those who wait, by key; the one that has had least time is the first. */
class Queue<Key, One extends Waiting> {
  readonly #byKey = new Map<Key, One>();
  readonly #order = new Heap<One>(isBefore);
  /** What the one had whose slice it was last. */
  #usedMs = 0;
  /** What those had that left while others waited: who leaves after each slice, and comes again, is no newcomer. */
  readonly #left = new Map<Key, number>();
  #sweepAt = mostRemembered;
  #came = 0;

  get size(): number {
    return this.#byKey.size;
  }

  find(key: Key): One | undefined {
    return this.#byKey.get(key);
  }

  add(key: Key, create: (waiting: Waiting) => One): One {
    const one = create({ usedMs: Math.max(this.#usedMs, this.#left.get(key) ?? 0), number: this.#came++ });
    this.#left.delete(key);
    this.#byKey.set(key, one);
    this.#order.add(one);
    return one;
  }

  /** The one that comes next. */
  get first(): One | undefined {
    return this.#order.first;
  }

  /** Takes the first one from its place; its key stays until `leave`. */
  take(): One {
    const first = this.#order.take()!;
    this.#usedMs = first.usedMs;
    return first;
  }

  /** The one that was taken waits for its next slice. */
  putBack(one: One, usedMs: number): void {
    one.usedMs += usedMs;
    one.number = this.#came++;
    this.#order.add(one);
  }

  /** The one that was taken is done; what it has had is remembered as long as that is more than what a newcomer begins with. */
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
  /** There are at most as many lines as there are connections. Those from which all was removed stay until their slice. */
  readonly #shares = new Queue<string, Share>();
  /** The number of the round in which something was done at once last. */
  #lastRound = 0;
  #isRequested = false;
  #isWorking = false;
  #hasSkipped = false;
  /** The time of the processor when it was last looked at. */
  #processorMs = 0;
  /** What is put off until the work between two rounds is over. */
  #atEnd: (() => void)[] = [];
  /** Until when a line, or the requests of a share, may do nothing at once, since they have long things published. */
  readonly #publishers = new Map<object | string, number>();
  #sweepAt = mostRemembered;

  constructor(round: Round) {
    this.#round = round;
  }

  /**
   * Does work at once if nobody of its share waits, and this round has time left or has done none so far. What is left of it waits for its
   * slice. `keep` is called if all of it is done later than now, for what is lent for this call alone.
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

  /** Does work of a share step by step; resolves to what it returns. Rejects with what it throws. */
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

  /** Whether a line, or the requests of a share, have lately had published what takes long: then what they ask for waits for its slice. */
  mustWait(who: object | string): boolean {
    if (this.#publishers.size === 0) return false;
    const untilMs = this.#publishers.get(who);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#publishers.delete(who);
    return false;
  }

  /** Notes who has done something at once, before which what waited took `beforeMs` to be published; returns how much longer it takes now. */
  notePublishing(who: object | string, beforeMs: number): number {
    const ms = this.#round.publishingMs - beforeMs;
    if (ms <= longMs) return Math.max(0, ms);
    const now = performance.now();
    this.#publishers.set(who, now + waitsMs);
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

  /** Has work wait for its slice. */
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

  /** Whether there is time until then, also for publishing what that makes. */
  hasTime(endMs: number): boolean {
    return performance.now() < endMs && this.#round.mayPublish;
  }

  /** Does something when all is done that this round has time for. */
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
    // What takes long to be published leaves first. Then those come who have nothing long to publish: it would double the time of this round.
    const isLate = !this.#round.mayPublish;
    if (isLate) this.#publish();
    if (this.#shares.size > 0) this.#giveSlices(isLate);
    this.#isWorking = false;
    this.#publish();
    if (this.#shares.size > 0) this.#request();
  }

  /** Gives slices, one at least. When the round is late, whoever has long things published has one only every other time. */
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

  /** Whether the line of a share that comes next has long things published. */
  #isLong({ name, lines }: Share): boolean {
    return this.mustWait(lines.first!.key ?? name);
  }

  #publish(): void {
    const ends = this.#atEnd;
    this.#atEnd = [];
    for (const end of ends) end();
  }

  /** How long a slice has lasted. Of a long one what the machine did for other programs meanwhile does not count. */
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
      // what is published late holds up nobody, so other lines of the share need not pay for it
      const usedMs = Math.max(0, ownMs - Math.max(0, this.#round.lateMs - lateMs));
      if (share.lines.size > 0) this.#shares.putBack(share, usedMs);
      else this.#shares.leave(share.name, share, usedMs);
    }
  }
}
