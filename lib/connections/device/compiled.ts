// A compiled description: families of parameters, how their messages are read and written, and the questions to the device. A session runs
// such a description.

import { type Framing, ownText } from '../../device/frames.ts';
import type { Matcher, MatcherIndex } from '../../device/message.ts';
import type { Pattern, Values } from '../../device/pattern.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { describe, HubError } from '../../model/error.ts';
import type { About, ParameterDeclaration } from '../../model/parameter.ts';
import { convert, toText, type Value, type ValueType } from '../../model/value.ts';
import type { DescribedParameter, Description, Each, TransportName } from './description.ts';

/** The maximum number of parameters that a description may declare and that a connection may discover. */
export const maxParameters = 20_000;

/** Computes a value. Errors: any expression error. */
export type Compute = (values: Values) => Value;

/** Reads a message, or an item of a group, into the parameters of a family. */
export interface Read {
  readonly matcher: Matcher;
  readonly family: Family;
  /** Computes the value; undefined if the name `value` in the pattern contains the value. */
  readonly value: Compute | undefined;
  readonly where: readonly (readonly [name: string, compute: Compute])[];
  /** Whether the message only announces a discovered parameter. The session then asks for its value. */
  readonly isFinding: boolean;
  /** How to read the message without computation; undefined if the values must be computed or the parameters are discovered. */
  readonly plain: PlainRead | undefined;
}

/** A read for declared parameters whose values need no computation. */
export interface PlainRead {
  readonly pattern: Pattern;
  readonly family: Family;
  /** The positions of the value and of the ID's variables in the list that `Pattern.read` fills. */
  readonly value: number;
  readonly variables: readonly number[];
}

export interface Answers {
  readonly replies: readonly Matcher[];
  readonly fail: readonly Matcher[];
  readonly retryIf: readonly Matcher[];
  readonly timeoutMs: number;
  /** How often the request is repeated if there is no answer. */
  readonly retry: number;
  /**
   * How often the request is repeated after an answer that matches `retryIf`, which means that the device has not carried out the request.
   */
  readonly retryBusy: number;
}

/** A question that the hub asks a device. */
export interface Ask extends Answers {
  readonly name: string;
  readonly send: readonly Matcher[];
  readonly until: Matcher | undefined;
  readonly everyMs: number | undefined;
  /** How the answer is read. */
  readonly reads: readonly Read[];
}

export interface Group {
  readonly name: string;
  /** The question for the group; undefined if the device sends the group without being asked. */
  readonly ask: Ask | undefined;
  readonly head: string | undefined;
  readonly each: Each | undefined;
  readonly saves: boolean;
  readonly index: MatcherIndex<Read>;
  /** The families whose parameters the group sets. */
  readonly families: readonly Family[];
}

export interface Write extends Answers {
  readonly send: readonly Matcher[];
  readonly value: Compute | undefined;
  /** The questions that follow a write: names of groups, or `ask` to ask for the parameter itself. */
  readonly asksThen: readonly string[];
  readonly batch:
    | { readonly start: string; readonly join: string; readonly end: string; readonly most: number }
    | undefined;
  readonly replays: boolean;
}

/** A parameter of a family. */
export interface Instance {
  readonly id: string;
  readonly family: Family;
  /** The values of the variables in the ID. */
  readonly values: ReadonlyMap<string, Value>;
  /** The number of the last message that set the parameter. */
  setBy: number;
}

/** A single parameter, or all parameters from a template such as `out/{n:0..39}`, whose IDs differ only in their variables. */
export class Family {
  /** The name as written in the description. */
  readonly name: string;
  readonly type: ValueType;
  readonly access: ParameterDeclaration['access'];
  readonly described: DescribedParameter;
  readonly variables: readonly string[];
  /** Whether the device reports which parameters exist. */
  readonly isDiscovered: boolean;
  /** Whether the device reports the values. */
  readonly isRead: boolean;
  ask: Ask | undefined = undefined;
  write: Write | undefined = undefined;
  isUnknown: Compute | undefined = undefined;
  /** Whether `isUnknown` uses the value, which has to be computed first. */
  isUnknownByValue = false;
  readonly about: About | undefined;
  /** Checks a write while there is no session; undefined if every value of the type is valid. */
  readonly accept: ParameterDeclaration['accept'];
  readonly #parts: readonly IdPart[];
  readonly #instances = new Map<string, Instance>();
  /** The only parameter, if the ID has no variables. */
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

  /** The parameters that the description declares. Discovered parameters belong to a session instead. */
  get instances(): Iterable<Instance> {
    return this.#instances.values();
  }

  /** Finds the parameter whose ID has these values. */
  find(values: Values): Instance | undefined {
    return this.#instances.get(this.keyOf(values));
  }

  /** Like `find`, but with a list that contains the values of the variables at these positions. */
  findAt(values: readonly (Value | undefined)[], places: readonly number[]): Instance | undefined {
    if (places.length === 0) return this.#single;
    if (places.length === 1) return this.#instances.get(toText(values[places[0]!] ?? ''));
    return this.#instances.get(places.map((place) => toText(values[place] ?? '')).join('\n'));
  }

  /** Creates a discovered parameter; undefined if the ID would be invalid. */
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

  /** Returns the ID with these values. Each `/` in a value is replaced, because it would act as a separator. */
  #idOf(values: Values): string {
    return this.#parts
      .map((part) => (typeof part === 'string' ? part : toText(values.get(part.name)!).replaceAll('/', '∕')))
      .join('');
  }

  /** Returns a key that is unique for each combination of variables. */
  keyOf(values: Values): string {
    const { variables } = this;
    if (variables.length === 1) return toText(values.get(variables[0]!) ?? '');
    return variables.map((name) => toText(values.get(name) ?? '')).join('\n');
  }
}

/** A literal part of an ID, or a variable. The `values` of a variable are undefined if the device reports them. */
export type IdPart = string | { readonly name: string; readonly values: readonly Value[] | undefined };

/** A message that the device sends without being asked. */
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
  /** Whether the device is reached over HTTP. The HTTP transport matches answers to requests. */
  readonly isHttp: boolean;
  /** The request that opens the stream of events. */
  readonly events: Matcher | undefined;
  readonly format: NonNullable<Description['format']>;
  readonly encoding: BufferEncoding;
  /** How the stream is divided into messages; undefined if each chunk is a message. */
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
  /** The variables as seen by expressions and messages. */
  readonly constants: ReadonlyMap<string, Value>;
  /** The variables that a connection may set. */
  readonly variables: Readonly<Record<string, Value>>;
  readonly secretNames: readonly string[];
}

/** Returns a copy of a value that does not keep the entire message in memory. */
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

/** Returns the declaration of a parameter. */
export function declarationOf({ id, family }: Instance): ParameterDeclaration {
  const { type, access, accept, about } = family;
  const isConfirmed = access !== 'read-only' && type !== 'T';
  return { id, type, access, isConfirmed, ...(accept && { accept }), ...(about && { about }) };
}

/** Converts a value and checks it against the description. Errors: `out-of-range`, `not-convertible`. */
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
    throw new HubError('out-of-range', `expected ${min ?? ''}..${max ?? ''}, got ${describe(input)}`);
  return value;
}
