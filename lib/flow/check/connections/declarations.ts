// The parameters declared by all connections, keyed by address.

import { resolve } from 'node:path';
import { concatWith, NEVER, of } from 'rxjs';
import { z } from 'zod';
import { type ConnectionEvent, defineConnectionType, type Remotes } from '../../../connections/connection.ts';
import type { ResolvePath } from '../../../connections/setting.ts';
import type { SettingPath } from '../../../json5/mistake.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { connectionIdOf, formatAddress, parseAddress } from '../../../model/address.ts';
import { describe, messageOf } from '../../../model/error.ts';
import type { ParameterDeclaration } from '../../../model/parameter.ts';
import type { ValueType } from '../../../model/value.ts';
import type { FlowFile } from '../../files/flow-file.ts';
import { type ConnectionInputs, type ConnectionPlan, hubId, hubParameters } from '../../plan.ts';
import type { SourceLocation } from '../source-location.ts';

/** A connection with a map of its parameters, keyed by Parameter ID. The map is created when a parameter is first looked up. */
export class Declared {
  readonly connection: FoundConnection;
  #byId: Map<string, ParameterDeclaration> | undefined;

  constructor(connection: FoundConnection) {
    this.connection = connection;
  }

  /** Returns the same connection at its location after the file was read again. */
  at(location: SourceLocation): Declared {
    const moved = new Declared({ ...this.connection, location });
    moved.#byId = this.#byId;
    return moved;
  }

  /**
   * Finds a parameter by its ID. While the file that lists the parameters is broken, the connection may presume that the parameter exists.
   */
  find(parameterId: string): ParameterDeclaration | undefined {
    const { type, settings, folder, parameters } = this.connection;
    this.#byId ??= new Map(parameters.map((declaration) => [declaration.id, declaration]));
    const found = this.#byId.get(parameterId);
    if (found !== undefined) return found;
    const presumed = type.presume?.(settings, parameterId, resolver(folder));
    if (presumed === undefined) return undefined;
    parameters.push(presumed);
    this.#byId.set(parameterId, presumed);
    return presumed;
  }

  *addresses(): Generator<string> {
    const { id: connectionId, parameters } = this.connection;
    for (const { id } of parameters) yield formatAddress(connectionId, id);
  }
}

export class Declarations {
  /** The name of the file that declares each Connection ID, including connections with errors. */
  readonly #fileOfId = new Map<string, string>();
  /** The connections and their parameters, keyed by Connection ID, without connections that have errors. */
  readonly #declared = new Map<string, Declared>();

  /** The Connection IDs and parameters of other hubs; `known` is keyed by address. Undefined if there are no other hubs. */
  #remotes: { readonly ids: Set<string>; readonly known: Map<string, ParameterDeclaration> } | undefined;
  /** Whether an undeclared Connection ID may belong to another hub. */
  #isOpen = false;
  /** Undeclared Connection IDs that are assumed to belong to another hub and about which a warning has been added. */
  readonly #warned = new Set<string>();

  addRemotes({ parameters }: Remotes): void {
    this.#remotes ??= { ids: new Set(), known: new Map() };
    if (parameters === undefined) this.#isOpen = true;
    for (const [address, { type, access }] of parameters ?? []) {
      const slash = address.indexOf('/');
      this.#remotes.ids.add(address.slice(0, slash));
      this.#remotes.known.set(address, { id: address.slice(slash + 1), type, access });
    }
  }

  /** Records that a file declares a connection. Returns the file that already declares this Connection ID, if any. */
  expect(connectionId: string, file: string): string | undefined {
    const first = this.#fileOfId.get(connectionId);
    if (first === undefined) this.#fileOfId.set(connectionId, file);
    return first;
  }

  add(declared: Declared): void {
    this.#declared.set(declared.connection.id, declared);
  }

  /** The connections without errors, in the order in which they were added. */
  get all(): Iterable<Declared> {
    return this.#declared.values();
  }

  /** Returns the addresses of one connection's parameters or of all parameters, or undefined if not all addresses are known. */
  addresses(connectionId?: string): Iterable<string> | undefined {
    const isElsewhere = connectionId === undefined ? this.#isOpen : this.#isOpen && this.isRemote(connectionId);
    return isElsewhere ? undefined : this.#addresses(connectionId);
  }

