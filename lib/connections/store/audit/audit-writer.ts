// The thread that writes the audit and the log, seen from the hub's.

import { buffersOf, packRows } from '../packed-rows.ts';
import { StoreThread } from '../store-thread.ts';
import type { AuditAnswer, AuditBatch, AuditRequest, OpenAudit, OpenedAudit } from './messages.ts';
import { cellsOf } from './tables.ts';

type WrittenAnswer = Extract<AuditAnswer, { readonly written: unknown }>;

export class AuditWriter {
  readonly #thread = new StoreThread<AuditRequest, AuditAnswer>('audit-thread', 'writes the audit');

  /** Opens the database, whatever has become of it. Errors: when the thread has ended. */
  async open(request: Omit<OpenAudit, 'ask'>): Promise<OpenedAudit> {
    return ((await this.#thread.ask({ ask: 'open', ...request })) as { opened: OpenedAudit }).opened;
  }

  /** Writes a batch; when it resolves as written, it is on the disk. Errors: when the thread has ended. */
  async write(batch: AuditBatch): Promise<WrittenAnswer> {
    const rows = packRows(batch.rows.map(cellsOf));
    return (await this.#thread.ask({ ask: 'write', batch: { ...batch, rows } }, buffersOf(rows))) as WrittenAnswer;
  }

  /** Closes the database and ends the thread. */
  async end(): Promise<void> {
    await this.#thread.ask({ ask: 'close' }).catch(() => {});
    await this.#thread.end();
  }
}
