// The parameters of another hub that this hub shows, identified by the numbers that their owner uses. All received data is checked, and
// long work is divided into steps.

import { connectionIdOf } from '../../../model/address.ts';
import { describe } from '../../../model/error.ts';
import type { Change, DeviceState, Origin, Parameter, Remote } from '../../../model/parameter.ts';
import { isValueOf, type Value } from '../../../model/value.ts';
import type { HubPort } from '../../hub-port.ts';
import type { MadeSteps } from '../link/nats-intake.ts';
import { type KnownOrigin, KnownOrigins, lengthOfLinks, readLinks } from '../wire/causes.ts';
import {
  type Context,
  type Definition,
  type HubReport,
  readContext,
  readStructure,
  type StaleConnection,
  type WireTurn,
} from '../wire/domain-messages.ts';
import { type Bounds, Holding, maxMirroredInAll, moreTexts } from './mirror-bounds.ts';

/** The upper bound for an owner's parameter numbers. An owner renumbers its parameters when half of the numbers are unused. */
const maxNumber = 2 * maxMirroredInAll;
/** The maximum number of connections without selected parameters that are remembered for each hub. */
const maxUnselected = 10_000;
/** The maximum plausible difference between the clocks of two hubs, in milliseconds. A later time is replaced by the current time. */
const maxAheadMs = 86_400_000;
/** The number of parameters that are added or removed in one step. */
const stepParameters = 20;
/** The number of values from a walk that are combined into one turn. */
const walkStep = 1000;
/** The number of parameter numbers that are checked in one step. */
const stepNumbers = 1000;

export type MirrorPort = Pick<HubPort, 'find' | 'turn' | 'mirroring'>;

export interface MirroredContext {
  readonly hub: MirrorPort;
  /** The name of the hub that owns the parameters. */
  readonly owner: string;
  readonly remote: Remote;
  readonly isSelected: (address: string) => boolean;
  /**
   * Returns whether this hub shows the parameters of a connection that the owner reports. It shows them unless another hub is known to have
   * that connection.
   */
  readonly mayShow: (connectionId: string) => boolean;
  /** Whether this hub declares the same parameters and is the standby. */
  readonly isOwn: boolean;
  readonly bounds: Bounds;
  /** Returns the time of day, in milliseconds since 1970. */
  readonly timeOfDay: () => number;
  /** Called with a description of data that is omitted because it exceeds a bound. */
  readonly refuse: (what: string) => void;
}

export class MirroredParameters {
  readonly #context: MirroredContext;
  /** The mirrored parameters, indexed by the numbers that the owner uses; undefined for a parameter that this hub does not show. */
  #byNumber: (Parameter | undefined)[] = [];
  #size = 0;
  /**
   * The parameters that were shown before a new snapshot, keyed by address. The definitions, which arrive before the values, determine
   * which of these parameters stay.
   */
  #before = new Map<string, Parameter>();
  /** The definitions in the new snapshot, keyed by address. */
  #next = new Map<string, Definition>();
  #numbers = new Set<number>();
  /** The numbers of the parameters that are hidden because this hub or another hub uses their address, keyed by address. */
  readonly #hidden = new Map<string, number>();
  /** The IDs of the connections without selected parameters, including connections that were withdrawn after the last snapshot. */
  readonly #unselected = new Set<string>();
  readonly #origins: KnownOrigins;
  /** The addresses of the parameters that other code has removed since the last check. */
  readonly #gone = new Set<string>();
  readonly #connections = new Map<string, Origin>();
  /** The states of the owner's connections that have an offline device, keyed by Connection ID. */
  readonly #away = new Map<string, DeviceState>();
  /** The space that the shown and hidden parameters use. */
  readonly #holding: Holding;
  /** The numbers of the parameters that exceed a bound. These parameters are removed after the turn. */
  readonly #excess: number[] = [];
  /** The writer and the time for the following changes, up to the next context. */
  #by: KnownOrigin;
  #at = 0;

  constructor(context: MirroredContext) {
    const { bounds, owner } = context;
    this.#context = context;
    this.#by = { origin: { kind: 'connection', name: '', hub: owner, reportedBy: owner }, extra: 0 };
    this.#origins = new KnownOrigins(owner);
    this.#holding = new Holding(bounds, owner);
  }

  get size(): number {
    return this.#size;
  }

