// A selection of parameters with its snapshots: it saves, recalls, forgets and compares them, and knows whether the present values
// are those of the one that was last saved or recalled.

import { unknownName } from '../../../json5/nearest-name.ts';
import { groupDigits } from '../../../model/digits.ts';
import { describe, HubError, messageOf } from '../../../model/error.ts';
import type { Change, Origin } from '../../../model/parameter.ts';
import type { Snapshot, SnapshotSelection } from '../../../model/reports/snapshot.ts';
import { convert } from '../../../model/value.ts';
import type { Log } from '../../connection.ts';
import type { Parameters } from '../../hub-port.ts';
import type { Selection } from '../selection.ts';
import { maxNameLength, maxParameters, maxSnapshotBytes, maxSnapshots } from './bounds.ts';
import { Difference } from './difference.ts';
import { ListedParameters } from './listed-parameters.ts';
import { Present } from './present.ts';
import { compare, recollect } from './recollection.ts';
import type { Kept, SnapshotShelf } from './shelf.ts';

/** How many parameters a warning names. */
const namedParameters = 5;

export interface LiveSelectionOptions {
  readonly name: string;
  readonly selection: Selection;
  /** The store, which writes what is recalled. */
  readonly store: Origin;
  readonly hub: Parameters;
  readonly shelf: SnapshotShelf;
  readonly log: Log;
}

/** What somebody has written to `save`, `recall` or `forget`. */
export interface Act {
  readonly kind: 'save' | 'recall' | 'forget';
  readonly snapshot: string;
}

type Sized = Pick<Kept, 'name' | 'bytes'>;

export class LiveSelection {
  readonly name: string;
  readonly #options: LiveSelectionOptions;
  readonly #listed: ListedParameters;
  readonly #present: Present;
  /** From the snapshot that was last saved or recalled; undefined: there is none. */
  #difference: Difference | undefined;

  constructor(options: LiveSelectionOptions) {
    this.name = options.name;
    this.#options = options;
    this.#listed = new ListedParameters(options.hub, options.selection, options.store.name);
    this.#present = new Present(options.hub, this.#listed);
    this.#compareWithLast();
  }

  /** Whether a recall of the snapshot that was last saved or recalled would write nothing. */
  get matches(): boolean {
    return this.#difference?.count === 0;
  }

  /** Takes over a change; to be told every change. */
  take(change: Change): void {
    this.#difference?.take(change);
  }

  /** Notes that a reload has added or taken out parameters; `renew` is called soon after. */
  noteReload(): void {
    this.#listed.renew();
  }

  /** Compares anew. */
  renew(): void {
    this.#compareWithLast();
  }

