// Checks the connections of all flow files: IDs, types, settings and claims, then their inputs.
import { dirname, isAbsolute, join } from 'node:path';
import { type Claim, claimsClash } from '../../../connections/claim.ts';
import type { AnyConnectionType, DeclaredAddresses } from '../../../connections/connection.ts';
import type { PrivateFiles } from '../../../connections/persistence.ts';
import type { ResolvePath } from '../../../connections/setting.ts';
import { MistakeList } from '../../../json5/mistake.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { connectionIdMistake } from '../../../model/address.ts';
import { formatCycle, sortByDependency } from '../../../model/dependency-order.ts';
import { isJsonObject } from '../../../model/json-object.ts';
import type { ParameterDeclaration } from '../../../model/parameter.ts';
import { describeSetting } from '../../../model/secret.ts';
import type { ValueType } from '../../../model/value.ts';
import { type ConnectionInputs, type ConnectionPlan, hubId, startedId, statusParameterId } from '../../plan.ts';
import { connectionSchema } from '../schema.ts';
import { warnOfSmallSettings } from '../small-durations.ts';
import { connectionKey, type FindDeclaration, SourceLocation } from '../source-location.ts';
import {
  Declarations,
  Declared,
  declareTheSame,
  type FoundConnection,
  findKnown,
  type KnownConnection,
  type KnownConnections,
  resolver,
} from './declarations.ts';
import { hintsOf, readSecrets } from './secrets.ts';

const statusParameter: ParameterDeclaration = {
  id: statusParameterId,
  type: 'B',
  access: 'read-only',
  defaultValue: false,
};

export class ConnectionCheck {
  /** Files that the settings of connections name. A change to any of these files requires another check. */
  readonly namedFiles: string[] = [];
  readonly #types: ReadonlyMap<string, AnyConnectionType>;
  readonly #found: FoundConnection[] = [];
  readonly #declarations = new Declarations();
  readonly #claims = new ClaimCheck();

  readonly #known: KnownConnections | undefined;
  readonly #keys = new Map<string, string>();

  /** `known` contains the connections from an earlier check; those whose settings are unchanged are reused. */
  constructor(types: ReadonlyMap<string, AnyConnectionType>, known?: KnownConnections) {
    this.#types = types;
    this.#known = known;
  }

  /** Adds the connection with this ID, whose settings `data` are at the location. */
  add(location: SourceLocation, id: string, data: unknown): void {
    const idMistake = connectionIdMistake(id);
    if (idMistake) location.add(idMistake);
    if (id === hubId) {
      location.add(
        `expected a different Connection ID: "${hubId}" is reserved for the hub itself, with its trigger ${hubId}/${startedId}`,
      );
      return;
    }
    const first = this.#declarations.expect(id, location.file.name);
    if (first !== undefined) {
      location.add(`expected a unique Connection ID, but "${id}" is also in ${first}`);
      return;
    }
    const known = findKnown(this.#known, id, data, location.file);
    if (known !== undefined) {
      this.#add(known.declared.at(location));
      this.#keys.set(id, known.key);
      return;
    }
    const type = this.#typeOf(location, data);
    if (type === undefined) return;
    const schema = connectionSchema(type);
    const read = readSecrets(location, data, schema, type.declaring);
    this.namedFiles.push(...read.secretFiles.map(({ file }) => file));
    const settings = read.location.parse(schema, read.data);
    if (settings === undefined) return;
    const { folder } = location.file;
    const inFiles = type.fileMistakes?.(settings, resolver(folder), shownPathIn(location)) ?? [];
    if (inFiles.length > 0) {
      this.namedFiles.push(...(type.files?.(settings, resolver(folder)) ?? []));
      location.addAll(inFiles);
      return;
    }
    const parameters = type.parameters(settings, resolver(folder));
    const hasStatus = settings.statusParameter as boolean;
    if (hasStatus && parameters.some((parameter) => parameter.id === statusParameterId)) {
      location
        .at('statusParameter')
        .add(`expected a connection without a parameter ${statusParameterId}, which statusParameter adds`);
      return;
    }
    const found = {
      ...read,
      id,
      type,
      settings,
      enabled: settings.enabled as boolean,
      description: settings.description as string,
      parameters: hasStatus ? [...parameters, statusParameter] : [...parameters],
      folder,
    };
    this.#add(new Declared(found));
  }

  #add(declared: Declared): void {
    const found = declared.connection;
    this.#found.push(found);
    this.#addRemotes(found);
    this.#declarations.add(declared);
    if (found.enabled) this.#claims.add(found);
    if (found.type.durations) warnOfSmallSettings(found.location, found.data, found.type.durations);
  }

