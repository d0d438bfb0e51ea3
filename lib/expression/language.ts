// The language of expressions: CEL with the functions of this house, in which every number is a float.

import { Environment } from '@marcbachmann/cel-js';
import type { ValueType } from '../model/value.ts';
import { functionTypes } from './functions/functions.ts';
import { PointInTime, pointInTime, TimeSpan, timeOperators, timeSpan } from './functions/times.ts';

/** Bounds of one expression. The language has no loops except those over its own lists. */
const limits = {
  maxAstNodes: 1000,
  maxDepth: 50,
  maxListElements: 200,
  maxMapEntries: 200,
  maxCallArguments: 16,
};

/** The types of the language by value type; a trigger is whether it fired. */
const celTypes = { S: 'string', B: 'bool', I: 'double', F: 'double', T: 'double' } as const;
export const valueTypes: Readonly<Record<string, ValueType>> = { string: 'S', bool: 'B', double: 'F' };

/** Functions have names of their own in the language, so that those of CEL that know integers are out of reach. */
const mark = 'fn_';

/** Positions in lists are floats, too; the language itself takes integers alone. */
const itemName = `${mark}item`;

export const language = createLanguage();

/** A copy to declare the names of one expression in. */
export function createEnvironment(variables: Readonly<Record<string, ValueType | undefined>>): Environment {
  const environment = language.clone();
  for (const [name, type] of Object.entries(variables)) declareVariable(environment, name, type);
  return environment;
}

export function declareVariable(environment: Environment, name: string, type: ValueType | undefined): void {
  environment.registerVariable(name, type === undefined ? 'dyn' : celTypes[type]);
}

/** The name that a function of authors has in the language. */
export function ownName(name: string): string {
  return `${mark}${name}`;
}

/** The name that authors know of a function of the language. */
export function authorsName(name: string): string {
  return name.startsWith(mark) ? name.slice(mark.length) : name;
}

/** The text of `list[index]` with a float. */
export const itemText = `${itemName}(list, index)`;

/** The texts of `[]` with items of any type, of `{}`, and of a map. */
export const emptyListText = `${mark}none()`;
export const emptyMapText = `${mark}noneByKey()`;
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
    if (map.size < keys.length) throw new Error('expected each key of a map once, got one again');
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
  throw new Error(`expected ${last < 0 ? 'a list with items' : `an index 0..${last}`}, got [${index}]`);
}

function itemOfMap(map: ReadonlyMap<unknown, unknown>, key: string | number): unknown {
  const item = map.get(key);
  if (item === undefined) throw new Error(`expected a key of the map, got ${JSON.stringify(key)}`);
  return item;
}
