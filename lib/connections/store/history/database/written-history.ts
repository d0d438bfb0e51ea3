// The work of the history thread: it opens the database in any condition and writes the changes that it receives. Changes that cannot be
// written have to wait.

import { makeFolder } from '../../../../files/make-folder.ts';
import { messageOf } from '../../../../model/error.ts';
import { type ClockReading, readClocks } from '../../../../model/time/age-clock.ts';
import { jumpMs } from '../../../../model/time/wall-clock.ts';
import { clearLog, exists, filesOf, setAside } from '../../thread/database/files.ts';
import { FolderLock, hasLost, lostLog, readLogIndex } from '../../thread/database/open-stored.ts';
import { checkDatabase, troubleOf } from '../../thread/database/store-database.ts';
import type { Changes, HistoryAnswer, JumpRow, OpenHistory } from '../history-messages.ts';
import { hourMs } from '../history-tables.ts';
import { Batch, type KnownParameter } from './batch.ts';
import { dropDamagedBlocks, HistoryDatabase } from './history-database.ts';
import { Room, roomOnDisk } from './room.ts';
import { Writing } from './writing.ts';

interface Open {
  readonly database: HistoryDatabase;
  readonly writing: Writing;
}

export class HistoryKeeping {
  #request: OpenHistory | undefined;
  #lock: FolderLock | undefined;
  #open: Open | undefined;
  /** The parameters, indexed by their numbers in the columns. */
  readonly #parameters: (KnownParameter | undefined)[] = [];
  #batch: Batch | undefined;
  /** The time at which the last changes arrived, in milliseconds since 1970. */
  #until = 0;
  #losses: string[] = [];
  #rows = 0;
  #seen: number | undefined;
  #buffers: ArrayBuffer[] = [];

  open(request: OpenHistory, now = readClocks()): HistoryAnswer {
    this.#request = request;
    this.#until = request.now;
    return this.#answer(() => this.#openFile(request, now));
  }

  write(changes: Changes, now = readClocks()): HistoryAnswer {
    for (const { from, to } of changes.renames ?? [])
      for (const known of this.#parameters) if (known?.address === from) known.address = to;
    for (const [number, address, type, rule] of changes.parameters)
      this.#parameters[number] = { address, type, rule, id: 0 };
    const jumps = jumpsOf(changes, this.#until);
    this.#batch = new Batch({ ...changes, jumps }, this.#parameters, (rule) => this.#request!.rules[rule]!.rawMs > 0);
    this.#until = changes.until;
    return this.goOn(now);
  }

  goOn(now = readClocks()): HistoryAnswer {
    return this.#answer(() => this.#write(this.#open!, now));
  }

  check(): HistoryAnswer {
    return this.#answer(() => {
      const { database } = this.#open!.database;
      checkDatabase(database);
      this.#losses.push(...dropDamagedBlocks(database, filesOf(this.#request!.folder, 'history').path));
    });
  }

  close(): void {
    try {
      if (this.#batch === undefined) this.#open?.writing.end(this.#until);
    } catch {} // the next start finds an earlier mark instead
    this.#close();
  }

  #openFile(request: OpenHistory, reading: ClockReading): void {
    const { folder, room, rules, isFirst, now, startedAt, epoch } = request;
    const files = filesOf(folder, 'history');
    const { path } = files;
    this.#close();
    makeFolder(folder);
    this.#lock = takeLock(folder);
    this.#losses.push(...clearLog(files));
    if (!exists(path)) HistoryDatabase.create(path);
    const before = readLogIndex(path);
    HistoryDatabase.recognize(path, isFirst);
    if (isFirst && hasLost(before, readLogIndex(path))) this.#losses.push(lostLog(path));
    const onDisk = roomOnDisk(folder, room);
    const database = new HistoryDatabase(path, onDisk, reading);
    this.#losses.push(...database.losses);
    const writing = new Writing(database, rules, new Room(folder, path, database, onDisk), epoch);
    this.#open = { database, writing };
    this.#seen = database.mark()?.seen;
    for (const known of this.#parameters) if (known !== undefined) known.id = 0;
    if (this.#batch !== undefined) {
      this.#batch.beginAgain();
      this.#writeChanges(writing, this.#batch);
    }
    writing.rebuild();
    this.#giveBack();
    if (isFirst) writing.addGap(startedAt, now);
  }

  #write({ database, writing }: Open, now: ClockReading): void {
    const batch = this.#batch;
    database.ages.read(now);
    if (batch !== undefined) {
      this.#writeChanges(writing, batch);
      writing.count(batch);
      this.#giveBack();
    }
    writing.writeSpans(this.#until);
    writing.delete();
  }

  #writeChanges(writing: Writing, batch: Batch): void {
    writing.writeChanges(batch, (rows) => {
      this.#rows += rows;
    });
  }

  #giveBack(): void {
    for (const { buffer } of this.#batch?.columns ?? []) this.#buffers.push(buffer);
    this.#batch = undefined;
  }

  #answer(work: () => void): HistoryAnswer {
    const trouble = this.#attempt(work);
    const [losses, rows, seen, buffers] = [this.#losses, this.#rows, this.#seen, this.#buffers];
    this.#losses = [];
    this.#rows = 0;
    this.#buffers = [];
    const leftOut = this.#open?.database.leftOut.take();
    return { losses, trouble, seen, leftOut, rows, oldest: this.#oldest(), buffers };
  }

  #attempt(work: () => void): HistoryAnswer['trouble'] {
    try {
      work();
      return undefined;
    } catch (error) {
      for (const known of this.#parameters) if (known !== undefined) known.id = 0;
      const trouble = troubleOf(error);
      const reason = messageOf(error);
      if ((trouble === 'full' || trouble === 'busy') && this.#open !== undefined) return { state: 'full', reason };
      this.#close();
      if (trouble === 'damaged') this.#setAside(reason);
      return { state: 'closed', reason };
    }
  }

  #setAside(reason: string): void {
    const files = filesOf(this.#request!.folder, 'history');
    try {
      const aside = setAside(files);
      const now = new Date().toISOString();
      this.#losses.push(
        `${files.path} is damaged (${reason}) and was set aside as ${aside}: everything recorded before ${now} is lost`,
      );
    } catch (error) {
      this.#losses.push(`${files.path} is damaged (${reason}) and cannot be set aside: ${messageOf(error)}`);
    }
  }

  #oldest(): number | undefined {
    try {
      const hour = this.#open?.database.hourAfter(Number.MIN_SAFE_INTEGER);
      return hour === undefined ? undefined : hour * hourMs;
    } catch {
      return undefined; // the next write reports the fault
    }
  }

  #close(): void {
    try {
      this.#open?.database.close();
    } catch {} // a damaged database may fail to close
    this.#open = undefined;
    this.#lock?.free();
    this.#lock = undefined;
  }
}

/**
 * Returns the clock jumps in a message. If the clock shows an earlier time than in the previous message, the clock was set back, even if
 * the hub noticed no jump.
 */
function jumpsOf({ until, jumps = [] }: Changes, before: number): readonly JumpRow[] {
  return jumps.length === 0 && until <= before - jumpMs ? [{ before, after: until, revision: undefined }] : jumps;
}

/**
 * Takes the lock of the history, because another hub may still be writing to the history, and the log is reliable only if no other process
 * empties it.
 */
function takeLock(folder: string): FolderLock {
  try {
    return new FolderLock(folder, 'history');
  } catch (error) {
    if (troubleOf(error) !== 'busy') throw error;
    throw new Error('another hub stores its history in this folder', { cause: error });
  }
}
