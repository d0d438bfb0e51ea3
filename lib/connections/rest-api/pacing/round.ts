// How long the hub has worked for clients in this round of the event loop. uWebSockets.js goes on reading a socket while that fills its
// buffer of 512 KB. So one client could keep a round going for ever, and nothing else would run: no other client, timer or signal.
// What comes when the time of a round is over is kept, and waits in the fair queue.
import { cpuUsage } from 'node:process';

/** After so much work, in bytes of messages, the round looks at the clock again. */
const lookEvery = 4096;
/** How many bytes more a message costs than it has. */
const messageWork = 128;
/** After this the round counts the time of the processor, since clients cannot help what the machine does for other programs. */
const wallMs = 2;
/** To ask the system for that time takes some microseconds, so the round asks at most this often. */
const askEveryMs = 1;
/** But other clients wait meanwhile, so at least this share of the time that has passed counts. */
const leastShare = 1 / 3;
/** So long may it take at most to publish what waits for the end of the round: then no more is taken in it. */
const longestPublishingMs = 8;
/** But uWebSockets.js sends 32 frames in one piece: such a run is filled when it then takes no longer than this altogether. */
const runFrames = 32;
const longestRunsMs = 13;
/** How long it takes about to publish a frame for one socket, and each character of it. */
const publishingOneMs = 0.0002;
const publishingCharacterMs = 0.001 / 1024;

/** How long it takes about to publish a frame of so many characters for so many sockets. */
export function publishingMsOf(sockets: number, characters: number): number {
  return sockets * (publishingOneMs + characters * publishingCharacterMs);
}

export class Round {
  #work = lookEvery;
  /** When the round began, in milliseconds of a monotonic clock (0: it has not begun), and how long it had lasted at the last look. */
  #beganMs = 0;
  #spentMs = 0;
  #workedMs = 0;
  /** The time of the processor at the first look in this round; undefined: there was none. */
  #usedMs: number | undefined = undefined;
  #askedMs = 0;
  #publishingMs = 0;
  #lateMs = 0;
  /** How many frames wait. */
  #frames = 0;
  /** Another number for each round in which the clock was looked at. */
  number = 0;

  /** Counts a message of so many bytes that the hub is about to take; returns whether this round has lasted for less than `limitMs`. */
  hasTime(bytes: number, limitMs: number): boolean {
    this.#work += messageWork + bytes;
    if (this.#work >= lookEvery) this.look();
    return this.#spentMs < limitMs && this.mayPublish;
  }

  /** How long this round had lasted at the last look. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /** How long the hub had worked in this round at the last look: what the machine did for other programs meanwhile does not count. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** A frame for so many sockets, with a value of so many characters, waits until the end of the round. Returns how long it takes about. */
  willPublish(sockets: number, characters: number): number {
    const ms = publishingMsOf(sockets, characters);
    this.#publishingMs += ms;
    this.#frames++;
    return ms;
  }

  /** A frame that waits for so many sockets gets longer by so many characters. Returns how much longer that takes about. */
  willPublishMore(sockets: number, characters: number): number {
    const ms = sockets * characters * publishingCharacterMs;
    this.#publishingMs += ms;
    return ms;
  }

  /** So much of it is not published in this round, but bit by bit in the next ones. */
  willPublishLate(ms: number): void {
    this.#lateMs += ms;
  }

  /** What waited has been published. */
  hasPublished(): void {
    this.#publishingMs = 0;
    this.#lateMs = 0;
    this.#frames = 0;
  }

  /** How much of what waits is published in later rounds. */
  get lateMs(): number {
    return this.#lateMs;
  }

  /** How long it takes about to publish what waits, what is late included. */
  get publishingMs(): number {
    return this.#publishingMs;
  }

  /** Whether what waits is published soon enough that more may come. */
  get mayPublish(): boolean {
    if (this.#publishingMs < longestPublishingMs) return true;
    const frames = this.#frames;
    const beyond = frames % runFrames;
    return beyond > 0 && (this.#publishingMs / frames) * (frames + runFrames - beyond) <= longestRunsMs;
  }

  /** Looks at the clock. */
  look(): void {
    this.#work = 0;
    const now = performance.now();
    if (this.#beganMs === 0) {
      this.#beganMs = now;
      this.number++;
      setImmediate(this.#end);
    } else if (now - this.#beganMs < wallMs) this.#spentMs = this.#workedMs = now - this.#beganMs;
    else if (now - this.#askedMs >= askEveryMs) {
      this.#askedMs = now;
      const usedMs = processorMs();
      this.#usedMs ??= usedMs;
      const passedMs = now - this.#beganMs;
      this.#workedMs = Math.min(passedMs, wallMs + usedMs - this.#usedMs);
      this.#spentMs = Math.max(this.#workedMs, passedMs * leastShare);
    }
  }

  readonly #end = () => {
    this.#beganMs = 0;
    this.#spentMs = this.#workedMs = 0;
    this.#usedMs = undefined;
    this.#work = lookEvery; // the first message of a round looks at the clock
  };
}

// Knows whether the machine or the process has stood still lately: then all comes at once that clients have sent meanwhile, which is no
// fault of theirs. Time in which the process worked does not count: a flood may have made it work.

const lookEveryMs = 100;
/** A shorter time is that of a machine that does other work. */
const stillMs = 250;
/** For so long afterwards it was lately: what has come takes a while to be read. */
const latelyMs = 1000;

export class StandStill {
  readonly #timer = setInterval(() => this.#look(performance.now()), lookEveryMs).unref();
  #lookedMs = performance.now();
  #processorMs = processorMs();
  #endedMs = Number.NEGATIVE_INFINITY;

  wasLately(): boolean {
    const now = performance.now();
    if (now - this.#lookedMs > stillMs) this.#look(now); // what has come may be read before the timer is due
    return now - this.#endedMs < latelyMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    const usedMs = processorMs();
    if (now - this.#lookedMs - (usedMs - this.#processorMs) > stillMs) this.#endedMs = now;
    this.#lookedMs = now;
    this.#processorMs = usedMs;
  }
}

// How long this process has worked. What others on the machine take meanwhile is no fault of its clients.

/** The time of the processor that the process has used since it began, in milliseconds. */
export function processorMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
