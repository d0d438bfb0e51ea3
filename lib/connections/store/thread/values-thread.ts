// The thread that writes values: it opens the database, and writes a batch after the other. It waits for the disk, so that the
// hub need not.

import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../../model/error.ts';
import { unpackRows } from '../packed-rows.ts';
import type { Answer, PackedBatch, Request, ValueRow, Written } from './messages.ts';
import { type OpenValues, openValues } from './open-values.ts';
import { troubleOf } from './trouble.ts';

const port = parentPort!;
let open: OpenValues | undefined;

port.on('message', (request: Request) => port.postMessage(answer(request)));

function answer(request: Request): Answer {
  switch (request.ask) {
    case 'open':
      close();
      open = openValues(request);
      return { opened: open.opened };
    case 'write':
      return { written: attempt(() => write(request.batch)) };
    case 'make room':
      return { written: attempt(() => open!.database!.keepOnly(request.addresses)) };
    case 'close':
      close();
      return { done: true };
  }
}

function write({ values, ...rest }: PackedBatch): void {
  open!.database!.write({ ...rest, values: unpackRows(values) as unknown as ValueRow[] });
}

function attempt(write: () => void): Written {
  try {
    write();
    return { state: 'written' };
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble === 'full' || trouble === 'busy') return { state: 'full', reason: messageOf(error) };
    close();
    return { state: trouble === 'damaged' ? 'damaged' : 'closed', reason: messageOf(error) };
  }
}

function close(): void {
  try {
    open?.close();
  } catch {} // what is damaged may not close
  open = undefined;
}
