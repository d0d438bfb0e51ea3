// Checks flow files as a whole, before anything runs: settings, addresses across files, rules, and what two connections
// both claim. Everything that is wrong goes to the list of mistakes; what is right becomes the plan of a hub.

import { resolve } from 'node:path';
import { type Claim, claimsClash } from '../../connections/claim.ts';
import type { AnyConnectionType } from '../../connections/connection.ts';
import type { ResolvePath } from '../../connections/setting.ts';
import { type MistakeList, type SettingPath, unknownName } from '../../json5/mistake.ts';
import { connectionIdMistake, formatAddress, parseAddress } from '../../model/address.ts';
import { describe, messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import type { FlowFile } from '../files/flow-file.ts';
import { type ConnectionInputs, type ConnectionPlan, type Plan, statusParameterId } from '../plan.ts';
import { checkInputs, type FindDeclaration } from './inputs.ts';
import { connectionKey } from './key.ts';
import { RuleCheck } from './rules.ts';
import { connectionSchema, flowFileSchema, flowProgramSchema } from './schema.ts';
import { checkTests, type Testable } from './tests.ts';

type Types = ReadonlyMap<string, AnyConnectionType>;

/** Checks the files; the plan holds what is right, and is of use only while there are no mistakes. */
export function checkFlowFiles(files: readonly FlowFile[], types: Types, mistakes: MistakeList): Plan {
  const connections = new ConnectionCheck(types, mistakes);
  const contents = files.flatMap((file) => {
    const schema = isProgram(file.data) ? flowProgramSchema : flowFileSchema;
    const data = mistakes.parse(schema, file.data, file, [], true);
    return data === undefined ? [] : [{ file, data }];
  });
  for (const { file, data } of contents)
    for (const [id, settings] of Object.entries(data.connections)) connections.add(file, id, settings);
  const plans = connections.finish();
  const rules = new RuleCheck((file, path, address) => connections.declaration(file, path, address), mistakes);
  for (const { file, data } of contents)
    if (typeof data.rules === 'function') rules.addProgram(file, data.rules);
    else rules.addAll(file, ['rules'], data.rules ?? []);
  const testable: Testable = {
    find: (file, path, address) => connections.declaration(file, path, address),
    isExternal: (connectionId) => plans.some(({ id, type }) => id === connectionId && type.isExternal),
  };
  const tests = contents.flatMap(({ file, data }) => checkTests(file, data.tests, testable, mistakes));
  const checked = rules.finish(plans);
  const connectionsBy = Map.groupBy(plans, ({ file }) => file);
  const rulesBy = Map.groupBy(checked, ({ file }) => file);
  const reports = files.map(({ name }) => ({
    path: name,
    connections: connectionsBy.get(name)?.length ?? 0,
    rules: rulesBy.get(name)?.length ?? 0,
  }));
  return { files: reports, connections: plans, rules: checked, tests, furtherFiles: connections.namedFiles };
}

/** Whether a flow file is TypeScript's: its rules are a function. */
function isProgram(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'rules' in data && typeof data.rules === 'function';
}

/** A connection with its settings, before what it listens to is checked. */
type FoundConnection = Omit<ConnectionPlan, keyof ConnectionInputs | 'key' | 'file'> & {
  readonly file: FlowFile;
  readonly data: unknown;
  readonly parameters: ParameterDeclaration[];
};

class ConnectionCheck {
  /** The files that settings name. */
  readonly namedFiles: string[] = [];
  readonly #found: FoundConnection[] = [];
  readonly #types: Types;
  readonly #mistakes: MistakeList;
  readonly #fileOfId = new Map<string, string>();
  readonly #claims: { claim: Claim; id: string }[] = [];
  readonly #declarations = new Map<string, Map<string, ParameterDeclaration>>();

  constructor(types: Types, mistakes: MistakeList) {
    this.#types = types;
    this.#mistakes = mistakes;
  }

  add(file: FlowFile, id: string, data: unknown): void {
    const path = ['connections', id];
    const idMistake = connectionIdMistake(id);
    if (idMistake) this.#mistakes.add(file, path, idMistake);
    const first = this.#fileOfId.get(id);
    if (first !== undefined) {
      this.#mistakes.add(file, path, `expected each Connection ID once, "${id}" is also in ${first}`);
      return;
    }
    this.#fileOfId.set(id, file.name);
    const type = this.#typeOf(file, path, data);
    if (type === undefined) return;
    const settings = this.#mistakes.parse(connectionSchema(type), data, file, path);
    if (settings === undefined) return;
    const plan = {
      file,
      data,
      id,
      type,
      settings,
      enabled: settings.enabled as boolean,
      description: settings.description as string,
      parameters: withStatus(type.parameters(settings, resolver(file.folder)), settings.statusParameter as boolean),
      folder: file.folder,
    };
    this.#found.push(plan);
    if (plan.enabled) this.#claim(plan);
  }

  /** Checks what the connections listen to, now that all of them are known. */
  finish(): ConnectionPlan[] {
    const find: FindDeclaration = (file, path, address) => this.declaration(file, path, address);
    const checked = checkInputs(this.#found, find, this.#mistakes);
    return this.#found.map(({ file, data, ...plan }) => {
      const files = plan.type.files?.(plan.settings, resolver(plan.folder)) ?? [];
      this.namedFiles.push(...files);
      return { ...plan, file: file.name, ...checked.get(plan.id)!, key: connectionKey(data, plan, files) };
    });
  }

  /** Finds the declaration of an address; undefined after adding what is wrong with the address. */
  declaration(file: FlowFile, path: SettingPath, address: string): ParameterDeclaration | undefined {
    const found = this.#declarationOf(address);
    if (typeof found === 'object') return found;
    if (found !== 'unchecked') this.#mistakes.add(file, path, found);
    return undefined;
  }

  /** Finds a declaration; `unchecked` when its connection has mistakes of its own. Errors: `HubError`, one sentence. */
  #declarationOf(address: string): ParameterDeclaration | 'unchecked' | string {
    let parts: { connectionId: string; parameterId: string };
    try {
      parts = parseAddress(address);
    } catch (error) {
      return messageOf(error);
    }
    const { connectionId, parameterId } = parts;
    if (!this.#fileOfId.has(connectionId))
      return `${unknownName('connection', connectionId, [...this.#fileOfId.keys()])} (address "${address}")`;
    const declarations = this.#declarationsOf(connectionId);
    if (declarations === undefined) return 'unchecked';
    return (
      declarations.get(parameterId) ??
      this.#presume(connectionId, parameterId) ??
      unknownName(
        'parameter',
        address,
        [...declarations.keys()].map((known) => formatAddress(connectionId, known)),
      )
    );
  }

  #typeOf(file: FlowFile, path: SettingPath, data: unknown): AnyConnectionType | undefined {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      this.#mistakes.add(file, path, `expected the settings of a connection, got ${describe(data)}`);
      return undefined;
    }
    const name = (data as { type?: unknown }).type;
    const type = typeof name === 'string' ? this.#types.get(name) : undefined;
    if (type !== undefined) return type;
    const known = [...this.#types.keys()];
    const message =
      typeof name === 'string'
        ? unknownName('connection type', name, known)
        : `expected one of ${known.join(', ')}, got ${describe(name)}`;
    this.#mistakes.add(file, [...path, 'type'], message);
    return undefined;
  }

  #claim({ file, id, type, settings, folder }: FoundConnection): void {
    for (const claim of type.claims?.(settings, resolver(folder)) ?? []) {
      const other = this.#claims.find(({ claim: taken }) => claimsClash(claim, taken));
      if (other)
        this.#mistakes.add(file, ['connections', id], `expected ${claim.name} for itself, "${other.id}" has it too`);
      this.#claims.push({ claim, id });
    }
  }

  #presume(connectionId: string, parameterId: string): ParameterDeclaration | undefined {
    const { type, settings, folder, parameters } = this.#found.find(({ id }) => id === connectionId)!;
    const declaration = type.presume?.(settings, parameterId, resolver(folder));
    if (declaration === undefined) return undefined;
    parameters.push(declaration);
    this.#declarations.get(connectionId)?.set(parameterId, declaration);
    return declaration;
  }

  #declarationsOf(connectionId: string): Map<string, ParameterDeclaration> | undefined {
    const known = this.#declarations.get(connectionId);
    if (known !== undefined) return known;
    const plan = this.#found.find(({ id }) => id === connectionId);
    if (plan === undefined) return undefined;
    const declarations = new Map(plan.parameters.map((declaration) => [declaration.id, declaration]));
    this.#declarations.set(connectionId, declarations);
    return declarations;
  }
}

function resolver(folder: string): ResolvePath {
  return (path) => resolve(folder, path);
}

function withStatus(parameters: readonly ParameterDeclaration[], hasStatus: boolean): ParameterDeclaration[] {
  if (!hasStatus) return [...parameters];
  return [...parameters, { id: statusParameterId, type: 'B', access: 'read-only', defaultValue: false }];
}
