// Writes the log in the background, one write at a time, from a buffer of limited size. If the disk is full or the pipe is not read, log
// lines are dropped, counted and reported. The hub never waits for its log to be written.

import { write, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { getSystemErrorMessage } from 'node:util';
import { counted } from '../../model/digits.ts';
import { printableJson } from '../../model/printable.ts';
import type { LogStatus } from '../../model/reports/log-entry.ts';
import { within } from '../../model/time/deadline.ts';

/** The delay before a retry after a full pipe, in milliseconds. */
const fullRetryMs = 50;
/** The delay before a retry after an error, in milliseconds. */
const faultRetryMs = 500;
/** The time after which a full pipe counts as unread, in milliseconds. */
const unreadAfterMs = 1000;

/** Writes log lines to a file descriptor in the background. A pipe, socket or terminal must be non-blocking. */
export class LogOutput {
  readonly #descriptor: number;
  readonly #waiting = new LineBuffer();
  readonly #health: LogHealth;
  /** The log lines that are being written, or that will be written next. */
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
      if (this.#isIdle && !this.#isWriting) this.#recover(); // this one line exceeds the buffer
      return;
    }
    this.#waiting.add(line);
    this.#writeNext();
  }

  /** Resolves when everything is written, or after `limitMs` milliseconds. */
  async flush(limitMs: number): Promise<void> {
    if (this.#isIdle) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    await within(idle, limitMs);
  }

  /** Writes as many of the remaining lines as the operating system accepts, synchronously, before the process ends. */
  flushSync(): void {
    try {
      if (this.#isWriting) this.#chunk = Buffer.alloc(0); // a pool thread is writing the chunk, and the process ends only after that
      while (!this.#isIdle) {
        if (this.#chunk.length === 0) this.#chunk = this.#waiting.take();
        this.#chunk = this.#chunk.subarray(writeSync(this.#descriptor, this.#chunk));
      }
    } catch {} // the remaining lines are lost
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
      else this.#advance(bytes);
    });
  }

  #advance(writtenBytes: number): void {
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
    else if (performance.now() - this.#fullSinceMs! > unreadAfterMs)
      this.#health.complain('nothing is reading the output');
  }

  #tryLater(delayMs: number): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#writeNext();
    }, delayMs).unref(); // a pending retry must not keep the process alive
  }

  /** Marks the log as recovered as soon as half of the buffer is free. */
  #recover(): void {
    if (this.#waiting.isHalfFree) this.#health.recover();
  }
}

// The buffer for log lines, whose size is limited. Lines are taken out in chunks.

/** The maximum length of the buffered lines, in characters. When the buffer is full, lines are dropped until half of the buffer is free. */
export const maxWaitingLength = 1024 * 1024;
/** The maximum length of a write, in characters, unless a single line is longer. */
const maxChunkLength = 64 * 1024;

class LineBuffer {
  readonly #lines: string[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Whether at least half of the buffer is free. */
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

  /** Removes and returns the next lines as one chunk, or an empty buffer if there are no lines. */
  take(): Buffer {
    let count = 0;
    let length = 0;
    while (count < this.#lines.length && (count === 0 || length + this.#lines[count]!.length <= maxChunkLength))
      length += this.#lines[count++]!.length;
    this.#length -= length;
    return Buffer.from(this.#lines.splice(0, count).join(''));
  }
}

// Keeps track of whether the log can be written, and how many lines were lost.

/**
 * Called with a message when the log cannot be written, and when the log can be written again. The callback may itself write to the log.
 */
type ReportToLog = (sentence: string) => void;

class LogHealth {
  readonly #report: ReportToLog;
  /** The reason why the log cannot be written. Empty if the log can be written. */
  #reason = '';
  /** The number of log lines that were lost since the start. */
  #lost = 0;
  /** The number of log lines that had been lost at the last recovery. */
  #lostBefore = 0;

  constructor(report: ReportToLog) {
    this.#report = report;
  }

  get status(): LogStatus {
    return { state: this.#reason === '' ? 'running' : 'degraded', reason: this.#reason, lost: this.#lost };
  }

  /** Whether log lines were lost since the last recovery. */
  get isLosing(): boolean {
    return this.#lost > this.#lostBefore;
  }

  lose(): void {
    this.#lost++;
    this.complain(this.#reason === '' ? 'entries arrive faster than they can be written' : this.#reason);
  }

  /** Records and reports that the log cannot be written. Only the first reason until the next recovery is reported. */
  complain(reason: string): void {
    const isFirst = this.#reason === '';
    this.#reason = reason;
    if (isFirst) this.#report(`the log cannot be written: ${reason}; /hub/log has the newest entries`);
  }

  /** Records and reports that the log can be written again. */
  recover(): void {
    if (this.#reason === '') return;
    const count = this.#lost - this.#lostBefore;
    const was = this.#reason;
    this.#reason = '';
    this.#lostBefore = this.#lost;
    this.#report(
      `the log can be written again; ${counted(count, 'line')} ${count === 1 ? 'was' : 'were'} lost: ${was}`,
    );
  }
}

// The format of log lines. Text from clients cannot start a new line or control a terminal.

const require = createRequire(import.meta.url);

export const logFormats = ['pretty', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

/** Matches a JSON escape, except for the line breaks in a stack trace. */
const escapes = /\\n(?= {4}at )|\\(u[\da-f]{4}|.)/gi;

/** Returns a function that formats a JSON entry as a log line, including its line break. */
export function createLogFormat(format: LogFormat): (entry: string) => string {
  if (format === 'json') return printableJson; // JSON does not escape all control characters that terminals obey
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty'); // some 40 modules, which JSON does not need
  const print = prettyFactory({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: 'connection',
  });
  return (entry) => print(asPrinted(entry));
}

/** Escapes the control characters in a log entry: `\n`, `\u001b`. */
function asPrinted(entry: string): string {
  return printableJson(entry).replace(escapes, (whole, escaped: string | undefined) =>
    escaped === undefined || escaped === '"' || escaped === '\\' || escaped === '/' ? whole : `\\\\${escaped}`,
  );
}
