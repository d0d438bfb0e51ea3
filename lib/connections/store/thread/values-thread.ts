// The thread that writes values: it opens the database and writes one batch after another. It waits for the disk, so that the hub does not
// have to.

import { parentPort } from 'node:worker_threads';
import { unpackRows } from '../packed-rows.ts';
import type { Piece } from '../store-thread.ts';
import type { Begun } from './database/open-stored.ts';
import { shrinkDatabases } from './database/store-database.ts';
import { WrittenDatabase } from './database/written-database.ts';
import { neverInterrupt, returnMemoryWhenIdle } from './give-way.ts';
import { beginValues, type ValuesDatabase } from './values/values-database.ts';
import type { Answer, Batch, Held, Opened, PackedBatch, Read, Request, ValueRow } from './values/values-messages.ts';

/** The number of values in one message. */
const pieceRows = 250;

const port = parentPort!;
const written = new WrittenDatabase<Held, ValuesDatabase>();
/** The database that has been read but is not open for writing yet; undefined if there is none. */
let begun: Begun<Held, ValuesDatabase> | undefined;

neverInterrupt();
port.on('message', (request: Request) => {
  port.postMessage(answer(request));
  returnMemoryWhenIdle(shrinkDatabases);
});

function answer(request: Request): Answer {
  switch (request.ask) {
    case 'read':
      written.close();
      begun = beginValues(request);
      return { read: sendPieces(begun.read) };
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

/**
 * Sends the values in pieces, and returns the rest. The C library keeps as much free memory in each thread as the largest message took,
 * and the hub would block while it reads such a message.
 */
function sendPieces({ held, ...rest }: Read): Read {
  if (held === undefined) return { ...rest, held };
  for (let from = 0; from < held.values.length; from += pieceRows)
    port.postMessage({ pieceOfAnswer: held.values.slice(from, from + pieceRows) } satisfies Piece);
  return { ...rest, held: { ...held, values: [] } };
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