  /**
   * Checks the inputs of all connections. Call this after all connections have been added. Returns the plans of the connections with valid
   * settings.
   */
  finish(): ConnectionPlan[] {
    const checked = checkInputs(this.#found, (location, address) => this.find(location, address));
    return this.#found.map(({ location, data, secretFiles, ...plan }) => {
      const files = plan.type.files?.(plan.settings, resolver(plan.folder)) ?? [];
      this.namedFiles.push(...files);
      const key = this.#keys.get(plan.id) ?? connectionKey(data, plan, files);
      this.#keys.set(plan.id, key);
      const secrets = [...plan.secrets, ...(plan.type.secrets?.(plan.settings) ?? [])];
      return { ...plan, secrets, file: location.file.name, ...checked.get(plan.id)!, key };
    });
  }

  /** Returns hints about settings that work but are probably not intended, one line each. */
  hints(privateFiles: readonly PrivateFiles[]): string[] {
    const declared: DeclaredAddresses = (connectionId) => this.#declarations.addresses(connectionId);
    return this.#found.flatMap((found) => hintsOf(found, declared, privateFiles));
  }

  /** Returns the errors in files that connections read at run time, one line each. Paths have the same form as the flow file's path. */
  furtherMistakes(): string[] {
    return this.#found.flatMap(({ location, type, settings }) => {
      const { file } = location;
      const whyUnknown = (address: string) => {
        const found = new MistakeList();
        this.find(new SourceLocation(file, found), address);
        return found.items[0]?.message;
      };
      return type.furtherMistakes?.(settings, shownPathIn(location), whyUnknown) ?? [];
    });
  }

  /**
   * Returns the reason for a faulty connection as one line that begins with a location: the location of the setting if the reason begins
   * with a setting, otherwise that of the connection. Returns undefined if there is no such connection.
   */
  lineAbout(id: string, reason: string): string | undefined {
    const found = this.#found.find((one) => one.id === id);
    if (found === undefined) return undefined;
    const [, name = '', message = ''] = /^([\w.]+): (.*)$/s.exec(reason) ?? [];
    const path = name.split('.');
    if (!Object.hasOwn(found.settings as object, path[0]!)) return found.location.line(reason);
    return found.location.at(...path).line(message);
  }

  /** Whether the connections declare the same parameters as the connections in the earlier check. */
  get declaresTheSame(): boolean {
    return declareTheSame(this.#known, this.#found);
  }

  /** The connections by Connection ID, for reuse in a later check. Use this only after `finish`. */
  get known(): KnownConnections {
    const known = Array.from(this.#declarations.all, (declared): [string, KnownConnection] => {
      const { id, data, location } = declared.connection;
      return [id, { declared, data, file: location.file.name, key: this.#keys.get(id)! }];
    });
    return new Map(known);
  }

  /** Whether any address in the flow files has named a parameter of the hub itself. */
  get isHubNamed(): boolean {
    return this.#declarations.isHubNamed;
  }

  /** Finds the declaration for an address. If there is none, adds an error and returns undefined. */
  find(...wanted: Parameters<FindDeclaration>): ParameterDeclaration | undefined {
    return this.#declarations.find(...wanted);
  }

  /** Returns the type of the parameter with this address, or undefined if the type is not known. */
  typeOf(address: string): ValueType | undefined {
    return this.#declarations.typeOf(address);
  }

  /** Returns whether an undeclared connection is assumed to belong to another hub. */
  isRemote(connectionId: string): boolean {
    return this.#declarations.isRemote(connectionId);
  }

  /** Allows addresses of other hubs if a connection joins this hub to other hubs. */
  #addRemotes({ location, type, settings, folder }: FoundConnection): void {
    const remotes = type.remotes?.(settings, resolver(folder));
    if (remotes === undefined) return;
    this.#declarations.addRemotes(remotes);
    if (remotes.file !== undefined) this.namedFiles.push(remotes.file);
    if (remotes.mistake !== undefined) location.at(...remotes.mistake.path).add(remotes.mistake.message);
  }

  #typeOf(location: SourceLocation, data: unknown): AnyConnectionType | undefined {
    if (!isJsonObject(data)) {
      location.add(`expected the settings of a connection, got ${describeSetting(data, location.path)}`);
      return undefined;
    }
    const { type: name } = data;
    const type = typeof name === 'string' ? this.#types.get(name) : undefined;
    if (type !== undefined) return type;
    const known = [...this.#types.keys()];
    const message =
      typeof name === 'string'
        ? unknownName('connection type', name, known)
        : `expected one of ${known.join(', ')}, got ${describeSetting(name)}`;
    location.at('type').add(message);
    return undefined;
  }
}

