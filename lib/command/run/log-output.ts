// Writes the log in the background, one write at a time, from a bounded buffer. Where the disk is full, or nobody reads the
// pipe, lines of the log are lost, counted and reported. The hub never waits for its log.
import { write, writeSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import type { LogStatus } from '../../model/reports/log-entry.ts';
import { within } from '../../model/time/deadline.ts';

/** How long it waits before it tries again: after a full pipe, and after a fault. */
const fullRetryMs = 50;
const faultRetryMs = 500;
/** A pipe that was full for this long is one that nobody reads. */
const unreadAfterMs = 1000;

/** Writes to a descriptor, which must not block where it can be full: a pipe, a socket or a terminal. */
export class LogOutput {
  readonly #descriptor: number;
  readonly #waiting = new LineBuffer();
  readonly #health: LogHealth;
  /** What is being written, or is to be written next. */
  #chunk: Buffer = Buffer.alloc(0);
  #isWriting = false;
  #retry: NodeJS.Timeout | undefined;
  #fullSinceMs: number | undefined;
  #onIdle: (() => void) | undefined;

  constructor(descriptor: number, report: ReportToLog) {
    this.#descriptor = descriptor;
    this.#health = new LogHealth(report);
  }

  get status(): LogStatus {
    return this.#health.status;
  }

  write(line: string): void {
    if (this.#health.isLosing || !this.#waiting.hasRoomFor(line)) {
      this.#health.lose();
      if (this.#isIdle && !this.#isWriting) this.#recover(); // the line alone is longer than what may wait
      return;
    }
    this.#waiting.add(line);
    this.#writeNext();
  }

  /** Resolves when all is written, or this much time has passed. */
  async flush(limitMs: number): Promise<void> {
    if (this.#isIdle) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    await within(idle, limitMs);
  }

  /** Writes at once what the system takes at once: for the end of the process. */
  flushSync(): void {
    try {
      if (this.#isWriting) this.#chunk = Buffer.alloc(0); // another thread writes it, and the process ends after that
      while (!this.#isIdle) {
        if (this.#chunk.length === 0) this.#chunk = this.#waiting.take();
        this.#chunk = this.#chunk.subarray(writeSync(this.#descriptor, this.#chunk));
      }
    } catch {} // the rest is lost
  }

  get #isIdle(): boolean {
    return this.#chunk.length === 0 && this.#waiting.isEmpty;
  }

  #writeNext(): void {
    if (this.#isWriting || this.#retry !== undefined) return;
    if (this.#chunk.length === 0) this.#chunk = this.#waiting.take();
    if (this.#chunk.length === 0) {
      this.#onIdle?.();
      return;
    }
    this.#isWriting = true;
    write(this.#descriptor, this.#chunk, 0, this.#chunk.length, null, (error, bytes) => {
      this.#isWriting = false;
      if (error !== null) this.#fail(error);
      else this.#goOn(bytes);
    });
  }

  #goOn(writtenBytes: number): void {
    this.#chunk = this.#chunk.subarray(writtenBytes);
    this.#fullSinceMs = undefined;
    if (this.#chunk.length === 0) this.#recover();
    this.#writeNext();
  }

  #fail({ code, errno, message }: NodeJS.ErrnoException): void {
    const isFull = code === 'EAGAIN';
    this.#tryLater(isFull ? fullRetryMs : faultRetryMs);
    if (isFull) this.#fullSinceMs ??= performance.now();
    if (!isFull) this.#health.complain(errno === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`);
    else if (performance.now() - this.#fullSinceMs! > unreadAfterMs) this.#health.complain('nobody reads it');
  }

  #tryLater(delayMs: number): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#writeNext();
    }, delayMs).unref(); // a log that cannot be written keeps no process from ending
  }

  /** All is well once half of what may wait is free. */
  #recover(): void {
    if (this.#waiting.isHalfFree) this.#health.recover();
  }
}

// Lines that wait to be written. Their length is bounded, and they are taken out some at a time.

/** How many characters may wait. Once they do, lines are lost until half of them have been written. */
export const maxWaitingLength = 1024 * 1024;
/** How much is written at once, unless one line is longer. */
const maxChunkLength = 64 * 1024;

class LineBuffer {
  readonly #lines: string[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Whether half of what may wait is free. */
  get isHalfFree(): boolean {
    return this.#length <= maxWaitingLength / 2;
  }

  hasRoomFor(line: string): boolean {
    return this.#length + line.length <= maxWaitingLength;
  }

  add(line: string): void {
    this.#length += line.length;
    this.#lines.push(line);
  }

  /** Takes the next lines out; an empty buffer if none waits. */
  take(): Buffer {
    let count = 0;
    let length = 0;
    while (count < this.#lines.length && (count === 0 || length + this.#lines[count]!.length <= maxChunkLength))
      length += this.#lines[count++]!.length;
    this.#length -= length;
    return Buffer.from(this.#lines.splice(0, count).join(''));
  }
}

// Whether the log is written as it should be, and how many of its lines were lost.

/** Is called with a sentence when the log cannot be written, and when it can be written again; it may write to the log. */
type ReportToLog = (sentence: string) => void;

class LogHealth {
  readonly #report: ReportToLog;
  /** Why the log is not written as it should be; empty: it is. */
  #reason = '';
  /** How many lines were lost since the start, and how many of them before all was well last. */
  #lost = 0;
  #lostBefore = 0;

  constructor(report: ReportToLog) {
    this.#report = report;
  }

  get status(): LogStatus {
    return { state: this.#reason === '' ? 'running' : 'degraded', reason: this.#reason, lost: this.#lost };
  }

  /** Whether a line was lost since all was well. */
  get isLosing(): boolean {
    return this.#lost > this.#lostBefore;
  }

  lose(): void {
    this.#lost++;
    this.complain(this.#reason === '' ? 'more is logged than can be written' : this.#reason);
  }

  /** The log is not written as it should be; only the first reason is told. */
  complain(reason: string): void {
    const isFirst = this.#reason === '';
    this.#reason = reason;
    if (isFirst) this.#report(`the log is not written: ${reason}; /hub/log has the newest entries`);
  }

  /** All is well again. */
  recover(): void {
    if (this.#reason === '') return;
    const count = this.#lost - this.#lostBefore;
    const was = this.#reason;
    this.#reason = '';
    this.#lostBefore = this.#lost;
    this.#report(`the log is written again, ${count === 1 ? '1 line was' : `${count} lines were`} lost: ${was}`);
  }
}
