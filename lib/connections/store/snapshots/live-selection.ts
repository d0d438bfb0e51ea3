// A selection of parameters with its snapshots. The selection saves, recalls, forgets and compares snapshots, and tracks whether the
// current values match the snapshot that was last saved or recalled.
import { unknownName } from '../../../json5/nearest-name.ts';
import { counted, groupDigits } from '../../../model/digits.ts';
import { describe, HubError, messageOf } from '../../../model/error.ts';
import { globToRegExp } from '../../../model/glob.ts';
import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { Snapshot, SnapshotSelection, SnapshotValue } from '../../../model/reports/snapshot.ts';
import { convert, isValueOf, type Value, type ValueType, valueTypes } from '../../../model/value.ts';
import type { Log } from '../../connection.ts';
import type { Parameters } from '../../hub-port.ts';
import { createSelection, type Selection } from '../selection.ts';
import {
  type Kept,
  maxNameLength,
  maxParameters,
  maxSnapshotBytes,
  maxSnapshots,
  type SnapshotShelf,
} from './shelf.ts';

/** The maximum number of parameters that a warning names. */
const namedParameters = 5;

interface LiveSelectionOptions {
  readonly name: string;
  readonly selection: Selection;
  /** The store, as the origin of values that a recall writes. */
  readonly store: Origin;
  readonly hub: Parameters;
  readonly shelf: SnapshotShelf;
  readonly log: Log;
}

