// A client can ask for much work, such as lists of all parameters. So the hub gives such work some milliseconds of each round of the
// event loop, and the rest of the round to everything else. Users, or the addresses of those who are none, have slices of that one after
// the other, and so has what each of them asked for.

import { processorMs } from './processor-time.ts';

/** How long a slice lasts at most. */
const sliceMs = 0.5;
/** After so much of a round, less than any limit, the time of the processor is looked up. That takes some microseconds. */
const wallMs = 0.5;
const taskRoundMs = 3;
const taskAtOnceMs = 15;

export interface WorkQueueOptions<Work> {
  /** How much of a round is for all the work in the queue. */
  readonly roundMs: number;
  /** How much of a round is for work that is done at once because nobody waits. */
  readonly atOnceMs: number;
  /** Works until then, and returns whether there is more to do at once. It must not throw. */
  readonly advance: (work: Work, endMs: number) => boolean;
  /** Whose slice it takes: the share of a user or an address. */
  readonly shareOf: (work: Work) => string;
}

/** Work that a client has asked for. */
export interface Task {
  /** Whose slice it takes: the share of a user or an address. */
  readonly share: string;
  /** Works until then, and returns whether there is more to do at once. It must not throw. */
  advance(endMs: number): boolean;
}

export type TaskQueue = WorkQueue<Task>;

/** Creates the queue of the tasks of a connection. */
export function createTaskQueue(): TaskQueue {
  return new WorkQueue<Task>({
    roundMs: taskRoundMs,
    atOnceMs: taskAtOnceMs,
    advance: (task, endMs) => task.advance(endMs),
    shareOf: ({ share }) => share,
  });
}

export class WorkQueue<Work> {
  readonly #options: WorkQueueOptions<Work>;
  /** By share. There are at most as many as there are connections. */
  readonly #waiting = new Map<string, Set<Work>>();
  /** How long the work of this round has taken at most, and the time of the processor when it began; undefined: not looked up. */
  #spentMs = 0;
  #usedMs: number | undefined = undefined;
  #isRequested = false;

  constructor(options: WorkQueueOptions<Work>) {
    this.#options = options;
  }

  /** Does work at once if nobody waits and this round has time left. What is left of it is put into the queue. */
  do(work: Work): void {
    const { atOnceMs } = this.#options;
    const mayNow = this.#waiting.size === 0 && this.#hasTime(atOnceMs);
    if (!mayNow || this.#advance(work, atOnceMs - this.#spentMs)) this.add(work);
  }

  /** Puts work into the queue. */
  add(work: Work): void {
    const share = this.#options.shareOf(work);
    const waiting = this.#waiting.get(share);
    if (waiting === undefined) this.#waiting.set(share, new Set([work]));
    else waiting.add(work);
    this.#runSoon();
  }

  remove(work: Work): void {
    const share = this.#options.shareOf(work);
    const waiting = this.#waiting.get(share);
    if (waiting?.delete(work) && waiting.size === 0) this.#waiting.delete(share);
  }

  /** Works for so long at most; returns whether there is more to do. */
  #advance(work: Work, ms: number): boolean {
    const start = performance.now();
    const hasMore = this.#options.advance(work, start + ms);
    this.#spentMs += performance.now() - start;
    if (this.#spentMs >= wallMs) this.#usedMs ??= processorMs() - this.#spentMs;
    this.#runSoon();
    return hasMore;
  }

  /** Whether the work of this round has taken less. What the machine did for other programs meanwhile is looked up when it matters. */
  #hasTime(limitMs: number): boolean {
    if (this.#spentMs >= limitMs) this.#spentMs = Math.min(this.#spentMs, processorMs() - this.#usedMs!);
    return this.#spentMs < limitMs;
  }

  #beginRound(): void {
    this.#spentMs = 0;
    this.#usedMs = undefined;
  }

  #runSoon(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isRequested = false;
    this.#beginRound();
    while (this.#waiting.size > 0 && this.#hasTime(this.#options.roundMs)) {
      const work = this.#next();
      if (this.#advance(work, sliceMs)) this.add(work);
    }
    if (this.#waiting.size === 0) this.#beginRound();
  }

  /** Takes out what is next. The share whose slice it was is the last one then. */
  #next(): Work {
    const [share, waiting] = this.#waiting.entries().next().value!;
    const work = waiting.values().next().value!;
    this.#waiting.delete(share);
    waiting.delete(work);
    if (waiting.size > 0) this.#waiting.set(share, waiting);
    return work;
  }
}
