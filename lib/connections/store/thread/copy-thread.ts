// The thread that copies a database while another thread is writing to it. The copy shows the state at a single moment, and the writer is
// not blocked. The copy is moved into place once it is complete and checked.

import { renameSync, rmSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../model/error.ts';
import type { ThreadData } from '../store-thread.ts';
import { type DatabaseFiles, sync } from './database/files.ts';
import { checkDatabase, copyDatabase, expectRoom, readDatabase, troubleOf } from './database/store-database.ts';
import type { Copied } from './values/values-messages.ts';

const { folder, path, copy } = (workerData as ThreadData<DatabaseFiles>).data;
const part = `${copy}.part`;

parentPort!.postMessage(makeCopy());

function makeCopy(): Copied {
  try {
    rmSync(part, { force: true });
    expectRoom(folder, 'history', statSync(path).size); // the copy has to leave as much free space as the history does
    copyDatabase(path, part);
    checkCopy();
    sync(part);
    renameSync(part, copy);
    return { state: 'copied' };
  } catch (error) {
    rmSync(part, { force: true });
    return { state: troubleOf(error) === 'damaged' ? 'damaged' : 'failed', reason: messageOf(error) };
  }
}

/** Checks the integrity of the copy. Errors: any SQLite error, `DamagedError`. */
function checkCopy(): void {
  const database = readDatabase(part);
  try {
    checkDatabase(database);
  } finally {
    database.close();
  }
}
