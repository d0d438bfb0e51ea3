// Conditions and expressions: CEL, the Common Expression Language, checked at load against the types of what it reads.
// Every number is a float here, as authors expect: `7 / 2` is 3.5, and `value * 2` works for integers and floats.
// Rules use it, and the outputs of the connection type virtual-core.

import { Environment } from '@marcbachmann/cel-js';
import { HubError, messageOf } from '../model/error.ts';
import type { Value, ValueType } from '../model/value.ts';

export type Scope = Readonly<Record<string, Value>>;
export type Expression = (scope: Scope) => Value;

/** An expression that is ready to evaluate; `type` is that of its result, undefined when it is unknown. */
export interface CompiledExpression {
  readonly evaluate: Expression;
  readonly type: ValueType | undefined;
}

const celTypes = { S: 'string', B: 'bool', I: 'double', F: 'double', T: 'double' } as const;
const valueTypes: Readonly<Record<string, ValueType>> = { string: 'S', bool: 'B', double: 'F', int: 'F' };
const flag = { types: ['bool'], name: 'bool' };
const number = { types: ['double', 'int'], name: 'a number' };
const results = { S: { types: ['string'], name: 'string' }, B: flag, I: number, F: number, T: flag };
const anyValue = { types: ['string', 'bool', 'double', 'int'], name: 'a string, bool or number' };
/** Methods that bind the name in their first argument: `list.exists(item, item > level)`, `cel.bind(x, level * 2, x + x)`. */
const bindingMethods: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind']);

/** Bounds of one expression. The language has no loops except those over its own lists. */
const limits = { maxAstNodes: 1000, maxDepth: 50, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 16 };

const language = createLanguage();

/**
 * Compiles an expression over the named variables; a type that is undefined is unknown. Errors: `bad-flow` for bad syntax,
 * unknown names, operations that do not fit the types, and a result that is no value (a list, null). With `expects` also for a
 * result of another type: I and F both mean a number, and T a boolean.
 */
export function compileExpression(
  text: string,
  variables: Readonly<Record<string, ValueType | undefined>>,
  expects?: ValueType,
): CompiledExpression {
  const environment = language.clone();
  for (const [name, type] of Object.entries(variables))
    environment.registerVariable(name, type === undefined ? 'dyn' : celTypes[type]);
  const parsed = parse(environment, text);
  const checked = parsed.check();
  if (!checked.valid) throw mistake(text, firstLine(messageOf(checked.error)));
  const resultType = checked.type ?? 'dyn';
  const { types, name } = expects === undefined ? anyValue : results[expects];
  if (resultType !== 'dyn' && !types.includes(resultType))
    throw mistake(text, `its result is ${resultType}, expected ${name}`);
  const needsConversion = resultType === 'int' || resultType === 'dyn';
  return {
    evaluate: needsConversion ? (scope) => toValue(parsed(scope)) : (parsed as Expression),
    type: valueTypes[resultType],
  };
}

/** Whether the language uses a name itself, such as the type `double`. No variable can have such a name. */
export function isLanguageName(name: string): boolean {
  return language.hasVariable(name);
}

/** Returns the names that an expression reads, each once, without those it binds. Errors: `bad-flow` for bad syntax. */
export function freeNames(text: string): string[] {
  const names = new Set<string>();
  addFreeNames(parse(language, text).ast, new Set(), names);
  return [...names];
}

function addFreeNames(node: unknown, bound: ReadonlySet<string>, names: Set<string>): void {
  if (Array.isArray(node)) {
    for (const child of node) addFreeNames(child, bound, names);
    return;
  }
  if (typeof node !== 'object' || node === null || !('op' in node)) return;
  const { op, args } = node as { op: string; args: unknown };
  if (op === 'id') {
    if (!bound.has(args as string)) names.add(args as string);
  } else if (op === 'rcall') {
    const [method, receiver, parameters] = args as [string, unknown, { op?: string; args?: unknown }[]];
    addFreeNames(receiver, bound, names);
    const first = parameters[0];
    const isBinding = bindingMethods.has(method) && first?.op === 'id';
    addFreeNames(parameters, isBinding ? new Set(bound).add(first.args as string) : bound, names);
  } else addFreeNames(args, bound, names);
}

function parse(environment: Environment, text: string): ReturnType<Environment['parse']> {
  try {
    const parsed = environment.parse(text);
    floatLiterals(parsed.ast);
    return parsed;
  } catch (error) {
    throw mistake(text, firstLine(messageOf(error)));
  }
}

/** Turns integer literals into floats. Positions in lists and arguments of methods such as substring stay integers. */
function floatLiterals(node: unknown): void {
  if (Array.isArray(node)) {
    for (const child of node) floatLiterals(child);
    return;
  }
  if (typeof node !== 'object' || node === null || !('op' in node)) return;
  const { op, args } = node as { op: string; args: unknown };
  if (op === 'value' && typeof args === 'bigint') Object.assign(node, { args: Number(args) });
  else if (op === '[]') floatLiterals((args as unknown[])[0]);
  else if (op === 'rcall') floatLiterals((args as unknown[]).filter((argument) => !isIntegerLiteralList(argument)));
  else floatLiterals(args);
}

function isIntegerLiteralList(argument: unknown): boolean {
  return Array.isArray(argument) && argument.every((item) => item?.op === 'value');
}

function createLanguage(): Environment {
  const language = new Environment({ unlistedVariablesAreDyn: false, limits });
  const mixed: readonly (readonly [string, (a: Numeric, b: Numeric) => number | boolean])[] = [
    ['+', (a, b) => Number(a) + Number(b)],
    ['-', (a, b) => Number(a) - Number(b)],
    ['*', (a, b) => Number(a) * Number(b)],
    ['/', (a, b) => Number(a) / Number(b)],
    ['%', (a, b) => Number(a) % Number(b)],
  ];
  for (const [operator, compute] of mixed) {
    language.registerOperator(`double ${operator} int`, compute);
    language.registerOperator(`int ${operator} double`, compute);
  }
  return language
    .registerOperator('double % double', (a: number, b: number) => a % b)
    .registerOperator('int == double', (a: bigint, b: number) => Number(a) === b)
    .registerFunction('abs(double): double', Math.abs)
    .registerFunction('floor(double): double', Math.floor)
    .registerFunction('ceil(double): double', Math.ceil)
    .registerFunction('round(double): double', Math.round)
    .registerFunction('min(double, double): double', (a: number, b: number) => Math.min(a, b))
    .registerFunction('max(double, double): double', (a: number, b: number) => Math.max(a, b));
}

type Numeric = number | bigint;

function toValue(result: unknown): Value {
  return typeof result === 'bigint' ? Number(result) : (result as Value);
}

function mistake(text: string, reason: string): HubError {
  return new HubError('bad-flow', `expected an expression, got ${JSON.stringify(text)}: ${reason}`);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}
