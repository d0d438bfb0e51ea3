// Measures the work for clients in one round of the event loop. uWebSockets.js continues to read from a socket while each read fills its
// 512 KB buffer. So one client could extend a round forever, and no other client, timer or signal would be served. Messages that arrive
// after the time limit of a round wait in the fair queue.
import { cpuUsage } from 'node:process';

/** The amount of work between two checks of the clock, in bytes of messages. */
const lookEvery = 4096;
/** The cost of a message in addition to its length, in bytes. */
const messageWork = 128;
/**
 * The time after which a round counts CPU time instead, in milliseconds, because clients are not responsible for other programs on the
 * machine.
 */
const wallMs = 2;
/** The minimum interval between two readings of the CPU time, in milliseconds. A reading takes some microseconds. */
const askEveryMs = 1;
/** The minimum share of the elapsed time that counts even if other programs were running, because clients are waiting. */
const leastShare = 1 / 3;
/** The maximum publishing time at the end of a round, in milliseconds. Beyond this time, the round accepts no more messages. */
const longestPublishingMs = 8;
/**
 * The number of frames that uWebSockets.js sends together. A run of this many frames is completed if publishing takes at most
 * `longestRunsMs` in total.
 */
const runFrames = 32;
const longestRunsMs = 13;
/** The approximate time to publish a frame to one socket, in milliseconds, and the additional time per character. */
const publishingOneMs = 0.0002;
const publishingCharacterMs = 0.001 / 1024;

/** Returns the approximate time to publish a frame with a value of `characters` characters to a number of sockets, in milliseconds. */
export function publishingMsOf(sockets: number, characters: number): number {
  return sockets * (publishingOneMs + characters * publishingCharacterMs);
}

export class Round {
  #work = lookEvery;
  /**
   * The beginning of the round, in milliseconds on the monotonic clock (0 if the round has not begun), and the duration of the round at the
   * last check.
   */
  #beganMs = 0;
  #spentMs = 0;
  #workedMs = 0;
  /** The CPU time of the process at the first reading in this round, in milliseconds; undefined before the first reading. */
  #usedMs: number | undefined = undefined;
  #askedMs = 0;
  #publishingMs = 0;
  #lateMs = 0;
  /** The number of frames that wait for the end of the round. */
  #frames = 0;
  /** The number of rounds so far in which the clock was checked; identifies the current round. */
  number = 0;

  /**
   * Counts a message that the hub is about to process. Returns whether this round has lasted for less than `limitMs` and may publish more.
   */
  hasTime(bytes: number, limitMs: number): boolean {
    this.#work += messageWork + bytes;
    if (this.#work >= lookEvery) this.look();
    return this.#spentMs < limitMs && this.mayPublish;
  }

  /** The duration of this round at the last check, in milliseconds; at least a third of the elapsed time. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /**
   * The time that the hub had spent working in this round at the last check, in milliseconds. Time that the machine spent on other programs
   * does not count.
   */
  get workedMs(): number {
    return this.#workedMs;
  }

  /**
   * Counts a frame that waits until the end of the round, with a value of `characters` characters. Returns the approximate time to publish
   * the frame, in milliseconds.
   */
  willPublish(sockets: number, characters: number): number {
    const ms = publishingMsOf(sockets, characters);
    this.#publishingMs += ms;
    this.#frames++;
    return ms;
  }

  /**
   * Counts further characters in a frame that is already waiting. Returns the approximate additional time to publish the frame, in
   * milliseconds.
   */
  willPublishMore(sockets: number, characters: number): number {
    const ms = sockets * characters * publishingCharacterMs;
    this.#publishingMs += ms;
    return ms;
  }

  /** Notes that `ms` of the publishing time counted so far are spread over later rounds. */
  willPublishLate(ms: number): void {
    this.#lateMs += ms;
  }

  /** Resets the publishing time, because all waiting frames have been published. */
  hasPublished(): void {
    this.#publishingMs = 0;
    this.#lateMs = 0;
    this.#frames = 0;
  }

  /** The part of the publishing time that is spread over later rounds, in milliseconds. */
  get lateMs(): number {
    return this.#lateMs;
  }

  /** The approximate time to publish all waiting frames, in milliseconds, including the part that is spread over later rounds. */
  get publishingMs(): number {
    return this.#publishingMs;
  }

  /** Whether the waiting frames take little enough time to publish that the round may accept more. */
  get mayPublish(): boolean {
    if (this.#publishingMs < longestPublishingMs) return true;
    const frames = this.#frames;
    const beyond = frames % runFrames;
    return beyond > 0 && (this.#publishingMs / frames) * (frames + runFrames - beyond) <= longestRunsMs;
  }

  /** Checks the clock, which begins the round if necessary. */
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
/** The minimum duration of a suspension, in milliseconds. A shorter pause is normal on a busy machine. */
const stillMs = 250;
/** How long a suspension counts as recent, in milliseconds, because reading everything that has arrived takes a while. */
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

// Measures the CPU time of this process. Clients are not responsible for the time that other programs on the machine take.

/** Returns the CPU time that the process has used since its start, in milliseconds. */
export function processorMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
