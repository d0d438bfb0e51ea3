// The thread that writes the history, seen from the hub's.

import { StoreThread } from '../store-thread.ts';
import type { Changes, HistoryAnswer, HistoryRequest, OpenHistory } from './messages.ts';

/** Errors of all of it: when the thread has ended. */
export class HistoryWriter {
  readonly #thread = new StoreThread<HistoryRequest, HistoryAnswer>('history-thread', 'writes the history');

  /** Opens the database, whatever has become of it. */
  open(request: Omit<OpenHistory, 'ask'>): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'open', ...request });
  }

  write(changes: Changes, transfer: readonly ArrayBuffer[]): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'write', changes }, transfer);
  }

  /** Tries again to write what could not be written. */
  goOn(): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'go on' });
  }

  /** Reads all of the file for damage. */
  check(): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'check' });
  }

  /** Closes the database and ends the thread. */
  async end(): Promise<void> {
    await this.#thread.ask({ ask: 'close' }).catch(() => {});
    await this.#thread.end();
  }
}
