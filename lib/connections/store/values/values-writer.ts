// The thread that writes values, seen from the hub's.

import { buffersOf, packRows } from '../packed-rows.ts';
import { StoreThread } from '../store-thread.ts';
import type { Answer, Batch, Opened, OpenRequest, Request, Written } from '../thread/values/values-messages.ts';

export class ValuesWriter {
  readonly #thread = new StoreThread<Request, Answer>('values-thread', 'writes values');

  /** Opens the database, whatever has become of it. Errors: when the thread has ended. */
  async open(request: Omit<OpenRequest, 'ask'>): Promise<Opened> {
    const answer = await this.#thread.ask({ ask: 'open', ...request });
    return (answer as { opened: Opened }).opened;
  }

  /** Writes a batch; when it resolves as written, it is on the disk. Errors: when the thread has ended. */
  async write(batch: Batch): Promise<Written> {
    const values = packRows(batch.values);
    const question: Request = { ask: 'write', batch: { ...batch, values } };
    return ((await this.#thread.ask(question, buffersOf(values))) as { written: Written }).written;
  }

  /** Forgets the values of all other addresses. Errors: when the thread has ended. */
  async makeRoom(addresses: readonly string[]): Promise<Written> {
    return ((await this.#thread.ask({ ask: 'make room', addresses })) as { written: Written }).written;
  }

  /** Closes the database and ends the thread. */
  async end(): Promise<void> {
    await this.#thread.ask({ ask: 'close' }).catch(() => {});
    await this.#thread.end();
  }
}
