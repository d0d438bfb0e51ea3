// How two threads share the pieces of a list: each takes the next one that nobody has taken, and the second hands over what it has read.

import type { HandedList } from './messages.ts';
import type { Mark } from './past-database.ts';

/** What the second thread is asked to help with. */
export interface ShareRequest {
  readonly number: number;
  /** The path of the database. */
  readonly path: string;
  readonly question: HandedList;
  /** When it is asked; together with the mark that is the moment which the whole answer is of. */
  readonly now: number;
  readonly mark: Mark;
  /** How long the question may still take. */
  readonly leftMs: number;
  readonly desk: Desk;
}

/** A piece that the second thread has read. */
export interface SharedPiece {
  readonly number: number;
  readonly place: number;
  readonly text: string;
}

/** Where pieces are taken, in memory that both threads see. */
export type Desk = Int32Array<SharedArrayBuffer>;

const [nextPlace, handed, ended] = [0, 1, 2];

export function createDesk(): Desk {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
}

/** The place of the next piece; it may be behind the last one. */
export function takePlace(desk: Desk): number {
  return Atomics.add(desk, nextPlace, 1);
}

/** Nobody is to take any more of so many pieces. */
export function closeDesk(desk: Desk, pieces: number): void {
  Atomics.store(desk, nextPlace, pieces);
}

/** The second thread says that it has handed over a piece. */
export function tellHanded(desk: Desk): void {
  Atomics.add(desk, handed, 1);
  Atomics.notify(desk, handed);
}

/** The second thread says that it hands over no more. */
export function tellEnded(desk: Desk): void {
  Atomics.store(desk, ended, 1);
  tellHanded(desk);
}

export function hasEnded(desk: Desk): boolean {
  return Atomics.load(desk, ended) === 1;
}

export function countHanded(desk: Desk): number {
  return Atomics.load(desk, handed);
}

/** Waits until more is handed over than was counted. Returns false when it took too long. */
export function awaitHanded(desk: Desk, counted: number, mostMs: number): boolean {
  return Atomics.wait(desk, handed, counted, mostMs) !== 'timed-out';
}