  /** The name to save under. Errors: `not-convertible`, `conflict` when there is no room. */
  nameToSave(input: unknown): string {
    this.#expectReady('save');
    const name = readName(this.#where('save'), input);
    this.#expectPlace(name);
    const { size } = this.#listed.all;
    if (size > maxParameters) throw this.#noRoom(`at most ${count(maxParameters)} parameters`, count(size));
    if (!this.#hasRoom({ name, bytes: this.#present.mostBytes }))
      this.#expectRoom({ name, bytes: this.#present.bytes });
    return name;
  }

  /** The name of a snapshot that there is. Errors: `not-found` with the nearest name. */
  knownName(parameterId: 'recall' | 'forget', input: unknown): string {
    this.#expectReady(parameterId);
    const name = String(convert('S', input));
    if (this.#options.shelf.find(this.name, name) === undefined)
      throw new HubError('not-found', `${this.#where(parameterId)}: ${this.#unknown(name)}`);
    return name;
  }

  /**
   * Does what was asked for in one turn, in this order, within that turn; of several recalls the last one alone. What cannot be done any
   * more is logged: the room was taken within the same turn.
   */
  act(acts: readonly Act[]): void {
    const lastRecall = acts.findLastIndex(({ kind }) => kind === 'recall');
    for (const [index, { kind, snapshot }] of acts.entries()) {
      if (kind === 'recall' && index !== lastRecall) continue;
      try {
        if (kind === 'save') this.#save(snapshot);
        else if (kind === 'recall') this.#recall(snapshot);
        else this.#forget(snapshot);
      } catch (error) {
        this.#options.log.warn({ snapshot }, messageOf(error));
      }
    }
    this.#present.release();
  }

  list(): SnapshotSelection {
    const { shelf } = this.#options;
    const saved = shelf.of(this.name).map(({ name, time, parameters }) => ({ name, time, parameters }));
    return { name: this.name, saved: saved.reverse(), matches: this.matches ? shelf.last(this.name) : undefined };
  }

  /** A snapshot beside what is now. Errors: `not-found` with the nearest name. */
  compare(name: string): Snapshot {
    const { shelf, hub } = this.#options;
    const snapshot = shelf.find(this.name, name);
    if (snapshot === undefined) throw new HubError('not-found', this.#unknown(name));
    return compare(snapshot, this.#listed.all, hub);
  }

  /** Keeps the present values. Errors: `conflict` when there is no room. */
  #save(name: string): void {
    const { shelf, log } = this.#options;
    this.#expectPlace(name);
    const snapshot = { selection: this.name, name, time: Date.now(), ...this.#present.pack() };
    this.#expectRoom(snapshot);
    shelf.save(snapshot);
    this.#difference = this.#present.difference();
    log.info({ snapshot: name }, `${this.#what(name)} was saved: ${count(snapshot.parameters)} parameters`);
  }

  /** Writes what differs, in listed order. */
  #recall(name: string): void {
    const { shelf, hub, store, log } = this.#options;
    const snapshot = shelf.find(this.name, name);
    if (snapshot === undefined) return; // it was forgotten in the same turn
    const { expected, leftOut } = recollect(snapshot, this.#listed.all, hub);
    shelf.setLast(this.name, name);
    this.#difference = new Difference(expected);
    const { count: differing } = this.#difference;
    for (const [parameter, value] of expected) if (parameter.value !== value) hub.writeTo(parameter, value, store);
    log.info({ snapshot: name }, `${this.#what(name)} was recalled: ${count(differing)} parameters differed`);
    if (leftOut.length > 0) log.warn({ snapshot: name }, `${this.#what(name)} was recalled without ${listOf(leftOut)}`);
  }

  #forget(name: string): void {
    const { shelf, log } = this.#options;
    if (shelf.last(this.name) === name) this.#difference = undefined;
    shelf.forget(this.name, name);
    log.info({ snapshot: name }, `${this.#what(name)} was forgotten`);
  }

  #compareWithLast(): void {
    const { shelf, hub } = this.#options;
    const last = shelf.find(this.name, shelf.last(this.name) ?? '');
    this.#difference = last && new Difference(recollect(last, this.#listed.all, hub).expected);
  }

  #hasRoom(snapshot: Sized): boolean {
    return snapshot.bytes <= maxSnapshotBytes && this.#allBytes(snapshot) <= this.#options.shelf.maxBytes;
  }

  /** Errors: `conflict`. */
  #expectPlace(name: string): void {
    const { shelf } = this.#options;
    const isNew = shelf.find(this.name, name) === undefined;
    if (isNew && shelf.of(this.name).length >= maxSnapshots)
      throw this.#noRoom(`at most ${maxSnapshots} snapshots`, `${maxSnapshots + 1}: forget one`);
  }

  /** Errors: `conflict`. */
  #expectRoom(snapshot: Sized): void {
    if (this.#hasRoom(snapshot)) return;
    const { bytes } = snapshot;
    if (bytes > maxSnapshotBytes)
      throw this.#noRoom(`a snapshot of at most ${count(maxSnapshotBytes)} bytes`, count(bytes));
    const { maxBytes } = this.#options.shelf;
    const all = count(this.#allBytes(snapshot));
    throw this.#noRoom(`at most ${count(maxBytes)} bytes of all snapshots`, `${all}: forget some`);
  }

  /** How large all snapshots are with this one in the place of that of its name. */
  #allBytes({ bytes, name }: Sized): number {
    const { shelf } = this.#options;
    return shelf.bytes - (shelf.find(this.name, name)?.bytes ?? 0) + bytes;
  }

  /** Errors: `conflict` in the moments in which the store has not asked its disk yet. */
  #expectReady(parameterId: string): void {
    if (!this.#options.shelf.isReady)
      throw new HubError('conflict', `${this.#where(parameterId)}: expected a store that runs, it is just starting`);
  }

  #noRoom(expected: string, got: string): HubError {
    return new HubError('conflict', `${this.#where('save')}: expected ${expected}, got ${got}`);
  }

  #unknown(name: string): string {
    const known = this.#options.shelf.of(this.name).map((snapshot) => snapshot.name);
    if (known.length === 0) return `unknown snapshot ${describe(name)}, nothing was saved yet`;
    return unknownName('snapshot', name.slice(0, maxNameLength), known);
  }

  #what(name: string): string {
    return `snapshot "${name}" of ${this.name}`;
  }

  #where(parameterId: string): string {
    return `${this.#options.store.name}/${this.name}/${parameterId}`;
  }
}

/** Errors: `not-convertible`. */
function readName(where: string, input: unknown): string {
  const name = String(convert('S', input));
  if (/^[\p{L}\p{N}][^\p{C}/]*$/u.test(name) && !name.endsWith(' ') && [...name].length <= maxNameLength) return name;
  const expected = `a name of 1 to ${maxNameLength} characters, the first a letter or a digit, none of them / or a control character`;
  throw new HubError('not-convertible', `${where}: expected ${expected}, got ${describe(input)}`);
}

function listOf(leftOut: readonly string[]): string {
  const more = leftOut.length - namedParameters;
  return `${leftOut.slice(0, namedParameters).join(', ')}${more > 0 ? ` and ${count(more)} others` : ''}`;
}

function count(number: number): string {
  return groupDigits(number);
}
