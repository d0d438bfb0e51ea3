// The thread that writes the audit and the log, one batch after another. It waits for the disk, so that the hub does not have to.

import { parentPort } from 'node:worker_threads';
import { type AuditDatabase, openAudit } from '../audit/audit-database.ts';
import type { AuditAnswer, AuditBatch, AuditRequest, HeldAudit, PackedAuditBatch } from '../audit/audit-messages.ts';
import { rowOfCells } from '../audit/audit-tables.ts';
import { unpackRows } from '../packed-rows.ts';
import { shrinkDatabases } from './database/store-database.ts';
import { WrittenDatabase } from './database/written-database.ts';
import { neverInterrupt, returnMemoryWhenIdle } from './give-way.ts';

const port = parentPort!;
const written = new WrittenDatabase<HeldAudit, AuditDatabase>();

neverInterrupt();
port.on('message', (request: AuditRequest) => {
  port.postMessage(answer(request));
  returnMemoryWhenIdle(shrinkDatabases);
});

function answer(request: AuditRequest): AuditAnswer {
  switch (request.ask) {
    case 'open':
      return { opened: written.open(() => openAudit(request)) };
    case 'write': {
      const batch = unpack(request.batch);
      const state = written.write((database) => database.write(batch));
      return { written: state, oldest: state.state === 'written' ? written.database!.oldest() : undefined };
    }
    case 'close':
      written.close();
      return { done: true };
  }
}

function unpack(batch: PackedAuditBatch): AuditBatch {
  return { ...batch, rows: unpackRows(batch.rows).map(rowOfCells) };
}