  *#addresses(connectionId: string | undefined): Generator<string> {
    for (const [id, declared] of this.#declared)
      if (connectionId === undefined || connectionId === id) yield* declared.addresses();
    for (const { id } of hubParameters) yield formatAddress(hubId, id);
    yield* this.#remotes?.known.keys() ?? [];
  }

  /** Whether any address in the flow files has named a parameter of the hub itself. */
  isHubNamed = false;

  /** Returns whether an undeclared connection is assumed to belong to another hub. */
  isRemote(connectionId: string): boolean {
    if (this.#remotes === undefined || connectionId === hubId || this.#fileOfId.has(connectionId)) return false;
    return this.#isOpen || this.#remotes.ids.has(connectionId);
  }

  /** Returns the type of the parameter at an address, or undefined if the type is not known. */
  typeOf(address: string): ValueType | undefined {
    const id = connectionIdOf(address);
    return (this.#declared.get(id)?.find(address.slice(id.length + 1)) ?? this.#remotes?.known.get(address))?.type;
  }

  /**
   * Finds the declaration of the parameter at an address. Returns undefined if an error was added, or if the connection itself has errors.
   */
  find(location: SourceLocation, address: string, listensToWrites = false): ParameterDeclaration | undefined {
    const parts = this.#parse(location, address);
    if (parts === undefined) return undefined;
    const { connectionId, parameterId } = parts;
    if (connectionId === hubId) return this.#findOfHub(location, address, parameterId);
    if (!this.#fileOfId.has(connectionId)) {
      if (this.isRemote(connectionId)) {
        if (listensToWrites)
          location.add(`hear: expected "changes" for "${address}": its hub does not send writes that change nothing`);
        return this.#findRemote(location, address, connectionId);
      }
      const known = [...this.#fileOfId.keys(), ...(this.#remotes?.ids ?? [])];
      this.#refuse(location, address, `${unknownName('connection', connectionId, known)} (address "${address}")`);
      return undefined;
    }
    const declared = this.#declared.get(connectionId);
    if (declared === undefined) return undefined;
    const found = declared.find(parameterId);
    if (found === undefined)
      this.#refuse(location, address, unknownName('parameter', address, [...declared.addresses()]));
    return found;
  }

  #parse(location: SourceLocation, address: string): ReturnType<typeof parseAddress> | undefined {
    try {
      return parseAddress(address);
    } catch (error) {
      this.#refuse(location, address, `${messageOf(error)}${this.#hintFor(address)}`);
      return undefined;
    }
  }

  /** Returns a hint that names the known address probably meant by a string without a Connection ID or with another separator. */
  #hintFor(text: string): string {
    const words = text.trim().split(/[.:\\\s/]+/);
    const tail = words.at(-1)!;
    const known = [...this.#addresses(undefined)].filter((one) => one.endsWith(tail));
    const wanted = words.length > 1 ? words.join('/') : `/${tail}`;
    const found = known.filter((one) => (words.length > 1 ? one === wanted : one.endsWith(wanted)));
    return found.length === 1 ? `, did you mean "${found[0]}"?` : '';
  }

  /** Adds an error for an invalid address: an explanation if the string looks like an expression, otherwise the message. */
  #refuse(location: SourceLocation, address: string, message: string): void {
    const isKnown = (one: string) => this.typeOf(one) !== undefined;
    location.add(explainExpression(address, location.path, isKnown) ?? message);
  }

  #findRemote(location: SourceLocation, address: string, connectionId: string): ParameterDeclaration | undefined {
    const { ids, known } = this.#remotes!;
    if (ids.has(connectionId)) {
      if (!known.has(address)) {
        const sisters = [...known.keys()].filter((one) => one.startsWith(`${connectionId}/`));
        location.add(unknownName('parameter', address, sisters));
      }
    } else if (!this.#warned.has(connectionId)) {
      this.#warned.add(connectionId);
      location.warn(
        `no connection "${connectionId}" here, so it is assumed to belong to another hub (address "${address}")`,
      );
    }
    return known.get(address);
  }