  /** Returns whether the owner has a parameter with this address that is hidden because another parameter is shown there. */
  hides(address: string): boolean {
    return this.#hidden.has(address) || this.#gone.has(address);
  }

  /** Returns the addresses of the owner's hidden parameters. */
  hidden(): Iterable<string> {
    this.#dropGone();
    return this.#hidden.keys();
  }

  /**
   * Returns the IDs of all of the owner's connections, whether or not they are shown. A connection without selected parameters stays in the
   * list even after all its parameters have been withdrawn.
   */
  connections(): ReadonlySet<string> {
    const ids = new Set(this.#unselected);
    for (const { address } of shown(this.#byNumber)) ids.add(connectionIdOf(address));
    for (const address of this.#hidden.keys()) ids.add(connectionIdOf(address));
    return ids;
  }

  /** Records that other code has removed a parameter, so that it is no longer written. */
  noteGone(address: string): void {
    this.#gone.add(address);
  }

  /** Returns whether any hidden parameter may now be shown because its address is free. */
  lacksAny(): boolean {
    this.#dropGone();
    const { hub, mayShow } = this.#context;
    for (const address of this.#hidden.keys())
      if (mayShow(connectionIdOf(address)) && hub.find(address) === undefined) return true;
    return false;
  }

  /** Returns whether any shown parameter may now belong to another hub. */
  hasMisplaced(): boolean {
    for (const id of this.#connections.keys()) if (!this.#context.mayShow(id)) return true;
    return false;
  }

  /** Hides the parameters that now belong to another hub. */
  *hideMisplaced(): MadeSteps {
    const { hub, mayShow } = this.#context;
    const byNumber = this.#byNumber;
    let looked = 0;
    for (const [number, parameter] of byNumber.entries()) {
      if (++looked % stepParameters === 0) yield;
      if (byNumber !== this.#byNumber) return; // a new snapshot has begun
      if (parameter === undefined || this.#isEntrusted(parameter) || mayShow(connectionIdOf(parameter.address)))
        continue;
      this.#hide(number, parameter);
      this.#release([parameter]);
    }
    for (const id of this.#connections.keys()) if (!mayShow(id)) this.#connections.delete(id);
    hub.mirroring.notify();
  }

  /** Begins a snapshot. It continues with `define` for all definitions, then `swap`, then `takeAll` for all values, and then `settle`. */
  beginSnapshot(): void {
    this.#next.clear();
    this.#numbers.clear();
  }

  /** Adds further definitions to the snapshot. Errors: `Error` if a definition is invalid. */
  *define(definitions: readonly Definition[]): MadeSteps {
    const { isSelected, bounds, refuse } = this.#context;
    yield* each(definitions, stepNumbers, (definition) => {
      const [number, address] = definition;
      if (this.#numbers.has(number) || this.#next.has(address))
        throw new Error(`${address}: expected each address and each number once`);
      if (!isSelected(address)) this.#noteUnselected(address);
      else if (this.#next.size >= bounds.maxParameters || number >= maxNumber)
        refuse(`more than ${bounds.maxParameters} parameters`);
      else {
        this.#numbers.add(number);
        this.#next.set(address, definition);
      }
    });
  }

  /** Shows the parameters that the snapshot defines. Unchanged parameters stay, and parameters that are no longer defined are withdrawn. */
  *swap(): MadeSteps {
    const { hub } = this.#context;
    this.#numbers.clear();
    yield* each(shown(this.#byNumber), stepNumbers, (parameter) => this.#before.set(parameter.address, parameter));
    this.#empty(); // the numbers are no longer valid, but the parameters stay visible for now
    this.#unselected.clear();
    const leaving: Parameter[] = [];
    yield* each(this.#before, stepNumbers, ([address, parameter]) => {
      const [, , type, access] = this.#next.get(address) ?? [];
      if (type !== parameter.type || access !== parameter.access) leaving.push(parameter);
    });
    yield* each(slicesOf(leaving), 1, (some) => {
      for (const { address } of some) this.#before.delete(address);
      this.#release(some);
    });
    const definitions = this.#next;
    this.#next = new Map();
    yield* each(definitions, stepParameters, ([address, definition]) => {
      const before = this.#before.get(address);
      this.#before.delete(address);
      this.#add(definition, before !== undefined && hub.find(address) === before ? before : undefined);
    });
    hub.mirroring.notify();
  }

  /**
   * Applies changes in turns of limited size. Adds the numbers of parameters with a value to `valued`. Errors: `Error` if a change is
   * invalid.
   */
  *takeAll(changes: WireTurn, valued?: Set<number>): MadeSteps {
    for (let place = 0; place < changes.length; ) {
      this.#context.hub.turn(() => {
        place = this.#takeChanges(changes, place, walkStep, undefined, valued);
      });
      this.#dropExcess();
      yield;
    }
  }

  /**
   * Must be called when all values have arrived. Replaces the parameters that no longer have a value, because a parameter whose value is
   * known never becomes unknown again.
   */
  *settle(valued: ReadonlySet<number>): MadeSteps {
    const unknown: Definition[] = [];
    const byNumber = this.#byNumber;
    yield* each(byNumber.entries(), stepNumbers, ([number, parameter]) => {
      if (parameter?.value === undefined || valued.has(number) || this.#isEntrusted(parameter)) return;
      unknown.push([number, parameter.address, parameter.type, parameter.access]);
    });
    yield* each(unknown, stepParameters, (definition) => {
      if (this.#takeOut([definition[0]])) this.#add(definition, undefined);
    });
    if (unknown.length > 0) this.#context.hub.mirroring.notify();
  }

  /**
   * Applies each turn of the owner as one turn in this hub. Calls `fired` for each firing of a trigger. Errors: `Error` if the report is
   * invalid.
   */
  *take(turns: HubReport['turns'], fired: (number: number) => void): MadeSteps {
    for (const turn of turns) {
      if (Array.isArray(turn)) this.#takeTurn(turn, fired);
      else yield* this.#restructure(turn);
      yield;
    }
  }

  /** Returns the parameter with a number that the owner has assigned. */
  at(number: number): Parameter | undefined {
    return this.#byNumber[number];
  }

  /** Returns all shown parameters. The result may be iterated over later and more than once. */
  all(): Iterable<Parameter> {
    const byNumber = this.#byNumber;
    return { [Symbol.iterator]: () => shown(byNumber) };
  }

  /** Marks the parameters of the listed connections as stale and all other parameters as fresh. */
  setStale(stale: readonly StaleConnection[]): void {
    const { hub, timeOfDay } = this.#context;
    const changed = new Map<string, DeviceState | undefined>();
    const now = new Map(stale);
    for (const id of this.#away.keys()) if (!now.has(id)) changed.set(id, undefined);
    for (const [id, ageMs] of now)
      if (!this.#away.has(id)) changed.set(id, { staleSince: timeOfDay() - ageMs, absences: [] });
    if (changed.size === 0) return;
    for (const [id, device] of changed)
      if (device === undefined) this.#away.delete(id);
      else this.#away.set(id, device);
    const marked = [...shown(this.#byNumber)].filter(({ address }) => changed.has(connectionIdOf(address)));
    for (const parameter of marked) hub.mirroring.setDevice(parameter, changed.get(connectionIdOf(parameter.address)));
    hub.mirroring.reportStale(marked);
  }

  /** Removes all parameters. Parameters that this hub declares then belong to this hub again. */
  clear(): void {
    const all = [...shown(this.#byNumber), ...this.#before.values()];
    this.#empty();
    this.#before.clear();
    this.#next.clear();
    this.#unselected.clear();
    this.#release(all);
    this.#context.hub.mirroring.notify();
  }

  #empty(): void {
    this.#holding.clear();
    this.#byNumber = [];
    this.#size = 0;
    this.#hidden.clear();
    this.#gone.clear();
    this.#connections.clear();
  }

  #takeTurn(turn: WireTurn, fired?: (number: number) => void): void {
    this.#context.hub.turn(() => this.#takeChanges(turn, 0, turn.length, fired, undefined));
    this.#dropExcess();
  }

  /** Applies some changes, starting at an index. Returns the index of the next change. */
  #takeChanges(
    turn: WireTurn,
    from: number,
    most: number,
    fired: ((number: number) => void) | undefined,
    valued: Set<number> | undefined,
  ): number {
    this.#dropGone();
    const { mirroring } = this.#context.hub;
    const changes: (Change | undefined)[] = [];
    /** The lengths of long changes, including their causes, keyed by index. */
    const lengths: number[] = [];
    let why: Change | undefined;
    let whyLength = 0;
    let hop = 0;
    let index = from;
    for (; index < turn.length && changes.length < most; index++) {
      const item = turn[index];
      if (typeof item === 'object') {
        const context = readContext(item);
        [why, whyLength] = this.#whyOf(context, changes, lengths);
        hop = (context.hop ?? 0) + 1;
        continue;
      }
      if (typeof item !== 'number') throw new Error(`expected the number of a parameter, got ${describe(item)}`);
      const value = turn[++index];
      valued?.add(item);
      const parameter = this.#byNumber[item];
      if (parameter === undefined) changes.push(undefined);
      else {
        const { type } = parameter;
        if (!isValueOf(type, value))
          throw new Error(`${parameter.address}: expected a value of type ${type}, got ${describe(value)}`);
        const causes = whyLength + this.#by.extra;
        const length = type === 'S' ? (value as string).length : 0;
        if (length + causes > 0) lengths[changes.length] = length + causes;
        if (type === 'S' && !this.#holding.setText(item, length)) {
          this.#excess.push(item);
          changes.push(undefined);
        } else if (this.#holding.setCauses(item, causes)) {
          const reported = { value, origin: this.#by.origin, cause: why, hop, time: this.#at };
          changes.push(mirroring.mirror(parameter, reported));
        } else changes.push(mirroring.mirror(parameter, this.#withoutCauses(item, value, hop)));
        if (type === 'T') fired?.(item);
      }
      why = undefined;
      whyLength = 0;
      hop = 1;
    }
    return index;
  }

  /** Returns a change without its causes and without a long writer name, because the causes from the owner exceed the bound. */
  #withoutCauses(number: number, value: Value, hop: number) {
    const { owner, refuse } = this.#context;
    const { origin, extra } = this.#by;
    refuse('more causes of changes than this hub stores');
    this.#holding.setCauses(number, 0);
    const unnamed = extra > 0 ? { kind: origin.kind, name: '…', hub: owner, reportedBy: owner } : origin;
    return { value, origin: unnamed, cause: undefined, hop, time: this.#at };
  }

  #whyOf(
    { by, at, why }: Context,
    changes: readonly (Change | undefined)[],
    lengths: readonly number[],
  ): [Change | undefined, number] {
    if (by !== undefined) this.#by = this.#origins.read(by);
    if (at !== undefined) this.#at = this.#timeOf(at);
    if (why === undefined) return [undefined, 0];
    if (typeof why === 'number') return [changes[why], lengths[why] ?? 0];
    return [readLinks(why, this.#context.owner, (address) => this.#context.hub.find(address)), lengthOfLinks(why)];
  }

  /** Limits the time of a change. No correct clock is a day ahead, and the retention of history depends on these times. */
  #timeOf(at: number): number {
    const now = this.#context.timeOfDay();
    return at > now + maxAheadMs ? now : Math.max(0, at);
  }

  *#restructure(item: object): MadeSteps {
    const structure = readStructure(item);
    const { mirroring } = this.#context.hub;
    if ('withdrawn' in structure) {
      const gone = new Set(structure.withdrawn);
      for (const [address, number] of this.#hidden) if (gone.has(number)) this.#forgetHidden(address);
      yield* each(slicesOf(structure.withdrawn), 1, (some) => this.#takeOut(some));
      mirroring.notify();
      return;
    }
    yield* each(structure.declared, stepParameters, (definition) => {
      const [number, address] = definition;
      if (this.#byNumber[number] !== undefined) throw new Error(`${address}: expected a number that is not in use`);
      this.#add(definition, undefined);
    });
    mirroring.notify();
    this.#takeTurn(structure.changes);
  }

  /** Shows a new parameter, or continues to show a known parameter, unless this hub or another connected hub uses its address. */
  #add(definition: Definition, known: Parameter | undefined): void {
    const [number, address, type, access] = definition;
    const { hub, remote, isSelected, mayShow, refuse } = this.#context;
    if (!isSelected(address)) {
      this.#noteUnselected(address);
      return;
    }
    const text = known?.value;
    const excess =
      number < maxNumber
        ? this.#holding.add(number, address, typeof text === 'string' ? text.length : 0)
        : `parameters with numbers of ${maxNumber} or more`;
    if (excess !== undefined) {
      refuse(excess);
      if (known !== undefined) this.#release([known]);
      return;
    }
    const parameter =
      known ??
      this.#ownOf(address, type, access) ??
      (mayShow(connectionIdOf(address))
        ? hub.mirroring.declare(remote, this.#connectionOf(address), { address, type, access })
        : undefined);
    if (parameter === undefined) {
      if (this.#hidden.has(address)) this.#forgetHidden(address);
      this.#hidden.set(address, number);
      return;
    }
    if (this.#isEntrusted(parameter)) hub.mirroring.entrust(parameter, remote);
    this.#connectionOf(address);
    const device = this.#away.get(connectionIdOf(address));
    if (parameter.device !== device) {
      hub.mirroring.setDevice(parameter, device);
      hub.mirroring.reportStale([parameter]);
    }
    this.#byNumber[number] = parameter;
    this.#size++;
  }

  /** Returns the parameter that this hub itself declares as the standby. If a stale hub's parameter has the same address, it is removed. */
  #ownOf(address: string, type: Parameter['type'], access: Parameter['access']): Parameter | undefined {
    const { hub, remote, mayShow } = this.#context;
    const found = hub.find(address);
    if (found === undefined) return undefined;
    if (this.#isEntrusted(found)) return found.type === type && found.access === access ? found : undefined;
    const isOfAnother = found.remote !== undefined && found.remote !== remote && !hub.mirroring.declares(found);
    if (isOfAnother && found.remote.staleSince !== undefined && mayShow(connectionIdOf(address)))
      hub.mirroring.withdraw([found]);
    return undefined;
  }

  #isEntrusted(parameter: Parameter): boolean {
    return this.#context.isOwn && this.#context.hub.mirroring.declares(parameter);
  }

  #connectionOf(address: string): Origin {
    const { owner } = this.#context;
    const name = connectionIdOf(address);
    let known = this.#connections.get(name);
    if (known === undefined) {
      known = { kind: 'connection', name, hub: owner };
      this.#connections.set(name, known);
    }
    return known;
  }

  #noteUnselected(address: string): void {
    if (this.#unselected.size < maxUnselected) this.#unselected.add(connectionIdOf(address));
  }

  #dropGone(): void {
    if (this.#gone.size === 0) return;
    for (const [number, parameter] of this.#byNumber.entries())
      if (parameter !== undefined && this.#gone.has(parameter.address)) this.#hide(number, parameter);
    this.#gone.clear();
  }

  /** Hides a parameter that its owner still has, because another parameter is shown at its address. */
  #hide(number: number, { address }: Parameter): void {
    this.#byNumber[number] = undefined;
    this.#size--;
    this.#hidden.set(address, number);
  }

  #forgetHidden(address: string): void {
    this.#holding.delete(this.#hidden.get(address)!, address);
    this.#hidden.delete(address);
  }

  /** Removes the parameters that exceed a bound, because their values in this hub would be wrong. */
  #dropExcess(): void {
    if (this.#excess.length === 0) return;
    this.#context.refuse(moreTexts);
    this.#takeOut(this.#excess.splice(0));
    this.#context.hub.mirroring.notify();
  }

  /** Removes the parameters with these numbers. Returns whether any parameter was removed. */
  #takeOut(numbers: readonly number[]): boolean {
    const gone = numbers.flatMap((number) => {
      const parameter = this.#byNumber[number];
      if (parameter === undefined) return [];
      this.#holding.delete(number, parameter.address);
      this.#byNumber[number] = undefined;
      this.#size--;
      return parameter;
    });
    this.#release(gone);
    return gone.length > 0;
  }

  #release(parameters: readonly Parameter[]): void {
    const { hub } = this.#context;
    const present = parameters.filter((parameter) => hub.find(parameter.address) === parameter);
    const { own = [], others = [] } = Object.groupBy(present, (one) => (this.#isEntrusted(one) ? 'own' : 'others'));
    for (const parameter of own) hub.mirroring.entrust(parameter, undefined);
    hub.mirroring.withdraw(others);
  }
}

/** Calls `take` for each item, with several items in each step. */
function* each<T>(items: Iterable<T>, inStep: number, work: (item: T) => void): MadeSteps {
  let done = 0;
  for (const item of items) {
    work(item);
    if (++done % inStep === 0) yield;
  }
}

/** Splits items into slices, one for each step that adds or removes parameters. */
function* slicesOf<T>(items: readonly T[]): Generator<readonly T[], void, void> {
  for (let place = 0; place < items.length; place += stepParameters) yield items.slice(place, place + stepParameters);
}

function* shown(byNumber: readonly (Parameter | undefined)[]): Generator<Parameter, void, void> {
  for (const parameter of byNumber) if (parameter !== undefined) yield parameter;
}
