// The language of expressions: CEL with Patchbay's own functions, in which every number is a float.

import { Environment } from '@marcbachmann/cel-js';
import type { ValueType } from '../model/value.ts';
import { functionTypes } from './functions/functions.ts';
import { PointInTime, pointInTime, TimeSpan, timeOperators, timeSpan } from './functions/times.ts';

/** CEL's limits for one expression, whose only loops are over its own lists. */
const limits = {
  maxAstNodes: 1000,
  maxDepth: 50,
  maxListElements: 200,
  maxMapEntries: 200,
  maxCallArguments: 16,
};

/** The CEL type that represents each value type. */
const celTypes = { S: 'string', B: 'bool', I: 'double', F: 'double', T: 'double' } as const;
export const valueTypes: Readonly<Record<string, ValueType>> = { string: 'S', bool: 'B', double: 'F' };

/** The prefix for Patchbay's functions within CEL. The prefix hides CEL's own functions, which expect integers. */
const mark = 'fn_';

/** The name of the function that replaces CEL's own list index, which accepts only integers: list indexes are floats as well. */
const itemName = `${mark}item`;

export const language = createLanguage();

/** Returns a copy of the language in which the variables of one expression are declared. */
export function createEnvironment(variables: Readonly<Record<string, ValueType | undefined>>): Environment {
  const environment = language.clone();
  for (const [name, type] of Object.entries(variables)) declareVariable(environment, name, type);
  return environment;
}

export function declareVariable(environment: Environment, name: string, type: ValueType | undefined): void {
  environment.registerVariable(name, type === undefined ? 'dyn' : celTypes[type]);
}

/** Returns the name under which CEL knows a function that authors call. */
export function ownName(name: string): string {
  return `${mark}${name}`;
}

/** Returns the name under which authors call a function that CEL knows. */
export function authorsName(name: string): string {
  return name.startsWith(mark) ? name.slice(mark.length) : name;
}

/** The expression that replaces `list[index]`. */
export const itemText = `${itemName}(list, index)`;

/** The expression that replaces `[]`, with items of any type. */
export const emptyListText = `${mark}none()`;
/** The expression that replaces `{}`. */
export const emptyMapText = `${mark}noneByKey()`;
/** Returns the expression that replaces a map. */
export const mapText = (keys: readonly string[], items: readonly string[]) =>
  `${mark}byKey([${keys.join(', ')}], [${items.join(', ')}])`;

function createLanguage(): Environment {
  const created = new Environment({ unlistedVariablesAreDyn: false, limits });
  const add = (signature: string, compute: (...values: never[]) => unknown) =>
    created.registerFunction(signature, compute, { async: false });
  created.registerType(pointInTime, PointInTime);
  created.registerType(timeSpan, TimeSpan);
  created.registerOperator('double % double', (a: number, b: number) => a % b);
  for (const [signature, compute] of timeOperators) created.registerOperator(signature, compute);
  add(`${mark}none(): list<dyn>`, () => []);
  add(`${mark}noneByKey(): map<dyn, dyn>`, () => new Map());
  add(`${mark}byKey(list<K>, list<V>): map<K, V>`, (keys: readonly unknown[], items: readonly unknown[]) => {
    const map = new Map(keys.map((key, index) => [key, items[index]]));
    if (map.size < keys.length) throw new Error('expected each key of a map only once, got a duplicate');
    return map;
  });
  add(`${itemName}(list<V>, double): V`, itemOfList);
  add(`${itemName}(map<K, V>, K): V`, itemOfMap);
  for (const { name, overloads } of functionTypes.values())
    for (const { takes, gives, compute } of overloads) {
      const [first, ...others] = takes;
      add(`${ownName(name)}(${takes.join(', ')}): ${gives}`, compute);
      if (first !== undefined) add(`${first}.${ownName(name)}(${others.join(', ')}): ${gives}`, compute);
    }
  return created;
}

function itemOfList(list: readonly unknown[], index: number): unknown {
  const item = list[index];
  if (item !== undefined) return item;
  const last = list.length - 1;
  throw new Error(
    last < 0 ? `expected a non-empty list, got an empty one` : `expected an index 0..${last}, got [${index}]`,
  );
}

function itemOfMap(map: ReadonlyMap<unknown, unknown>, key: string | number): unknown {
  const item = map.get(key);
  if (item === undefined) throw new Error(`expected a key of the map, got ${JSON.stringify(key)}`);
  return item;
}