  #findOfHub(location: SourceLocation, address: string, parameterId: string): ParameterDeclaration | undefined {
    this.isHubNamed = true;
    const found = hubParameters.find(({ id }) => id === parameterId);
    const known = hubParameters.map(({ id }) => formatAddress(hubId, id));
    if (found === undefined) location.add(unknownName('parameter', address, known));
    return found;
  }
}

// Connections of an earlier check. A connection with unchanged settings that names no file declares the same parameters.

export interface KnownConnection {
  readonly declared: Declared;
  readonly file: string;
  /** The settings as parsed, compared by identity: a file that is read again keeps the objects of unchanged parts. */
  readonly data: unknown;
  readonly key: string;
}

/** The connections from an earlier check, keyed by Connection ID, in the order of the flow files. */
export type KnownConnections = ReadonlyMap<string, KnownConnection>;

/**
 * Finds a connection that was checked with these settings. Returns undefined if the connection must be checked because its settings or a
 * file have changed.
 */
export function findKnown(
  known: KnownConnections | undefined,
  id: string,
  data: unknown,
  file: FlowFile,
): KnownConnection | undefined {
  const found = known?.get(id);
  if (found === undefined || found.data !== data || found.file !== file.name) return undefined;
  const { type, secrets, folder } = found.declared.connection;
  const readsNothing = type.files === undefined && type.presume === undefined && type.remotes === undefined;
  const isAlone = readsNothing && secrets.length === 0;
  return isAlone && folder === file.folder ? found : undefined;
}

/**
 * Returns whether connections declare the same parameters as before, so that references to the parameters stay valid. Returns false if a
 * connection has parameters that other hubs declare, because those parameters are not known.
 */
export function declareTheSame(known: KnownConnections | undefined, found: readonly FoundConnection[]): boolean {
  if (known === undefined || known.size !== found.length) return false;
  const before = known.values();
  return found.every((connection) => {
    const other = before.next().value!.declared.connection;
    if (connection.type.remotes !== undefined) return false;
    return other.id === connection.id && areSame(other.parameters, connection.parameters);
  });
}

function areSame(some: FoundConnection['parameters'], others: FoundConnection['parameters']): boolean {
  if (some === others) return true;
  return (
    some.length === others.length &&
    some.every(({ id, type, access }, index) => {
      const other = others[index]!;
      return id === other.id && type === other.type && access === other.access;
    })
  );
}

// A connection with valid settings, before its inputs are checked.

export type FoundConnection = Omit<ConnectionPlan, keyof ConnectionInputs | 'key' | 'file'> & {
  /** The location of the connection's settings in the flow file. */
  readonly location: SourceLocation;
  /** The settings as written in the flow file, before validation. */
  readonly data: unknown;
  readonly secretFiles: readonly SecretFile[];
  readonly parameters: ParameterDeclaration[];
};

/** A file that contains the secret string for a setting. */
export interface SecretFile {
  /** The path of the setting that names the file. */
  readonly path: SettingPath;
  /** The absolute path of the file with the secret. */
  readonly file: string;
}

/** Returns a function that resolves paths relative to the folder of a flow file. */
export function resolver(folder: string): ResolvePath {
  return (path) => resolve(folder, path);
}

// The parameters of the hub itself. They exist once a flow file names one of them: the plan then has a connection `hub`, which no file
// may declare.

const hubType = defineConnectionType({
  type: 'hub',
  isExternal: false,
  settingsSchema: z.strictObject({}),
  parameters: () => hubParameters,
  run: () => of<ConnectionEvent>({ state: 'running' }).pipe(concatWith(NEVER)),
});

/** The plan for the connection `hub`, which stands for the hub itself and has no inputs. */
export const hubConnection: ConnectionPlan = {
  id: hubId,
  file: '',
  type: hubType,
  settings: {},
  secrets: [],
  enabled: true,
  description: 'the hub itself',
  parameters: hubParameters,
  folder: '',
  key: hubId,
  inputs: {},
  inputTypes: new Map(),
  settleOrder: -1,
};

// Suggests a correction if a setting contains an expression instead of an address.

