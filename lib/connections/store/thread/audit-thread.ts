// The thread that writes the audit and the log: a batch after the other. It waits for the disk, so that the hub need not.

import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../../model/error.ts';
import type { AuditAnswer, AuditRequest, PackedAuditBatch } from '../audit/messages.ts';
import { type OpenedFile, openAudit } from '../audit/open-audit.ts';
import { rowOfCells } from '../audit/rows.ts';
import { unpackRows } from '../packed-rows.ts';
import { expectRoom } from './free-room.ts';
import type { Written } from './messages.ts';
import { troubleOf } from './trouble.ts';

const port = parentPort!;
let open: OpenedFile | undefined;
let folder = '';

port.on('message', (request: AuditRequest) => port.postMessage(answer(request)));

function answer(request: AuditRequest): AuditAnswer {
  switch (request.ask) {
    case 'open':
      close();
      ({ folder } = request);
      open = openAudit(request);
      return { opened: open.opened };
    case 'write':
      return write(request.batch);
    case 'close':
      close();
      return { done: true };
  }
}

function write(batch: PackedAuditBatch): AuditAnswer {
  try {
    expectRoom(folder, 'audit');
    const database = open!.database!;
    database.write({ ...batch, rows: unpackRows(batch.rows).map(rowOfCells) });
    return { written: { state: 'written' }, oldest: database.oldest() };
  } catch (error) {
    return { written: failed(error) };
  }
}

function failed(error: unknown): Written {
  const trouble = troubleOf(error);
  if (trouble === 'full' || trouble === 'busy') return { state: 'full', reason: messageOf(error) };
  close();
  return { state: trouble === 'damaged' ? 'damaged' : 'closed', reason: messageOf(error) };
}

function close(): void {
  try {
    open?.close();
  } catch {} // what is damaged may not close
  open = undefined;
}
