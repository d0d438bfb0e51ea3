// TypeScript flow files: connections as in JSON5, and rules whose source is an RxJS stream of parameters in the hub. A rule is data, and
// the hub runs it: authors never subscribe and never see the hub.

import type { Observable } from 'rxjs';
import type { About } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { FlowTest } from './check/tests/test-schema.ts';

/**
 * The parameters of an installation, keyed by address: `{ 'desk/lamp': { type: 'B'; access: 'read-write' } }`. The declaration file written
 * by `patchbay types` fills in this interface. While the interface is empty, any address is accepted.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled in by declaration merging
export interface Installation {}

type Known = keyof Installation & string;
type TypeOf<Address extends Known> = Installation[Address] extends { type: infer Type } ? Type : never;
type AddressesOf<Type, Access = string> = {
  [Address in Known]: Installation[Address] extends { type: Type; access: Access } ? Address : never;
}[Known];

/** The address of a readable parameter whose value has one of the given types. */
export type ReadableAddress<Type = string> = [Known] extends [never] ? string : AddressesOf<Type>;
/** The address of a parameter that a rule may write and whose value has one of the given types. */
export type WritableAddress<Type = string> = [Known] extends [never]
  ? string
  : AddressesOf<Type, 'write-only' | 'read-write'>;

interface ValueOfType {
  S: string;
  B: boolean;
  I: number;
  F: number;
  T: 1;
}
type ValueAt<Address extends string> = Address extends Known
  ? TypeOf<Address> extends keyof ValueOfType
    ? TypeOf<Address> extends 'T'
      ? boolean
      : ValueOfType[TypeOf<Address>]
    : Value
  : Value;

/** Options for a stream: whether it emits only changes (`changes`, the default) or also writes that change nothing (`writes`). */
export interface StreamOptions {
  readonly hear?: 'changes' | 'writes';
}

/**
 * Streams of parameters in the hub, for the function `rules`. Each stream emits changes, but not the current value, and never completes or
 * fails.
 */
export interface On {
  text(address: ReadableAddress<'S'>, options?: StreamOptions): Observable<string>;
  flag(address: ReadableAddress<'B'>, options?: StreamOptions): Observable<boolean>;
  integer(address: ReadableAddress<'I'>, options?: StreamOptions): Observable<number>;
  float(address: ReadableAddress<'F'>, options?: StreamOptions): Observable<number>;
  /** Emits 1 each time the trigger fires. */
  trigger(address: ReadableAddress<'T'>): Observable<1>;
  /**
   * Emits one consistent set of values in each turn in which any of the values changed, as soon as all values are known: `{a: 'desk/a'}`
   * emits `{a: 0.5}`. A trigger is represented by a boolean, true if the trigger fired in the turn.
   */
  all<const Names extends Readonly<Record<string, ReadableAddress>>>(
    names: Names,
    options?: StreamOptions,
  ): Observable<{ [Name in keyof Names]: ValueAt<Names[Name]> }>;
  /**
   * Returns the current value, or undefined if the value is unknown. Changes to the value do not start the rule. Call this only within a
   * stream. An unknown address makes the stream fail.
   */
  peek<const Address extends ReadableAddress<'S' | 'B' | 'I' | 'F'>>(address: Address): ValueAt<Address> | undefined;
}

interface RuleTo<Type, Emitted> {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly from: Observable<Emitted>;
  readonly to: WritableAddress<Type> | readonly WritableAddress<Type>[];
  readonly shadow?: boolean;
}

/** A rule that is written as data in a TypeScript flow file, as in JSON5. */
export interface DataRule {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly from: ReadableAddress | readonly ReadableAddress[] | Readonly<Record<string, ReadableAddress>>;
  readonly require?: 'all' | 'any';
  readonly when?: string;
  readonly map?: string;
  readonly pipe?: readonly object[];
  readonly to: WritableAddress | readonly WritableAddress[] | { readonly [Address in WritableAddress]?: string };
  readonly atStart?: boolean;
  readonly hear?: 'changes' | 'writes';
  readonly shadow?: boolean;
}

/** A folder with rules that are enabled and disabled together. */
export interface RuleFolder {
  readonly folder: string;
  readonly enabled?: boolean;
  readonly rules: readonly FlowRule[];
}

/**
 * A rule: the hub writes the stream's values to one address or to each address in a list. Folders are allowed as well, and so are rules
 * that are data.
 */
export type FlowRule =
  | DataRule
  | RuleFolder
  | RuleTo<'S', string>
  | RuleTo<'B', boolean>
  | RuleTo<'I' | 'F', number>
  | RuleTo<'T', Value>
  | RuleTo<never, never>;

/**
 * The definition of a TypeScript flow file. `Connection` is the type of a connection's settings, which the hub checks again when it loads
 * the file.
 */
export interface FlowDefinition<Connection> {
  /** The settings of connections, keyed by Connection ID, as in JSON5. */
  readonly connections?: Readonly<Record<string, Connection>>;
  readonly rules?: (on: On) => readonly FlowRule[];
  readonly tests?: readonly FlowTest[];
  /** Metadata of parameters, keyed by address or glob: `{ 'desk/level': { label: 'Mic 1', unit: 'dB' } }`. */
  readonly describe?: Readonly<Record<string, About>>;
  /** true means that all rules in the file are shadow rules. */
  readonly shadow?: boolean;
}
