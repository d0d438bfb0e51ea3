// Whether the log is written as it should be, and how many of its lines were lost.

import type { LogStatus } from '../../model/reports/log-entry.ts';

/** Is called with a sentence when the log cannot be written, and when it can be written again; it may write to the log. */
export type TellLogger = (sentence: string) => void;

export class LogHealth {
  readonly #tell: TellLogger;
  /** Why the log is not written as it should be; empty: it is. */
  #reason = '';
  /** How many lines were lost since the start, and how many of them before all was well last. */
  #lost = 0;
  #lostBefore = 0;

  constructor(tell: TellLogger) {
    this.#tell = tell;
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
    if (isFirst) this.#tell(`the log is not written: ${reason}; /hub/log has the newest entries`);
  }

  /** All is well again. */
  recover(): void {
    if (this.#reason === '') return;
    const count = this.#lost - this.#lostBefore;
    const was = this.#reason;
    this.#reason = '';
    this.#lostBefore = this.#lost;
    this.#tell(`the log is written again, ${count === 1 ? '1 line was' : `${count} lines were`} lost: ${was}`);
  }
}