/** Matches an operator that is common in expressions and rare in addresses. */
const operator = /\|\||&&|[=!<>]=|[<>]|^\s*!|\s[-+*/%]\s|\bparam\s*\(|^\s*\(|\?.*:|\s(?:and|or)\s|=/;
/** Matches an address within an expression. */
const address = /[a-z0-9-]+(?:\/[^\s/|&=!<>+*%?:,()'"]+)+/g;
const name = /[A-Za-z_]\w*/g;
const otherWords: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in', 'and', 'or', 'not', 'value']);
const letters = [...'abcdefgh'];

/**
 * Returns the correction for an expression that is given instead of an address, or undefined if the string looks like a misspelt address.
 * `isKnown` returns whether a parameter has the address.
 */
function explainExpression(text: string, path: SettingPath, isKnown: (address: string) => boolean): string | undefined {
  const several = text.split(/\s*[,;]\s*|\s+/).filter((part) => part !== '');
  if (several.length > 1 && several.every(isKnown))
    return `expected one address, got ${several.length} in one text: write a list, ['${several.join("', '")}']`;
  if (text.includes('*') && !/[\s&|<>=!()]/.test(text))
    return `expected an address <Connection ID>/<Parameter ID>, got the pattern "${text}": name each address, in a list or with \`each\``;
  if (!operator.test(text)) return undefined;
  const expected = `expected an address <Connection ID>/<Parameter ID>, got the expression ${describe(text).replace(/ \(string\)$/, '')}`;
  const at = (setting: string) => path.at(-1) === setting || path.at(-2) === setting;
  if (at('from')) return `${expected}: put the sources in from, and the expression in map: ${asRule(text, isKnown)}`;
  if (at('to'))
    return `${expected}: to names the destinations; put the expression in map, or after the address: to: { 'desk/a': 'value * 2' }`;
  if (at('inputs'))
    return `${expected}: inputs are addresses only; the expression of an output computes with their names`;
  if (path.at(-1) === 'when')
    return `${expected}: when names a parameter that is true or false. Let a virtual-core compute it, outputs: { low: { type: 'B', expression: '…' } }, and name its output: when: 'core/low'`;
  return expected;
}

/** Formats an expression as the settings of a rule: `from: { a: 'desk/mic1', b: 'desk/mic2' }, map: 'a || b'`. */
function asRule(text: string, isKnown: (address: string) => boolean): string {
  const bare = inSigns(text.replace(/\bparam\s*\(\s*(['"])(.*?)\1\s*\)/g, '$2').trim());
  const found = [...new Set(bare.match(address) ?? [])].filter(isKnown);
  const quote = (expression: string) => (expression.includes("'") ? `"${expression}"` : `'${expression}'`);
  if (found.length === 1) return `from: '${found[0]}', map: ${quote(bare.replaceAll(found[0]!, 'value'))}`;
  if (found.length > 1 && found.length <= letters.length) {
    const names = found.map((one, index) => `${letters[index]}: '${one}'`).join(', ');
    const longestFirst = found
      .map((one, index) => [one, letters[index]!] as const)
      .sort(([a], [b]) => b.length - a.length);
    const map = longestFirst.reduce((expression, [one, letter]) => expression.replaceAll(one, letter), bare);
    return `from: { ${names} }, map: ${quote(map)}`;
  }
  const words = [...new Set(bare.match(name) ?? [])].filter((word) => !otherWords.has(word) && !bare.includes('/'));
  const names = words.length === 0 ? ['a', 'b'] : words;
  return `from: { ${names.map((word) => `${word}: 'desk/${word}'`).join(', ')} }, map: ${quote(words.length === 0 ? '…' : bare)}`;
}

/** Replaces the word operators of other languages, such as `and`, with the operators of Patchbay expressions. */
function inSigns(text: string): string {
  const signs: Readonly<Record<string, string>> = { and: ' && ', or: ' || ' };
  return text
    .replace(/\s+(and|or)\s+/gi, (_, word: string) => signs[word.toLowerCase()]!)
    .replace(/\bnot\s+/gi, '!')
    .replace(/(?<![=!<>])=(?!=)/g, '==');
}
