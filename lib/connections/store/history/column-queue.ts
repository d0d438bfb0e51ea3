// Changes that wait for the disk, in columns, up to a bound. What comes while there is no room is lost, and becomes a gap.

import { Columns, maxColumns } from './columns.ts';

/** Since when changes are lost, and which revision was the last that is not. */
interface Losing {
  readonly start: number;
  readonly revision: number;
  lost: number;
}

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

  /** When the oldest change was made that waits here; undefined: none does. */
  get oldest(): number | undefined {
    const columns = this.#full[0] ?? this.#columns;
    return columns.length > 0 ? columns.time[0] : this.#losing?.start;
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
    this.#losing ??= { start: time, revision: revision - 1, lost: 0 };
    this.#losing.lost++;
    return undefined;
  }

  /** Goes on after changes were lost, if there is room again: returns the last revision that was not. */
  goOn(now: number, reason: string): number | undefined {
    const losing = this.#losing;
    if (losing === undefined || this.#handed + this.#full.length > maxColumns / 2) return undefined;
    const { start, lost, revision } = losing;
    this.#begin();
    this.#columns.gap = { start, end: now, lost, reason };
    this.#losing = undefined;
    return revision;
  }

  /** Takes everything that waits, oldest first. The buffers come back later. */
  take(): readonly Columns[] {
    const isUsed = this.#columns.length > 0 || this.#columns.gap !== undefined;
    if (isUsed) this.#begin();
    const columns = this.#full.splice(0).filter(({ length, gap }) => length > 0 || gap !== undefined);
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