/** A request: a write to `save`, `recall` or `forget`. `snapshot` is the name that was written. */
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
  /** The difference between the current values and the snapshot that was last saved or recalled; undefined if there is no such snapshot. */
  #difference: Difference | undefined;

  constructor(options: LiveSelectionOptions) {
    this.name = options.name;
    this.#options = options;
    this.#listed = new ListedParameters(options.hub, options.selection, options.store.name);
    this.#present = new Present(options.hub, this.#listed);
    this.#compareWithLast();
  }

  /** Whether the current values match the snapshot that was last saved or recalled, so that recalling it would write nothing. */
  get matches(): boolean {
    return this.#difference?.count === 0;
  }

  /** Counts a change towards `matches`. The caller must pass every change. */
  take(change: Change): void {
    this.#difference?.take(change);
  }

  /** Looks up the parameters again, because a reload has added or removed parameters. The caller must call `renew` soon afterwards. */
  noteReload(): void {
    this.#listed.renew();
  }

  renew(): void {
    this.#compareWithLast();
  }

  /** Returns the name of a snapshot to save. Errors: `not-convertible` if the name is invalid, `conflict` if there is no space. */
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

  /**
   * Returns the name of an existing snapshot. Errors: `conflict` while the store is starting; `not-found`, which suggests the most similar
   * name.
   */
  knownName(parameterId: 'recall' | 'forget', input: unknown): string {
    this.#expectReady(parameterId);
    const name = String(convert('S', input));
    if (this.#options.shelf.find(this.name, name) === undefined)
      throw new HubError('not-found', `${this.#where(parameterId)}: ${this.#unknown(name)}`);
    return name;
  }

  /**
   * Performs the requests from one turn, in order and still within this turn. If there are several recalls, only the last one is performed.
   * A request that has become impossible is logged, such as a save after earlier saves in the turn have used up the space.
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

  /** Compares a snapshot with the current values. Errors: `not-found`, which suggests the most similar name. */
  compare(name: string): Snapshot {
    const { shelf, hub } = this.#options;
    const snapshot = shelf.find(this.name, name);
    if (snapshot === undefined) throw new HubError('not-found', this.#unknown(name));
    return compare(snapshot, this.#listed.all, hub);
  }

  /** Saves the current values as a snapshot. Errors: `conflict` if there is no space. */
  #save(name: string): void {
    const { shelf, log } = this.#options;
    this.#expectPlace(name);
    const snapshot = { selection: this.name, name, time: Date.now(), ...this.#present.pack() };
    this.#expectRoom(snapshot);
    shelf.save(snapshot);
    this.#difference = this.#present.difference();
    log.info({ snapshot: name }, `${this.#what(name)} saved: ${counted(snapshot.parameters, 'parameter')}`);
  }

  /** Writes the values of a snapshot that differ from the current values, in the order of the list. */
  #recall(name: string): void {
    const { shelf, hub, store, log } = this.#options;
    const snapshot = shelf.find(this.name, name);
    if (snapshot === undefined) return; // an earlier request in the turn has forgotten the snapshot
    const { expected, leftOut: unknown } = recollect(snapshot, this.#listed.all, hub);
    shelf.setLast(this.name, name);
    this.#difference = new Difference(expected);
    const { count: differing } = this.#difference;
    const leftOut = [...unknown];
    for (const [parameter, value] of expected)
      if (parameter.value !== value)
        try {
          hub.writeTo(parameter, value, store);
        } catch (error) {
          leftOut.push(messageOf(error)); // for example because a string is too long; all other values are still recalled
        }
    log.info({ snapshot: name }, `${this.#what(name)} recalled: ${counted(differing, 'parameter')} differed`);
    if (leftOut.length > 0) log.warn({ snapshot: name }, `${this.#what(name)} recalled without ${listOf(leftOut)}`);
  }

  #forget(name: string): void {
    const { shelf, log } = this.#options;
    if (shelf.last(this.name) === name) this.#difference = undefined;
    shelf.forget(this.name, name);
    log.info({ snapshot: name }, `${this.#what(name)} forgotten`);
  }

  #compareWithLast(): void {
    const { shelf, hub } = this.#options;
    const last = shelf.find(this.name, shelf.last(this.name) ?? '');
    this.#difference = last && new Difference(recollect(last, this.#listed.all, hub).expected);
  }

  #hasRoom(snapshot: Sized): boolean {
    return snapshot.bytes <= maxSnapshotBytes && this.#allBytes(snapshot) <= this.#options.shelf.maxBytes;
  }

  /** Checks that the selection may have another snapshot. Errors: `conflict`. */
  #expectPlace(name: string): void {
    const { shelf } = this.#options;
    const isNew = shelf.find(this.name, name) === undefined;
    if (isNew && shelf.of(this.name).length >= maxSnapshots)
      throw this.#noRoom(`at most ${maxSnapshots} snapshots`, `${maxSnapshots + 1}: forget one`);
  }

  /** Checks that a snapshot is not too large, and that all snapshots together are not too large. Errors: `conflict`. */
  #expectRoom(snapshot: Sized): void {
    if (this.#hasRoom(snapshot)) return;
    const { bytes } = snapshot;
    if (bytes > maxSnapshotBytes)
      throw this.#noRoom(`a snapshot of at most ${count(maxSnapshotBytes)} bytes`, count(bytes));
    const { maxBytes } = this.#options.shelf;
    const all = count(this.#allBytes(snapshot));
    throw this.#noRoom(`at most ${count(maxBytes)} bytes for all snapshots`, `${all}: forget some`);
  }

  /** Returns the total size of all snapshots in bytes, once a snapshot has replaced the snapshot with the same name. */
  #allBytes({ bytes, name }: Sized): number {
    const { shelf } = this.#options;
    return shelf.bytes - (shelf.find(this.name, name)?.bytes ?? 0) + bytes;
  }

  /** Checks that the store has read the snapshots from disk. Errors: `conflict`. */
  #expectReady(parameterId: string): void {
    if (!this.#options.shelf.isReady)
      throw new HubError('conflict', `${this.#where(parameterId)}: the store is still starting: try again later`);
  }

  #noRoom(expected: string, got: string): HubError {
    return new HubError('conflict', `${this.#where('save')}: expected ${expected}, got ${got}`);
  }

  #unknown(name: string): string {
    const known = this.#options.shelf.of(this.name).map((snapshot) => snapshot.name);
    if (known.length === 0) return `unknown snapshot ${describe(name)}; no snapshot has been saved yet`;
    return unknownName('snapshot', name.slice(0, maxNameLength), known);
  }

  #what(name: string): string {
    return `snapshot "${name}" of ${this.name}`;
  }

  #where(parameterId: string): string {
    return `${this.#options.store.name}/${this.name}/${parameterId}`;
  }
}

/** Returns the name of a snapshot. Errors: `not-convertible` if the name is invalid. */
function readName(where: string, input: unknown): string {
  const name = String(convert('S', input));
  if (/^[\p{L}\p{N}][^\p{C}/]*$/u.test(name) && !name.endsWith(' ') && [...name].length <= maxNameLength) return name;
  const expected = `a name of 1 to ${maxNameLength} characters that begins with a letter or a digit, without / and control characters`;
  throw new HubError('not-convertible', `${where}: expected ${expected}, got ${describe(input)}`);
}

function listOf(leftOut: readonly string[]): string {
  const more = leftOut.length - namedParameters;
  return `${leftOut.slice(0, namedParameters).join(', ')}${more > 0 ? ` and ${count(more)} others` : ''}`;
}

