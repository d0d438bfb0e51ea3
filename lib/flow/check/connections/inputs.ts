// What connections listen to: checks the addresses of their inputs across files, has each type check its settings against
// the types of its inputs, finds cycles across connections, and orders those that listen to one another.

import type { AnyConnectionType } from '../../../connections/connection.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { formatCycle, sortByDependency } from '../../../model/dependency-order.ts';
import type { ValueType } from '../../../model/value.ts';
import type { ConnectionInputs } from '../../plan.ts';
import type { FindDeclaration, Spot } from '../spot.ts';
import type { FoundConnection } from './found-connection.ts';

/** The addresses of the inputs of each connection, by Connection ID and name. */
type Inputs = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Checks the inputs of all connections; the result is by Connection ID. */
export function checkInputs(
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

/** The types of the inputs of one connection, by name; an input whose address is a mistake has none. */
function checkInputsOf(
  { spot, type, settings }: FoundConnection,
  inputs: Readonly<Record<string, string>>,
  find: FindDeclaration,
): ReadonlyMap<string, ValueType> {
  const types = new Map<string, ValueType>();
  for (const [name, address] of Object.entries(inputs)) {
    const declaration = find(spotOf(spot, type, name), address);
    if (declaration !== undefined) types.set(name, declaration.type);
  }
  for (const mistake of type.mistakes?.(settings, types) ?? [])
    spot
      .at(...mistake.path)
      .inText(mistake.offset)
      .add('message' in mistake ? mistake.message : unknownName(mistake.unknown, mistake.name, mistake.known));
  return types;
}

/** Adds a mistake for each cycle that leads through inputs; a cycle within one connection is found by its type. */
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
    const { spot, type } = connections.find((connection) => connection.id === id)!;
    spotOf(spot, type, name).add(`expected no cycle, got ${formatCycle(cycle)}`);
  }
}

/** Where the address of an input stands. */
function spotOf(spot: Spot, type: AnyConnectionType, name: string): Spot {
  return spot.at(...(type.inputPath?.(name) ?? ['inputs', name]));
}

/** The parts of an address that may be a mistake. */
function split(address: string): { id: string; parameterId: string } {
  const slash = address.indexOf('/');
  return { id: address.slice(0, Math.max(0, slash)), parameterId: address.slice(slash + 1) };
}