/** Returns a function that formats paths from settings like the flow file's own path: relative to the same folder, unless absolute. */
function shownPathIn({ file }: SourceLocation): ResolvePath {
  return (path) => (isAbsolute(path) ? path : join(dirname(file.name), path));
}

// Checks that no two enabled connections claim the same port, file or device.

class ClaimCheck {
  readonly #taken: { readonly claim: Claim; readonly id: string }[] = [];

  add({ location, id, type, settings, folder }: FoundConnection): void {
    for (const claim of type.claims?.(settings, resolver(folder)) ?? []) {
      const other = this.#taken.find((taken) => claimsClash(claim, taken.claim));
      if (other) location.add(`expected exclusive use of ${claim.name}, but "${other.id}" also uses it`);
      this.#taken.push({ claim, id });
    }
  }
}

// Checks the inputs of connections: their addresses across files, settings that depend on the types of the inputs, and cycles across
// connections. Then determines the order of the connections that listen to one another.

/** The input addresses of the connections, keyed by Connection ID and input name. */
type Inputs = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Checks the inputs of all connections. Returns the inputs by Connection ID. */
function checkInputs(
  connections: readonly FoundConnection[],
  find: FindDeclaration,
): ReadonlyMap<string, ConnectionInputs> {
  const inputs: Inputs = new Map(connections.map(({ id, type, settings }) => [id, type.inputs?.(settings) ?? {}]));
  const types = new Map(
    connections.map((connection) => [connection.id, checkInputsOf(connection, inputs.get(connection.id)!, find)]),
  );
  addCycles(connections, inputs);
  const { order } = sortByDependency(types.keys(), (id) =>
    [...types.get(id)!.keys()].map((name) => split(inputs.get(id)![name]!).id),
  );
  return new Map(
    order.map((id, place) => [
      id,
      { inputs: inputs.get(id)!, inputTypes: types.get(id)!, settleOrder: place - order.length },
    ]),
  );
}

/** Checks the inputs of one connection. Returns the types of the inputs by name. An input with a wrong address has no type. */
function checkInputsOf(
  { location, type, settings, folder }: FoundConnection,
  inputs: Readonly<Record<string, string>>,
  find: FindDeclaration,
): ReadonlyMap<string, ValueType> {
  const types = new Map<string, ValueType>();
  for (const [name, address] of Object.entries(inputs)) {
    const declaration = find(locationOf(location, type, name), address);
    if (declaration !== undefined) types.set(name, declaration.type);
  }
  for (const mistake of type.mistakes?.(settings, types, resolver(folder)) ?? [])
    location
      .at(...mistake.path)
      .inText(mistake.offset)
      .add('message' in mistake ? mistake.message : unknownName(mistake.unknown, mistake.name, mistake.known));
  return types;
}

/** Adds an error for each cycle that leads through inputs. Cycles within a connection are detected by its type. */
function addCycles(connections: readonly FoundConnection[], inputsOf: Inputs): void {
  const followsOf = new Map(connections.map(({ id, type, settings }) => [id, type.follows?.(settings)]));
  const addresses = new Set([...inputsOf.values()].flatMap((inputs) => Object.values(inputs)));
  const { cycles } = sortByDependency(addresses, (address) => {
    const { id, parameterId } = split(address);
    const names = followsOf.get(id)?.(parameterId) ?? [];
    return [...names].map((name) => inputsOf.get(id)![name]!);
  });
  for (const cycle of cycles) {
    const { id } = split(cycle[0]!);
    const next = cycle[1] ?? cycle[0];
    const [name] = Object.entries(inputsOf.get(id)!).find(([, address]) => address === next)!;
    const { location, type } = connections.find((connection) => connection.id === id)!;
    locationOf(location, type, name).add(`expected no cycle, got ${formatCycle(cycle)}`);
  }
}

/** Returns the location of the address that a setting assigns to an input. */
function locationOf(location: SourceLocation, type: AnyConnectionType, name: string): SourceLocation {
  return location.at(...(type.inputPath?.(name) ?? ['inputs', name]));
}

/** Splits an address at its first slash into the Connection ID, which is empty without a slash, and the Parameter ID. */
function split(address: string): { id: string; parameterId: string } {
  const slash = address.indexOf('/');
  return { id: address.slice(0, Math.max(0, slash)), parameterId: address.slice(slash + 1) };
}