function count(number: number): string {
  return groupDigits(number);
}

// The parameters of a selection, in the order of its globs and, for each glob, in the order of declaration. A recall writes them in this
// order, so that a router switches before a fader opens.

class ListedParameters {
  readonly #hub: Parameters;
  readonly #placeOf: (parameter: Parameter) => number;
  readonly #places: number;
  #known: ReadonlySet<Parameter> | undefined;

  /** `store` is the Connection ID of the store, whose own parameters are never selected. */
  constructor(hub: Parameters, selection: Selection, store: string) {
    const globs = selection.include.map(globToRegExp);
    const isSelected = createSelection(selection);
    this.#hub = hub;
    this.#places = globs.length;
    this.#placeOf = ({ address, type, access, remote }) => {
      if (
        type === 'T' ||
        remote !== undefined ||
        access === 'read-only' ||
        address.startsWith(`${store}/`) ||
        !isSelected(address)
      )
        return -1;
      return globs.findIndex((glob) => glob.test(address));
    };
  }

  /** The parameters that the selection currently contains. */
  get all(): ReadonlySet<Parameter> {
    this.#known ??= this.#find();
    return this.#known;
  }

  /** Looks up the parameters again at the next access, because a reload has added or removed parameters. */
  renew(): void {
    this.#known = undefined;
  }

  #find(): ReadonlySet<Parameter> {
    const places = Array.from({ length: this.#places }, (): Parameter[] => []);
    for (const parameter of this.#hub.parameters()) places[this.#placeOf(parameter)]?.push(parameter);
    return new Set(places.flat());
  }
}

// The number of parameters that differ from a snapshot. They are counted once; afterwards, each change costs only one look-up in a map.

class Difference {
  readonly #expected: ReadonlyMap<Parameter, Value>;
  #count = 0;

  /** `expected` contains the value that each parameter would have after a recall. */
  constructor(expected: ReadonlyMap<Parameter, Value>) {
    this.#expected = expected;
    for (const [parameter, value] of expected) if (parameter.value !== value) this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  /** Counts a change. The caller must pass every change since the creation of this object. */
  take({ parameter, value, previous }: Change): void {
    const expected = this.#expected.get(parameter);
    if (expected === undefined) return;
    if (value !== expected) this.#count++;
    if (previous !== expected) this.#count--;
  }
}

// The current values of a selection in the form of a snapshot. All saves between two changes share a single pass over the values.

/** The contents of a snapshot as JSON, and their size. */
interface Packed {
  readonly contents: string;
  readonly parameters: number;
  readonly bytes: number;
}

class Present {
  readonly #hub: { readonly revision: number };
  readonly #listed: { readonly all: ReadonlySet<Parameter> };
  /** The revision of the hub for which the fields below are valid. */
  #revision = -1;
  #parameters: ReadonlySet<Parameter> | undefined;
  #mostBytes: number | undefined;
  #bytes: number | undefined;
  /** The current values as the contents of a snapshot, kept until `release` is called. */
  #packed: Packed | undefined;
  #difference: Difference | undefined;

  constructor(hub: { readonly revision: number }, listed: { readonly all: ReadonlySet<Parameter> }) {
    this.#hub = hub;
    this.#listed = listed;
  }

  /** An upper bound for the size of a snapshot of the current values, in bytes. Computing it takes a tenth of the time of `bytes`. */
  get mostBytes(): number {
    this.#look();
    this.#mostBytes ??= mostBytes(this.#parameters!);
    return this.#mostBytes;
  }

  /** The size of a snapshot of the current values, in bytes. */
  get bytes(): number {
    this.#look();
    this.#bytes ??= this.pack().bytes;
    return this.#bytes;
  }

  pack(): Packed {
    this.#look();
    if (this.#packed === undefined) {
      const written = writeContents(this.#parameters!);
      this.#packed = { ...written, bytes: Buffer.byteLength(written.contents) };
    }
    return this.#packed;
  }

  /**
   * Returns an object that tracks how later values differ from the current values. The caller must pass every later change to this object.
   */
  difference(): Difference {
    this.#look();
    this.#difference ??= new Difference(knownValues(this.#parameters!));
    return this.#difference;
  }

  /** Releases the large fields. */
  release(): void {
    this.#packed = undefined;
    this.#difference = undefined;
  }

  #look(): void {
    const { revision } = this.#hub;
    const { all } = this.#listed;
    if (revision === this.#revision && all === this.#parameters) return;
    this.#revision = revision;
    this.#parameters = all;
    this.#mostBytes = undefined;
    this.#bytes = undefined;
    this.release();
  }
}

/** Returns the current value of each parameter, omitting unknown values. */
function knownValues(parameters: Iterable<Parameter>): ReadonlyMap<Parameter, Value> {
  const values = new Map<Parameter, Value>();
  for (const parameter of parameters) if (parameter.value !== undefined) values.set(parameter, parameter.value);
  return values;
}

// Compares a snapshot with the current parameters: the values that a recall writes, the values that it omits, and the differences.

type Find = Parameters;

interface Recollection {
  /** The value that each parameter would have after a recall, in the order of the list. */
  readonly expected: ReadonlyMap<Parameter, Value>;
  /** The addresses that a recall would not write, each with the reason. */
  readonly leftOut: readonly string[];
}

/** Determines what a recall of a snapshot would write to the listed parameters. */
function recollect({ contents, parameters }: Kept, listed: Iterable<Parameter>, hub: Find): Recollection {
  const saved = new Map(readContents(contents).map(([address, , value]) => [address, value]));
  const expected = new Map<Parameter, Value>();
  const leftOut: string[] = [];
  if (saved.size < parameters)
    leftOut.push(`${counted(parameters - saved.size, 'unreadable value')}: values.db was edited`);
  for (const parameter of listed) {
    const { address } = parameter;
    const value = saved.get(address);
    if (value === undefined) continue;
    saved.delete(address);
    try {
      expected.set(parameter, expectedValue(parameter, value));
    } catch (error) {
      leftOut.push(`${address} (${messageOf(error)})`);
    }
  }
  for (const address of saved.keys())
    leftOut.push(`${address} (${hub.find(address) ? 'no longer selected' : 'no such parameter'})`);
  return { expected, leftOut };
}

/** Returns a snapshot with each of its values next to the current value. */
function compare(snapshot: Kept, listed: Iterable<Parameter>, hub: Find): Snapshot {
  const { selection, name, time, contents } = snapshot;
  const saved = new Map(readContents(contents).map((one) => [one[0], one]));
  const values: SnapshotValue[] = [];
  for (const [{ address, type, value: present }, expected] of recollect(snapshot, listed, hub).expected) {
    const [, , value] = saved.get(address)!;
    values.push({ parameter: address, type, value, present, differs: present !== expected });
    saved.delete(address);
  }
  for (const [parameter, type, value] of saved.values())
    values.push({ parameter, type, value, present: hub.find(parameter)?.value, differs: false });
  return { selection, name, time, values };
}

// A snapshot is stored as JSON and parsed at each recall or comparison.

/**
 * The maximum number of JSON bytes for a code unit in a string, for a code unit in an address, for a number, and for the punctuation around
 * a value: `["","S",""],`.
 */
const escapedBytes = 6;
const addressBytes = 3;
const numberBytes = 32;
const signsBytes = 16;

type SavedValue = readonly [address: string, type: ValueType, value: Value];

/** Returns the current values as the contents of a snapshot: `[["desk/lamp","B",true]]`. Unknown values are omitted. */
function writeContents(parameters: Iterable<Parameter>): { contents: string; parameters: number } {
  const values = [...parameters]
    .filter(({ value }) => value !== undefined)
    .map(({ address, type, value }): SavedValue => [address, type, value!]);
  return { contents: JSON.stringify(values), parameters: values.length };
}

/** Returns an upper bound for the size of a snapshot of parameters in bytes, at a tenth of the cost of writing the snapshot. */
function mostBytes(parameters: Iterable<Parameter>): number {
  let bytes = 2;
  for (const { address, value } of parameters)
    bytes +=
      address.length * addressBytes +
      (typeof value === 'string' ? value.length * escapedBytes : numberBytes) +
      signsBytes;
  return bytes;
}

/** Returns the valid values in the contents of a snapshot. A user may have edited the JSON. */
function readContents(contents: string): SavedValue[] {
  try {
    const values: unknown = JSON.parse(contents);
    return Array.isArray(values) ? values.filter(isSaved) : [];
  } catch {
    return [];
  }
}

function isSaved(saved: unknown): saved is SavedValue {
  if (!Array.isArray(saved) || saved.length !== 3) return false;
  const [address, type, value] = saved;
  return typeof address === 'string' && valueTypes.includes(type) && isValueOf(type, value);
}

/** Returns the value that a parameter would have after a saved value is written. Errors: any error from the write. */
function expectedValue({ type, accept }: Parameter, value: Value): Value {
  return accept === undefined ? convert(type, value) : accept(value);
}
