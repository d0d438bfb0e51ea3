// Changes that wait for the disk, in columns, up to a bound. What comes while there is no room is lost, and becomes a gap.

import type { ClockJump } from '../../../model/time/wall-clock.ts';
import { Columns, type Gap, maxColumns } from './columns.ts';

/** Since when changes are lost, and which revision was the last that is not. */
interface Losing {
  start: number;
  readonly revision: number;
  lost: number;
  /** The times before the clock jumped meanwhile. */
  readonly earlier: Pick<Gap, 'start' | 'end' | 'lost'>[];
}

/** A clock that jumps again and again while changes are lost has the times before it told as one from here on. */
const mostEarlier = 100;

export class ColumnQueue {
  /** How many changes were lost. */
  lost = 0;
  readonly #onHalfFull: () => void;
  #columns = new Columns();
  readonly #full: Columns[] = [];
  readonly #spare: ArrayBuffer[] = [];
  /** How many columns the thread has. */
  #handed = 0;
  #losing: Losing | undefined;

  /** `onHalfFull` is called when it is time to hand over. */
  constructor(onHalfFull: () => void) {
    this.#onHalfFull = onHalfFull;
  }

  /** Whether nothing waits here, and nothing was lost that is not told yet. */
  get isEmpty(): boolean {
    return this.#full.length === 0 && this.#columns.length === 0 && this.#losing === undefined;
  }

  get isLosing(): boolean {
    return this.#losing !== undefined;
  }

  get isHalfFull(): boolean {
    return this.#full.length >= maxColumns / 2;
  }

  /** The columns that a change is to be written to; undefined: there is no room, it is lost. */
  roomFor(time: number, revision: number): Columns | undefined {
    if (this.#losing === undefined && (!this.#columns.isFull || this.#makeRoom())) return this.#columns;
    this.lost++;
    this.#losing ??= { start: time, revision: revision - 1, lost: 0, earlier: [] };
    this.#losing.lost++;
    return undefined;
  }

  /** Goes on after changes were lost, if there is room again: returns the last revision that was not. */
  goOn(now: number, reason: string): number | undefined {
    const losing = this.#losing;
    if (losing === undefined || this.#handed + this.#full.length > maxColumns / 2) return undefined;
    const { start, lost, revision, earlier } = losing;
    this.#begin();
    const all = [...earlier, { start, end: now, lost }];
    this.#columns.gaps = all.map(({ start, end, lost }) => ({ start, end: Math.max(start, end), lost, reason }));
    this.#losing = undefined;
    return revision;
  }

  /** The clock has jumped: a gap that is open ends, and goes on at the new time. */
  jump({ before, after }: ClockJump): void {
    const losing = this.#losing;
    if (losing === undefined || losing.earlier.length === mostEarlier) return;
    losing.earlier.push({ start: losing.start, end: before, lost: losing.lost });
    losing.start = after;
    losing.lost = 0;
  }

  /** Takes everything that waits, oldest first. The buffers come back later. */
  take(): readonly Columns[] {
    const isUsed = this.#columns.length + this.#columns.gaps.length > 0;
    if (isUsed) this.#begin();
    const columns = this.#full.splice(0).filter(({ length, gaps }) => length + gaps.length > 0);
    this.#handed += columns.length;
    return columns;
  }

  /** Takes buffers back. */
  giveBack(buffers: readonly ArrayBuffer[]): void {
    this.#handed -= buffers.length;
    this.#spare.push(...buffers);
    this.#spare.splice(3);
  }

  #makeRoom(): boolean {
    if (this.#full.length + this.#handed + 1 >= maxColumns) return false;
    this.#begin();
    if (this.isHalfFull) this.#onHalfFull();
    return true;
  }

  #begin(): void {
    this.#full.push(this.#columns);
    this.#columns = new Columns(this.#spare.pop());
  }
}
