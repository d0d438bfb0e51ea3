// Holds all snapshots of a store, by selection and name, including snapshots that are not on disk yet.
import type { Opened, SnapshotBatch, SnapshotRow } from '../thread/values/values-messages.ts';

/** A snapshot with its contents as JSON, which `live-selection.ts` parses. */
export type Kept = SnapshotRow;

/** The approximate maximum size of the snapshots in one transaction, in bytes. A transaction writes at least one snapshot. */
const batchBytes = 4 * 1024 * 1024;

export class SnapshotShelf {
  /** The maximum total size of all snapshots, in bytes. */
  readonly maxBytes: number;
  readonly #selections = new Map<string, Map<string, Kept>>();
  /** The name of the snapshot that was last saved or recalled, for each selection. */
  readonly #last = new Map<string, string>();
  /** What differs from the disk: snapshots, keyed by `selection/name`, and the names of selections whose last snapshot has changed. */
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

  /** Whether the store has read the snapshots from disk, or has failed to do so. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The function to call once the snapshots on disk are known. */
  set onAdopted(call: () => void) {
    this.#onAdopted = call;
  }

  /** Adds the snapshots on disk as soon as the disk can be read. Snapshots that have changed in the meantime are kept. */
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

  /** Returns the snapshots of a selection in the order in which they were saved. */
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

  /** Marks all snapshots for writing, because it is unknown what the disk contains. */
  renew(): void {
    this.#isAnew ||= this.#isAdopted;
  }

  /**
   * Returns the next batch to write; undefined if all snapshots are on disk. A batch remains to be written until it is passed to `written`.
   */
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

// Limits for snapshots.

/** The maximum number of selections per store. */
export const maxSelections = 64;
/** The maximum number of snapshots per selection. */
export const maxSnapshots = 100;
/** The maximum number of parameters in a snapshot, and the maximum size of a snapshot in bytes. */
export const maxParameters = 20_000;
export const maxSnapshotBytes = 4 * 1024 * 1024;
/**
 * The maximum total size of all snapshots in a store, in bytes. In addition, the snapshots may take up at most a quarter of the database.
 */
export const maxBytesOfAll = 64 * 1024 * 1024;
/** The maximum length of a snapshot name, in characters. */
export const maxNameLength = 64;
