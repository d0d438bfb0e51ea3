// A compiled description, which a session runs: families of parameters, the ways in which messages are read and written, and the questions
// to the device.

import { type Framing, ownText } from '../../device/frames.ts';
import type { Matcher, MatcherIndex } from '../../device/message.ts';
import type { Pattern, Values } from '../../device/pattern.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { numberWithin } from '../../model/digits.ts';
import { describe, HubError } from '../../model/error.ts';
import type { About, ParameterDeclaration } from '../../model/parameter.ts';
import { convert, toText, type Value, type ValueType } from '../../model/value.ts';
import type { DescribedParameter, Description, Each, TransportName } from './description.ts';

/**
 * The maximum number of parameters that a description may declare. The same limit applies to the parameters that a connection discovers.
 */
export const maxParameters = 20_000;

/** Computes a value. Errors: any expression error. */
export type Compute = (values: Values) => Value;

/** A pattern for a message or for an item in a group, and the family whose parameter the pattern sets. */
export interface Read {
  readonly matcher: Matcher;
  readonly family: Family;
  /** Computes the value; undefined if the pattern itself contains the name `value`. */
  readonly value: Compute | undefined;
  readonly where: readonly (readonly [name: string, compute: Compute])[];
  /** Whether the message only announces a discovered parameter, in which case the session must ask for its value. */
  readonly isFinding: boolean;
  /** The faster way to read the message; undefined if values must be computed or parameters are discovered. */
  readonly plain: PlainRead | undefined;
}

/** A read for declared parameters whose values are taken unchanged from a message. */
export interface PlainRead {
  readonly pattern: Pattern;
  readonly family: Family;
  /** The indexes of the value and of the ID's variables in the list that `Pattern.read` fills. */
  readonly value: number;
  readonly variables: readonly number[];
}

export interface Answers {
  readonly replies: readonly Matcher[];
  readonly fail: readonly Matcher[];
  readonly retryIf: readonly Matcher[];
  readonly timeoutMs: number;
  /** The number of times that the request is repeated if there is no answer. */
  readonly retry: number;
  /**
   * The number of times that the request is repeated after an answer that matches `retryIf`. Such an answer means that the device has not
   * carried out the request.
   */
  readonly retryBusy: number;
}

/** A question that the hub asks a device. */
export interface Ask extends Answers {
  readonly name: string;
  readonly send: readonly Matcher[];
  readonly until: Matcher | undefined;
  readonly everyMs: number | undefined;
  /** The reads that apply the answer to parameters. */
  readonly reads: readonly Read[];
}

export interface Group {
  readonly name: string;
  /** The question for the group; undefined if the device sends the group on its own. */
  readonly ask: Ask | undefined;
  readonly head: string | undefined;
  readonly each: Each | undefined;
  readonly saves: boolean;
  readonly index: MatcherIndex<Read>;
  /** The families whose parameters are set by the group. */
  readonly families: readonly Family[];
}

export interface Write extends Answers {
  readonly send: readonly Matcher[];
  readonly value: Compute | undefined;
  /** The questions to ask after a write: the names of groups, or `ask` for the question about the parameter itself. */
  readonly asksThen: readonly string[];
  readonly batch:
    | { readonly start: string; readonly join: string; readonly end: string; readonly most: number }
    | undefined;
  readonly replays: boolean;
}

/** A parameter that belongs to a family. */
export interface Instance {
  readonly id: string;
  readonly family: Family;
  /** The values of the ID's variables, keyed by name. */
  readonly values: ReadonlyMap<string, Value>;
  /** The number of the latest message that has set the parameter. */
  setBy: number;
}

/**
 * A family: a single parameter, or all parameters from a template such as `out/{n:0..39}`, whose IDs differ only in the values of
 * variables.
 */
