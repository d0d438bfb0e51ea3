// The parameters of one other hub, as this hub shows them, by the numbers of their owner.

import { connectionIdOf } from '../../../model/address.ts';
import { describe } from '../../../model/error.ts';
import type { Change, Origin, Parameter, Remote } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';
import type { HubPort } from '../../hub-port.ts';
import { readLinks, readOrigin, type ToldLinks, type ToldOrigin } from '../wire/causes.ts';
import {
  type Context,
  type Definition,
  readContext,
  readStructure,
  type Told,
  type ToldTurn,
} from '../wire/messages.ts';

/** How many parameters of one hub are shown; what comes beyond is not. */
export const maxMirrored = 1_000_000;
/** How many writers of a hub are told apart; beyond, they are learnt anew. */
const maxOrigins = 10_000;

export type MirrorPort = Pick<HubPort, 'find' | 'turn' | 'mirroring'>;

export interface MirroredContext {
  readonly hub: MirrorPort;
  /** The hub of this name. */
  readonly owner: string;
  readonly remote: Remote;
  readonly isSelected: (address: string) => boolean;
  /** Whether this hub declares the same parameters, and stands by. */
  readonly isOwn: boolean;
}

export class MirroredParameters {
  readonly #context: MirroredContext;
  /** By the number of the owner; undefined: it is not shown here. */
  #byNumber: (Parameter | undefined)[] = [];
  #size = 0;
  /** The numbers of those that another hub or this one has, by address: as many as one hub may have at most. */
  readonly #hidden = new Map<string, number>();
  /** The IDs of the connections of what is not shown since it is not selected, also of what was withdrawn since all was told. */
  readonly #others = new Set<string>();
  readonly #origins = new Map<string, Origin>();
  readonly #connections = new Map<string, Origin>();
  /** Who writes, and when, unless a context says otherwise. */
  #by: Origin;
  #at = 0;

  constructor(context: MirroredContext) {
    this.#context = context;
    this.#by = { kind: 'connection', name: '', hub: context.owner };
  }

  get size(): number {
    return this.#size;
  }

  /** Whether its owner has this address, and something else is shown there. */
  hides(address: string): boolean {
    return this.#hidden.has(address);
  }

  /** The addresses that its owner has, and where something else is shown. */
  hidden(): Iterable<string> {
    return this.#hidden.keys();
  }

