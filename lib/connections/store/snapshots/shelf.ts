// All snapshots of a store, by selection and name, and what of them is yet to be written to the disk.
import type { Opened, SnapshotBatch, SnapshotRow } from '../thread/values/values-messages.ts';

/** A snapshot; how it is read says `live-selection.ts`. */
export type Kept = SnapshotRow;

/** How much one transaction writes, about; at least one snapshot. */
const batchBytes = 4 * 1024 * 1024;

export class SnapshotShelf {
  /** How large all of them together may be, in bytes. */
  readonly maxBytes: number;
  readonly #selections = new Map<string, Map<string, Kept>>();
  /** The snapshot that was last saved or recalled, by selection. */
  readonly #last = new Map<string, string>();
  /** What the disk has otherwise: `selection/name`, and selections whose last one is another. */
  readonly #changed = new Map<string, readonly [selection: string, name: string]>();
  readonly #changedLast = new Set<string>();
  #bytes = 0;
  #isReady = false;
  #isAdopted = false;
  #isAnew = false;
  #onAdopted = () => {};

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the disk was asked what it has. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Calls back once it is known what the disk has. */
  set onAdopted(call: () => void) {
    this.#onAdopted = call;
  }

  /** Takes over what the disk has, once it can be read. What was changed meanwhile stays as it is. */
  adopt({ held, reason }: Pick<Opened, 'held' | 'reason'>): void {
    this.#isReady = true;
    if (this.#isAdopted || (held === undefined && reason !== undefined)) return;
    this.#isAdopted = true;
    const { saved, last } = held?.snapshots ?? { saved: [], last: [] };
    for (const row of saved) if (!this.#changed.has(keyOf(row.selection, row.name))) this.#set(row);
    for (const [selection, name] of last)
      if (name !== undefined && !this.#changedLast.has(selection)) this.#last.set(selection, name);
    this.#onAdopted();
  }

  find(selection: string, name: string): Kept | undefined {
    return this.#selections.get(selection)?.get(name);
  }

  /** Those of a selection, in the order in which they were saved. */
  of(selection: string): readonly Kept[] {
    return [...(this.#selections.get(selection)?.values() ?? [])];
  }

  last(selection: string): string | undefined {
    return this.#last.get(selection);
  }

  save(row: Kept): void {
    this.forget(row.selection, row.name);
    this.#set(row);
    this.setLast(row.selection, row.name);
  }

  forget(selection: string, name: string): void {
    const before = this.find(selection, name);
    this.#selections.get(selection)?.delete(name);
    this.#bytes -= before?.bytes ?? 0;
    this.#changed.set(keyOf(selection, name), [selection, name]);
    if (this.#last.get(selection) === name) this.setLast(selection, undefined);
  }

  setLast(selection: string, name: string | undefined): void {
    if (name === undefined) this.#last.delete(selection);
    else this.#last.set(selection, name);
    this.#changedLast.add(selection);
  }

  /** The disk has nothing of it, or something else: all of it is to be written. */
  renew(): void {
    this.#isAnew ||= this.#isAdopted;
  }

  /** What is to be written next, undefined: nothing. It stays so until `written` says that it has been. */
  take(): SnapshotBatch | undefined {
    if (this.#isAnew) {
      const saved = [...this.#selections.values()].flatMap((selection) => [...selection.values()]);
      return { isAnew: true, saved, forgotten: [], last: [...this.#last] };
    }
    if (this.#changed.size + this.#changedLast.size === 0) return undefined;
    const saved: Kept[] = [];
    const forgotten: (readonly [string, string])[] = [];
    let bytes = 0;
    for (const [selection, name] of this.#changed.values()) {
      const row = this.find(selection, name);
      if (row === undefined) forgotten.push([selection, name]);
      else saved.push(row);
      bytes += row?.bytes ?? 0;
      if (bytes >= batchBytes) break;
    }
    const last = [...this.#changedLast].map((selection) => [selection, this.#last.get(selection)] as const);
    return { isAnew: false, saved, forgotten, last };
  }

  written({ isAnew, saved, forgotten, last }: SnapshotBatch): void {
    if (isAnew) this.#isAnew = false;
    for (const row of saved)
      if (this.find(row.selection, row.name) === row) this.#changed.delete(keyOf(row.selection, row.name));
    for (const [selection, name] of forgotten)
      if (this.find(selection, name) === undefined) this.#changed.delete(keyOf(selection, name));
    for (const [selection, name] of last) if (this.#last.get(selection) === name) this.#changedLast.delete(selection);
  }

  #set(row: Kept): void {
    const selection = this.#selections.get(row.selection) ?? new Map<string, Kept>();
    this.#selections.set(row.selection, selection.set(row.name, row));
    this.#bytes += row.bytes;
  }
}

function keyOf(selection: string, name: string): string {
  return `${selection}/${name}`;
}

// What snapshots may cost.

/** How many selections a store has. */
export const maxSelections = 64;
/** How many snapshots a selection has. */
export const maxSnapshots = 100;
/** How many parameters a snapshot has. */
export const maxParameters = 20_000;
/** How large a snapshot is, in bytes. */
export const maxSnapshotBytes = 4 * 1024 * 1024;
/** How large all snapshots of a store together are, in bytes; and at most a quarter of the database. */
export const maxBytesOfAll = 64 * 1024 * 1024;
/** How long a name is, in characters. */
export const maxNameLength = 64;