export class Family {
  /** The ID or template as written in the description. */
  readonly name: string;
  readonly type: ValueType;
  readonly access: ParameterDeclaration['access'];
  readonly described: DescribedParameter;
  readonly variables: readonly string[];
  /** Whether the device reports which parameters exist. */
  readonly isDiscovered: boolean;
  /** Whether the device reports the parameters' values. */
  readonly isRead: boolean;
  ask: Ask | undefined = undefined;
  write: Write | undefined = undefined;
  isUnknown: Compute | undefined = undefined;
  /** Whether `isUnknown` uses the value, so that the value must be computed first. */
  isUnknownByValue = false;
  readonly about: About | undefined;
  /** Checks a write while there is no session; undefined if every value of the type is allowed. */
  readonly accept: ParameterDeclaration['accept'];
  readonly #parts: readonly IdPart[];
  readonly #instances = new Map<string, Instance>();
  /** The only parameter of the family; undefined if the ID has variables. */
  readonly #single: Instance | undefined;

  constructor(name: string, parts: readonly IdPart[], described: DescribedParameter) {
    this.name = name;
    this.type = described.type;
    this.described = described;
    this.isRead = described.on !== undefined || described.of !== undefined || described.ask !== undefined;
    this.access = described.write === undefined ? 'read-only' : this.isRead ? 'read-write' : 'write-only';
    const { label, unit, min, max, step, choices, description, class: kind } = described;
    const about = Object.entries({ label, unit, min, max, step, choices, description, class: kind }).filter(
      ([, value]) => value !== undefined,
    );
    this.about = about.length === 0 ? undefined : Object.fromEntries(about);
    const isBounded = (choices ?? min ?? max) !== undefined && described.write !== undefined && this.type !== 'T';
    this.accept = isBounded ? (input) => acceptedValue(this, input) : undefined;
    this.#parts = parts;
    this.variables = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
    this.isDiscovered = parts.some((part) => typeof part !== 'string' && part.values === undefined);
    if (!this.isDiscovered)
      for (const values of combinations(parts))
        this.#instances.set(this.keyOf(values), { id: this.#idOf(values), family: this, values, setBy: 0 });
    this.#single = this.variables.length === 0 ? this.#instances.get('') : undefined;
  }

  /** The parameters that the description declares. Discovered parameters belong to a session and are not included. */
  get instances(): Iterable<Instance> {
    return this.#instances.values();
  }

  /** Returns the declared parameter whose ID has these values, or undefined if there is none. */
  find(values: Values): Instance | undefined {
    return this.#instances.get(this.keyOf(values));
  }

  /** Like `find`, but takes the values from a list, in which `places` are the indexes of the variables. */
  findAt(values: readonly (Value | undefined)[], places: readonly number[]): Instance | undefined {
    if (places.length === 0) return this.#single;
    if (places.length === 1) return this.#instances.get(toText(values[places[0]!] ?? ''));
    return this.#instances.get(places.map((place) => toText(values[place] ?? '')).join('\n'));
  }

  /** Creates a discovered parameter. Returns undefined if its ID would be invalid. */
  discover(values: Values): Instance | undefined {
    if (this.variables.some((name) => !values.has(name))) return undefined;
    const own = new Map(this.variables.map((name) => [name, ownValue(values.get(name)!)]));
    const id = this.#idOf(own);
    return parameterIdMistake(id) === undefined ? { id, family: this, values: own, setBy: 0 } : undefined;
  }

  /** Returns the values of the variables in an ID, or undefined if the ID does not belong to this family. */
  valuesOf(id: string): ReadonlyMap<string, Value> | undefined {
    const pattern = this.#parts.map((part) =>
      typeof part === 'string' ? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '([^/]+)',
    );
    const found = new RegExp(`^${pattern.join('')}$`).exec(id);
    return found === null ? undefined : new Map(this.variables.map((name, index) => [name, found[index + 1]!]));
  }

  /** Returns the ID with these values. Slashes in values are replaced, because they would act as separators. */
  #idOf(values: Values): string {
    return this.#parts
      .map((part) => (typeof part === 'string' ? part : toText(values.get(part.name)!).replaceAll('/', '∕')))
      .join('');
  }

  /** Returns a key that is unique for each combination of the variables' values. */
  keyOf(values: Values): string {
    const { variables } = this;
    if (variables.length === 1) return toText(values.get(variables[0]!) ?? '');
    return variables.map((name) => toText(values.get(name) ?? '')).join('\n');
  }
}