  /** The IDs of all connections of the owner, shown or not. Where nothing of one is selected, it stays also when all of it is withdrawn. */
  connections(): ReadonlySet<string> {
    const ids = new Set(this.#others);
    for (const { address } of shown(this.#byNumber)) ids.add(connectionIdOf(address));
    for (const address of this.#hidden.keys()) ids.add(connectionIdOf(address));
    return ids;
  }

  /**
   * Takes over all definitions of an owner, before all values that it has; what is none of them any more is withdrawn. What has no
   * value any more is shown anew: in place, a value that is known never becomes unknown.
   */
  replace(definitions: readonly Definition[], changes: ToldTurn): void {
    const { mirroring } = this.#context.hub;
    const valued = valuedIn(changes);
    const next = new Map(definitions.map((one) => [one[1], one]));
    const leaving: Parameter[] = [];
    for (const parameter of this.#byNumber) {
      if (parameter === undefined) continue;
      const definition = next.get(parameter.address);
      const isSame = definition?.[2] === parameter.type && definition[3] === parameter.access;
      const isUnknown = parameter.value !== undefined && !valued.has(definition?.[0]);
      if (
        !isSame ||
        (isUnknown && !this.#isEntrusted(parameter)) ||
        this.#context.hub.find(parameter.address) !== parameter
      )
        leaving.push(parameter);
    }
    const before = this.#known();
    for (const { address } of leaving) before.delete(address);
    this.#empty();
    this.#release(leaving);
    for (const definition of definitions) this.#add(definition, before.get(definition[1]));
    mirroring.tell();
  }

  /** Takes over turns, each as one turn of this hub; `fired` hears of each fire in them. Errors: what was told makes no sense. */
  take(turns: Told['turns'], fired: (number: number) => void): void {
    for (const turn of turns) {
      if (Array.isArray(turn)) this.takeTurn(turn, fired);
      else this.#restructure(turn);
    }
  }

  /** Takes over changes as one turn. Errors: what was told makes no sense. */
  takeTurn(turn: ToldTurn, fired?: (number: number) => void): void {
    const { hub } = this.#context;
    hub.turn(() => this.#takeChanges(turn, fired));
  }

  /** The parameter of a number of the owner. */
  at(number: number): Parameter | undefined {
    return this.#byNumber[number];
  }

  /** All of them, which may be walked later and more than once. */
  all(): Iterable<Parameter> {
    const byNumber = this.#byNumber;
    return { [Symbol.iterator]: () => shown(byNumber) };
  }

  /** Shows none of them any more; those that this hub declares itself are its own again. */
  clear(): void {
    const all = [...this.#known().values()];
    this.#empty();
    this.#release(all);
    this.#context.hub.mirroring.tell();
  }

  #empty(): void {
    this.#byNumber = [];
    this.#size = 0;
    this.#hidden.clear();
    this.#others.clear();
  }

  #takeChanges(turn: ToldTurn, fired: ((number: number) => void) | undefined): void {
    const { mirroring } = this.#context.hub;
    const changes: (Change | undefined)[] = [];
    let why: Change | undefined;
    let hop = 0;
    for (let index = 0; index < turn.length; index++) {
      const item = turn[index];
      if (typeof item === 'object') {
        const context = readContext(item);
        why = this.#whyOf(context, changes);
        hop = (context.hop ?? 0) + 1;
        continue;
      }
      if (typeof item !== 'number') throw new Error(`expected the number of a parameter, got ${describe(item)}`);
      const value = turn[++index];
      const parameter = this.#byNumber[item];
      if (parameter === undefined) changes.push(undefined);
      else {
        if (!fits(parameter, value))
          throw new Error(`${parameter.address}: expected a value of type ${parameter.type}`);
        const told = { value: value as Value, origin: this.#by, cause: why, hop, time: this.#at };
        changes.push(mirroring.mirror(parameter, told));
        if (parameter.type === 'T') fired?.(item);
      }
      why = undefined;
      hop = 1;
    }
  }

  #whyOf({ by, at, why }: Context, changes: readonly (Change | undefined)[]): Change | undefined {
    if (by !== undefined) this.#by = this.#originOf(by as ToldOrigin);
    if (at !== undefined) this.#at = at;
    if (why === undefined) return undefined;
    if (typeof why === 'number') return changes[why];
    return readLinks(why as ToldLinks, this.#context.owner, (address) => this.#context.hub.find(address));
  }

  #originOf(by: ToldOrigin): Origin {
    if (by.length > 4) return readOrigin(by, this.#context.owner); // one with a trace comes once
    const key = by.join('\n');
    const known = this.#origins.get(key);
    if (known !== undefined) return known;
    if (this.#origins.size >= maxOrigins) this.#origins.clear();
    const origin = readOrigin(by, this.#context.owner);
    this.#origins.set(key, origin);
    return origin;
  }

  #restructure(item: unknown): void {
    const structure = readStructure(item);
    if ('withdrawn' in structure) {
      const gone = structure.withdrawn.flatMap((number) => this.#byNumber[number] ?? []);
      this.#forget(new Set(structure.withdrawn));
      this.#release(gone);
      this.#context.hub.mirroring.tell();
      return;
    }
    for (const definition of structure.declared) this.#add(definition, undefined);
    this.#context.hub.mirroring.tell();
    this.takeTurn(structure.changes);
  }

  #forget(numbers: ReadonlySet<number>): void {
    for (const number of numbers) {
      if (this.#byNumber[number] === undefined) continue;
      this.#size--;
      this.#byNumber[number] = undefined;
    }
    for (const [address, number] of this.#hidden) if (numbers.has(number)) this.#hidden.delete(address);
  }

  /** Shows a parameter: one that is shown already, or a new one, unless this hub or another one that is there has its address. */
  #add([number, address, type, access]: Definition, known: Parameter | undefined): void {
    const { hub, remote, isSelected } = this.#context;
    if (number >= 2 * maxMirrored || this.#size >= maxMirrored) return;
    if (!isSelected(address)) {
      if (this.#others.size < maxOrigins) this.#others.add(connectionIdOf(address));
      return;
    }
    const parameter =
      known ??
      this.#ownOf(address, type, access) ??
      hub.mirroring.declare(remote, this.#connectionOf(address), { address, type, access });
    if (parameter === undefined) {
      if (this.#hidden.size < maxMirrored) this.#hidden.set(address, number);
      return;
    }
    if (this.#isEntrusted(parameter)) hub.mirroring.entrust(parameter, remote);
    this.#byNumber[number] = parameter;
    this.#size++;
  }

  /** What this hub declares itself and stands by for. What a hub has that is not heard of any more makes room. */
  #ownOf(address: string, type: Parameter['type'], access: Parameter['access']): Parameter | undefined {
    const { hub, remote } = this.#context;
    const found = hub.find(address);
    if (found === undefined) return undefined;
    if (this.#isEntrusted(found)) return found.type === type && found.access === access ? found : undefined;
    const isStale = found.remote !== undefined && found.remote !== remote && found.remote.staleSince !== undefined;
    if (isStale && !hub.mirroring.declares(found)) hub.mirroring.withdraw([found]);
    return undefined;
  }

  #isEntrusted(parameter: Parameter): boolean {
    return this.#context.isOwn && this.#context.hub.mirroring.declares(parameter);
  }

  #connectionOf(address: string): Origin {
    const name = connectionIdOf(address);
    const known = this.#connections.get(name);
    if (known !== undefined) return known;
    if (this.#connections.size >= maxOrigins) this.#connections.clear();
    const connection: Origin = { kind: 'connection', name, hub: this.#context.owner };
    this.#connections.set(name, connection);
    return connection;
  }

  #known(): Map<string, Parameter> {
    return new Map(this.#byNumber.flatMap((one) => (one === undefined ? [] : [[one.address, one] as const])));
  }

  #release(parameters: readonly Parameter[]): void {
    const { hub } = this.#context;
    const present = parameters.filter((parameter) => hub.find(parameter.address) === parameter);
    const { own = [], others = [] } = Object.groupBy(present, (one) => (this.#isEntrusted(one) ? 'own' : 'others'));
    for (const parameter of own) hub.mirroring.entrust(parameter, undefined);
    hub.mirroring.withdraw(others);
  }
}

function* shown(byNumber: readonly (Parameter | undefined)[]): Generator<Parameter, void, void> {
  for (const parameter of byNumber) if (parameter !== undefined) yield parameter;
}

function fits({ type }: Parameter, value: unknown): boolean {
  if (type === 'B') return typeof value === 'boolean';
  if (type === 'S') return typeof value === 'string';
  return Number.isFinite(value);
}

/** The numbers of those parameters that a turn gives a value. */
function valuedIn(turn: ToldTurn): ReadonlySet<unknown> {
  const numbers = new Set<unknown>();
  for (let index = 0; index < turn.length; index++) if (typeof turn[index] !== 'object') numbers.add(turn[index++]);
  return numbers;
}
