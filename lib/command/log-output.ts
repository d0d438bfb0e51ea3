// Where the log is written: aside, one write at a time, into a buffer that is bounded. A full disk, or a pipe that nobody
// reads, costs lines of the log, which are counted and told; it never stops or ends the hub.

import { write, writeSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { within } from '../model/deadline.ts';
import type { LogStatus } from '../model/log-entry.ts';

/** How much waits to be written at most, in characters. Lines beyond are lost, until half of it has been written. */
export const maxWaitingLength = 1024 * 1024;
/** How much is written at once, if no line is longer. */
const maxChunkLength = 64 * 1024;
/** How soon is tried again what did not fit into a pipe, and what failed. */
const fullRetryMs = 50;
const faultRetryMs = 500;
/** A pipe that was full for this long is one that nobody reads. */
const unreadAfterMs = 1000;

export interface LogOutput {
  readonly status: LogStatus;
  write(line: string): void;
  /** Resolves when all is written, or this much time has passed. */
  flush(limitMs: number): Promise<void>;
  /** Writes at once what the system takes at once: for the end of the process. */
  flushSync(): void;
}

/** Is called with a sentence when the log cannot be written, and when it is again. */
export type TellLogger = (sentence: string) => void;

/** Writes to a descriptor, which must not block where it can be full: a pipe, a socket or a terminal. */
export function createLogOutput(descriptor: number, tell: TellLogger): LogOutput {
  const lines: string[] = [];
  let waitingLength = 0;
  let chunk = Buffer.alloc(0);
  let isWriting = false;
  let retry: NodeJS.Timeout | undefined;
  let fullSinceMs: number | undefined;
  /** Why it is not written as it should be; empty: it is. */
  let reason = '';
  /** How many lines were lost since the start, and by the time that all was well last. */
  let lost = 0;
  let lostBefore = 0;
  let onIdle: (() => void) | undefined;

  const isIdle = () => chunk.length === 0 && lines.length === 0;
  const isLosing = () => lost > lostBefore;

  const complain = (why: string) => {
    if (reason === '') {
      reason = why;
      tell(`the log is not written: ${why}; /hub/log has the newest entries`);
    } else reason = why;
  };
  const recover = () => {
    if (reason === '' || waitingLength > maxWaitingLength / 2) return;
    const count = lost - lostBefore;
    const was = reason;
    reason = '';
    lostBefore = lost;
    tell(`the log is written again, ${count === 1 ? '1 line was' : `${count} lines were`} lost: ${was}`);
  };
  const nextChunk = () => {
    let count = 0;
    let length = 0;
    while (count < lines.length && (count === 0 || length + lines[count]!.length <= maxChunkLength))
      length += lines[count++]!.length;
    waitingLength -= length;
    return Buffer.from(lines.splice(0, count).join(''));
  };
  const tryLater = (delayMs: number) => {
    retry = setTimeout(() => {
      retry = undefined;
      go();
    }, delayMs).unref(); // a log that cannot be written keeps no process from ending
  };
  const go = () => {
    if (isWriting || retry !== undefined) return;
    if (chunk.length === 0) chunk = nextChunk();
    if (chunk.length === 0) {
      onIdle?.();
      return;
    }
    isWriting = true;
    write(descriptor, chunk, 0, chunk.length, null, (error, bytes) => {
      isWriting = false;
      if (error !== null) fail(error);
      else {
        chunk = chunk.subarray(bytes);
        fullSinceMs = undefined;
        if (chunk.length === 0) recover();
        go();
      }
    });
  };
  const fail = ({ code, errno, message }: NodeJS.ErrnoException) => {
    const isFull = code === 'EAGAIN';
    tryLater(isFull ? fullRetryMs : faultRetryMs);
    if (isFull) fullSinceMs ??= performance.now();
    if (!isFull) complain(errno === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`);
    else if (performance.now() - fullSinceMs! > unreadAfterMs) complain('nobody reads it');
  };

  return {
    get status(): LogStatus {
      return { state: reason === '' ? 'running' : 'degraded', reason, lost };
    },
    write(line) {
      if (isLosing() || waitingLength + line.length > maxWaitingLength) {
        lost++;
        complain(reason === '' ? 'more is logged than can be written' : reason);
        if (isIdle() && !isWriting) recover(); // a line that is longer than all that may wait
        return;
      }
      waitingLength += line.length;
      lines.push(line);
      go();
    },
    async flush(limitMs) {
      if (isIdle()) return;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      await within(idle, limitMs);
    },
    flushSync() {
      try {
        if (isWriting) chunk = Buffer.alloc(0); // it is under way
        while (!isIdle()) {
          if (chunk.length === 0) chunk = nextChunk();
          chunk = chunk.subarray(writeSync(descriptor, chunk));
        }
      } catch {} // it is lost
    },
  };
}
