// The thread that writes values: it opens the database and writes one batch after another. It waits for the disk, so that the hub does not
// have to.

import { parentPort } from 'node:worker_threads';
import { unpackRows } from '../packed-rows.ts';
import type { Begun } from './database/open-stored.ts';
import { WrittenDatabase } from './database/written-database.ts';
import { neverInterrupt, returnMemoryWhenIdle } from './give-way.ts';
import { beginValues, type ValuesDatabase } from './values/values-database.ts';
import type { Answer, Batch, Held, Opened, PackedBatch, Request, ValueRow } from './values/values-messages.ts';

const port = parentPort!;
const written = new WrittenDatabase<Held, ValuesDatabase>();
/** The database that has been read but is not open for writing yet; undefined if there is none. */
let begun: Begun<Held, ValuesDatabase> | undefined;

neverInterrupt();
port.on('message', (request: Request) => {
  port.postMessage(answer(request));
  returnMemoryWhenIdle();
});

function answer(request: Request): Answer {
  switch (request.ask) {
    case 'read':
      written.close();
      begun = beginValues(request);
      return { read: begun.read };
    case 'open':
      return { opened: open() };
    case 'write': {
      const batch = unpack(request.batch);
      const result = written.write((database) => database.write(batch));
      return { written: result.state === 'full' ? { ...result, isUsedUp: written.database!.isUsedUp } : result };
    }
    case 'make room':
      return { written: written.write((database) => database.keepOnly(request.addresses)) };
    case 'close':
      written.close();
      return { done: true };
  }
}

/** Opens the database that has been read; omits the contents, which the hub already has. */
function open(): Omit<Opened, 'held'> {
  const { held: _, ...opened } = written.open(() => begun!.open());
  begun = undefined;
  return opened;
}

function unpack({ values, ...rest }: PackedBatch): Batch {
  return { ...rest, values: unpackRows(values) as unknown[] as ValueRow[] };
}