/** A part of an ID: literal text, or a variable. `values` is undefined if the device reports the values of the variable. */
export type IdPart = string | { readonly name: string; readonly values: readonly Value[] | undefined };

/** A pattern for messages that the device sends on its own, and what such messages cause. */
export type Unasked = { readonly matcher: Matcher } & (
  | { readonly read: Read }
  | { readonly group: Group }
  | { readonly asks: readonly string[]; readonly withdraws: readonly WithdrawnId[] }
);

export interface WithdrawnId {
  readonly family: Family;
}

export interface Greeting {
  readonly send: readonly Matcher[];
  readonly reply: Matcher | undefined;
  readonly or: readonly Matcher[];
  readonly saves: boolean;
  readonly first: Matcher | undefined;
}

/** A description that a session can run. */
export interface Compiled {
  readonly about: string;
  readonly transports: readonly TransportName[];
  readonly port: number | undefined;
  readonly subprotocol: readonly string[];
  readonly serial: NonNullable<Description['serial']>;
  /** Whether the device is reached over HTTP. In this case, the transport matches answers to requests. */
  readonly isHttp: boolean;
  /** The request that opens the device's event stream. */
  readonly events: Matcher | undefined;
  readonly format: NonNullable<Description['format']>;
  readonly encoding: BufferEncoding;
  /** How a stream of bytes is split into messages; undefined if each received chunk is a message. */
  readonly framing: Framing | undefined;
  readonly isTelnet: boolean;
  readonly maxFrameBytes: number;
  readonly codec: Description['codec'];
  readonly isPerRequest: boolean;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  readonly timeoutMs: number;
  readonly window: number;
  readonly spacingMs: number;
  readonly greet: readonly Greeting[];
  readonly ready: readonly Matcher[];
  readonly keepAlive: Ask | undefined;
  readonly families: readonly Family[];
  readonly groups: ReadonlyMap<string, Group>;
  readonly heads: readonly Group[];
  readonly unasked: MatcherIndex<Unasked>;
  readonly faults: readonly {
    readonly matcher: Matcher | undefined;
    readonly close: number | undefined;
    readonly reason: string;
  }[];
  /** The values of the variables in expressions and messages, keyed by name. */
  readonly constants: ReadonlyMap<string, Value>;
  /** The variables that a connection may set, with their default values. */
  readonly variables: Readonly<Record<string, Value>>;
  readonly secretNames: readonly string[];
}

/** Returns a copy of a value, so that keeping the value does not keep the whole message in memory. */
export function ownValue(value: Value): Value {
  return typeof value === 'string' ? ownText(value) : value;
}

function* combinations(parts: readonly IdPart[]): Generator<Map<string, Value>> {
  const [first, ...others] = parts;
  if (first === undefined) yield new Map();
  else if (typeof first === 'string') yield* combinations(others);
  else
    for (const value of first.values ?? [])
      for (const rest of combinations(others)) yield new Map([[first.name, value], ...rest]);
}

/** Returns the declaration of a parameter in a family. */
export function declarationOf({ id, family }: Instance): ParameterDeclaration {
  const { type, access, accept, about } = family;
  const isConfirmed = access !== 'read-only' && type !== 'T';
  return { id, type, access, isConfirmed, ...(accept && { accept }), ...(about && { about }) };
}

/** Converts the input of a write to a value that the description allows. Errors: `out-of-range`, `not-convertible`. */
export function acceptedValue({ type, described }: Family, input: unknown): Value {
  const { choices, min, max } = described;
  const named =
    choices !== undefined && typeof input === 'string' && Object.hasOwn(choices, input) ? choices[input] : input;
  const value = convert(type, named);
  if (choices !== undefined && !Object.values(choices).some((choice) => convert(type, choice) === value))
    throw new HubError(
      'out-of-range',
      `expected one of ${Object.entries(choices)
        .map(([name, choice]) => `${choice} (${name})`)
        .join(', ')}, got ${describe(input)}`,
    );
  if (typeof value === 'number' && ((min !== undefined && value < min) || (max !== undefined && value > max)))
    throw new HubError('out-of-range', `expected ${numberWithin(min, max)}, got ${describe(input)}`);
  return value;
}
