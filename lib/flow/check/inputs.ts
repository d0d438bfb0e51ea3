// What connections listen to: checks the addresses of their inputs across files, has each type check its settings
// against the types of its inputs, finds cycles across connections, and orders those that listen to one another.

import type { AnyConnectionType } from '../../connections/connection.ts';
import { type MistakeList, type SettingPath, unknownName } from '../../json5/mistake.ts';
import { formatCycle, sortByDependency } from '../../model/dependency-order.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import type { FlowFile } from '../files/flow-file.ts';
import type { ConnectionInputs } from '../plan.ts';

/** A connection as far as its inputs go. */
export interface Listening {
  readonly id: string;
  readonly type: AnyConnectionType;
  readonly settings: unknown;
  readonly file: FlowFile;
}

/** Finds the declaration of an address, or undefined after it has added the mistake. */
export type FindDeclaration = (file: FlowFile, path: SettingPath, address: string) => ParameterDeclaration | undefined;

/** Checks the inputs of all connections; the result is by Connection ID. */
export function checkInputs(
  connections: readonly Listening[],
  find: FindDeclaration,
  mistakes: MistakeList,
): ReadonlyMap<string, ConnectionInputs> {
  const inputsOf = new Map(connections.map(({ id, type, settings }) => [id, type.inputs?.(settings) ?? {}]));
  const sources = new Map<string, Set<string>>();
  const checked = new Map<string, Omit<ConnectionInputs, 'settleOrder'>>();
  for (const { id, type, settings, file } of connections) {
    const inputs = inputsOf.get(id)!;
    const inputTypes = new Map<string, ParameterDeclaration['type']>();
    sources.set(id, new Set());
    for (const [name, address] of Object.entries(inputs)) {
      const declaration = find(file, ['connections', id, 'inputs', name], address);
      if (declaration === undefined) continue;
      inputTypes.set(name, declaration.type);
      sources.get(id)!.add(split(address).id);
    }
    for (const mistake of type.mistakes?.(settings, inputTypes) ?? []) {
      const message =
        'message' in mistake ? mistake.message : unknownName(mistake.unknown, mistake.name, mistake.known);
      mistakes.add(file, ['connections', id, ...mistake.path], message);
    }
    checked.set(id, { inputs, inputTypes });
  }
  addCycles(connections, inputsOf, mistakes);
  const { order } = sortByDependency(checked.keys(), (id) => sources.get(id)!);
  return new Map(order.map((id, place) => [id, { ...checked.get(id)!, settleOrder: place - order.length }]));
}

/** Adds a mistake for each cycle that leads through inputs; one within a connection is found by its type. */
function addCycles(
  connections: readonly Listening[],
  inputsOf: ReadonlyMap<string, Readonly<Record<string, string>>>,
  mistakes: MistakeList,
): void {
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
    const { file } = connections.find((connection) => connection.id === id)!;
    mistakes.add(file, ['connections', id, 'inputs', name], `expected no cycle, got ${formatCycle(cycle)}`);
  }
}

/** The parts of an address that may be none. */
function split(address: string): { id: string; parameterId: string } {
  const slash = address.indexOf('/');
  return { id: address.slice(0, Math.max(0, slash)), parameterId: address.slice(slash + 1) };
}
