// Measures the work for clients in this round of the event loop. uWebSockets.js continues to read from a socket as long as each read fills
// its 512 KB buffer. So one client could extend a round forever, and no other client, timer or signal would be served. Messages that arrive
// after the time limit of a round wait in the fair queue.
import { cpuUsage } from 'node:process';

/** The amount of work, in message bytes, after which the round checks the clock again. */
const lookEvery = 4096;
/** The cost of a message in addition to its length, in bytes. */
const messageWork = 128;
/** The time after which a round counts CPU time, because clients are not responsible for other programs on the machine. */
const wallMs = 2;
/** The minimum interval between readings of the CPU time, because a reading takes some microseconds. */
const askEveryMs = 1;
/** The minimum share of the elapsed time that counts, because other clients are waiting. */
const leastShare = 1 / 3;
/** The maximum time for publishing at the end of the round. Beyond this time, the round accepts no more messages. */
const longestPublishingMs = 8;
/**
 * The number of frames that uWebSockets.js sends together. A run of this many frames is completed if publishing takes no longer than
 * `longestRunsMs` in total.
 */
const runFrames = 32;
const longestRunsMs = 13;
/** The approximate time to publish a frame to one socket, and the time per character. */
const publishingOneMs = 0.0002;
const publishingCharacterMs = 0.001 / 1024;

/** Returns the approximate time to publish a frame of that many characters to that many sockets. */
export function publishingMsOf(sockets: number, characters: number): number {
  return sockets * (publishingOneMs + characters * publishingCharacterMs);
}

export class Round {
  #work = lookEvery;
  /**
   * When the round began, in milliseconds on a monotonic clock (0 if it has not begun), and how long the round had lasted at the last
   * check.
   */
  #beganMs = 0;
  #spentMs = 0;
  #workedMs = 0;
  /** The CPU time at the first check in this round; undefined if there has been no check. */
  #usedMs: number | undefined = undefined;
  #askedMs = 0;
  #publishingMs = 0;
  #lateMs = 0;
  /** The number of frames that are waiting. */
  #frames = 0;
  /** Changes with each round in which the clock was checked. */
  number = 0;

  /** Counts a message that the hub is about to process; returns whether this round has lasted for less than `limitMs`. */
  hasTime(bytes: number, limitMs: number): boolean {
    this.#work += messageWork + bytes;
    if (this.#work >= lookEvery) this.look();
    return this.#spentMs < limitMs && this.mayPublish;
  }

  /** The duration of this round at the last check. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /** The time for which the hub had worked in this round at the last check, excluding the time that the machine spent on other programs. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /**
   * Counts a frame that waits until the end of the round and contains a value of that many characters. Returns the approximate time to
   * publish the frame.
   */
  willPublish(sockets: number, characters: number): number {
    const ms = publishingMsOf(sockets, characters);
    this.#publishingMs += ms;
    this.#frames++;
    return ms;
  }

  /** Adds that many characters to a waiting frame. Returns the approximate additional time. */
  willPublishMore(sockets: number, characters: number): number {
    const ms = sockets * characters * publishingCharacterMs;
    this.#publishingMs += ms;
    return ms;
  }

  /** Counts publishing time that is spread over the next rounds. */
  willPublishLate(ms: number): void {
    this.#lateMs += ms;
  }

  /** Notes that all waiting frames have been published. */
  hasPublished(): void {
    this.#publishingMs = 0;
    this.#lateMs = 0;
    this.#frames = 0;
  }

  /** The publishing time in later rounds. */
  get lateMs(): number {
    return this.#lateMs;
  }

  /** The approximate time to publish all waiting frames, including later rounds. */
  get publishingMs(): number {
    return this.#publishingMs;
  }

  /** Whether all waiting frames are published soon enough to accept more. */
  get mayPublish(): boolean {
    if (this.#publishingMs < longestPublishingMs) return true;
    const frames = this.#frames;
    const beyond = frames % runFrames;
    return beyond > 0 && (this.#publishingMs / frames) * (frames + runFrames - beyond) <= longestRunsMs;
  }

  /** Checks the clock. */
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
    this.#work = lookEvery; // the first message of a round checks the clock
  };
}

// Detects whether the machine or the process was recently suspended. If so, everything that clients sent in the meantime arrives together,
// which is not the clients' fault. Time during which the process was working does not count, because a flood may have caused it.

const lookEveryMs = 100;
/** The minimum duration of a suspension. A shorter pause is normal on a busy machine. */
const stillMs = 250;
/** The time for which a suspension counts as recent, because reading everything takes a while. */
const latelyMs = 1000;

export class StandStill {
  readonly #timer = setInterval(() => this.#look(performance.now()), lookEveryMs).unref();
  #lookedMs = performance.now();
  #processorMs = processorMs();
  #endedMs = Number.NEGATIVE_INFINITY;

  wasLately(): boolean {
    const now = performance.now();
    if (now - this.#lookedMs > stillMs) this.#look(now); // messages may be read before the timer is due
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

// Measures the work of this process. Clients are not responsible for the time that other programs on the machine take.

/** Returns the CPU time that the process has used since its start, in milliseconds. */
export function processorMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
