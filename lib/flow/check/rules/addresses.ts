// The addresses that a rule reads and writes.

import { isLanguageName } from '../../../expression/expression.ts';
import type { ParameterDeclaration } from '../../../model/parameter.ts';
import type { ValueType } from '../../../model/value.ts';
import type { Source } from '../../plan.ts';
import type { FindDeclaration, Spot } from '../spot.ts';

export type Variables = Readonly<Record<string, ValueType | undefined>>;

/** What starts a rule, and the names that its expressions know, with their types. */
export interface CheckedSource {
  readonly from: Source;
  readonly variables: Variables;
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ownNames: ReadonlySet<string> = new Set(['value', 'previous', 'now', 'sum', 'param']);

/** Checks `from` and `require`. */
export function checkSource(
  spot: Spot,
  from: string | string[] | Record<string, string>,
  require: 'all' | 'any' | undefined,
  find: FindDeclaration,
): CheckedSource {
  const fromSpot = spot.at('from');
  if (typeof from !== 'string' && !Array.isArray(from))
    return { from: { named: from, requiresAll: require !== 'any' }, variables: checkNames(fromSpot, from, find) };
  if (require !== undefined) spot.at('require').add('expected only where from names its sources: { a: …, b: … }');
  const { addresses, declarations } = checkAddresses(fromSpot, from, find);
  const types = new Set(declarations.map((declaration) => declaration?.type));
  const type = types.size === 1 ? declarations[0]?.type : undefined;
  return { from: { any: addresses }, variables: { value: type, previous: type } };
}

/** Checks `to`; returns the addresses. Of an object they are its keys. */
export function checkDestinations(
  spot: Spot,
  to: string | string[] | Readonly<Record<string, string>>,
  find: FindDeclaration,
): string[] {
  const findWritable: FindDeclaration = (at, address) => {
    const declaration = find(at, address);
    if (declaration?.access === 'read-only') at.add(`expected a writable parameter, "${address}" is read-only`);
    return declaration;
  };
  if (typeof to === 'string' || Array.isArray(to)) return checkAddresses(spot.at('to'), to, findWritable).addresses;
  const addresses = Object.keys(to);
  for (const address of addresses) findWritable(spot.at('to', address), address);
  return addresses;
}

/** The types of named sources; a trigger is whether it fired. */
function checkNames(spot: Spot, named: Readonly<Record<string, string>>, find: FindDeclaration): Variables {
  const variables: Record<string, ValueType | undefined> = {};
  for (const [name, address] of Object.entries(named)) {
    const type = find(spot.at(name), address)?.type;
    if (variableName.test(name) && !ownNames.has(name) && !isLanguageName(name))
      variables[name] = type === 'T' ? 'B' : type;
    else spot.at(name).add(`expected a name for expressions, such as a or mic1, got "${name}"`);
  }
  return variables;
}

function checkAddresses(
  spot: Spot,
  given: string | string[],
  find: FindDeclaration,
): { addresses: string[]; declarations: (ParameterDeclaration | undefined)[] } {
  if (typeof given === 'string') return { addresses: [given], declarations: [find(spot, given)] };
  return { addresses: given, declarations: given.map((address, index) => find(spot.at(index), address)) };
}
