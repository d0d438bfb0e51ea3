// Conditions and expressions: CEL, the Common Expression Language, checked at load against the types of what it reads.
// Every number is a float here, as authors expect: `7 / 2` is 3.5, and `value * 2` works for integers and floats.
// Rules use it, and the outputs of the connection type virtual-core.

import type { Environment } from '@marcbachmann/cel-js';
import { KeptResults } from '../model/kept-results.ts';
import type { Value, ValueType } from '../model/value.ts';
import { Adaptation, type LookedUp, type TypeOf } from './adapt.ts';
import { createEnvironment, language, valueTypes } from './language.ts';
import { ExpressionMistake } from './mistakes/expression-mistake.ts';
import { explainSyntax } from './mistakes/syntax.ts';
import { explainResult, explainType } from './mistakes/types.ts';
import { type Part, partsOf } from './syntax-tree.ts';

export type { LookedUp, TypeOf };
export { ExpressionMistake };

export type Scope = Readonly<Record<string, Value>>;
export type Expression = (scope: Scope) => Value;

/** An expression that is ready to evaluate; `type` is that of its result, undefined when it is unknown. */
export interface CompiledExpression {
  readonly evaluate: Expression;
  readonly type: ValueType | undefined;
  /** The names that it reads, each once, without those that it binds or looks up. */
  readonly names: readonly string[];
  /** What it looks up: the scope has to have it. */
  readonly lookedUp: readonly LookedUp[];
}

/** Methods that bind the name in their first argument: `list.exists(item, item > level)`, `cel.bind(x, level * 2, x + x)`. */
const bindingMethods: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind']);
/** The types of the language that a result of each value type may have. */
const results = { S: ['string'], B: ['bool'], I: ['double'], F: ['double'], T: ['bool'] };
const anyResult = ['string', 'bool', 'double'];

const none: readonly LookedUp[] = [];

/** How many compiled expressions, and how many lists of variables, are kept for others that are the same. */
const keptExpressions = 10_000;
const keptEnvironments = 1000;
const compiled = new KeptResults<CompiledExpression>(keptExpressions);
const environments = new KeptResults<Environment>(keptEnvironments);

/**
 * Compiles an expression over the named variables; a type that is undefined is unknown. With `typeOf` it may look up other
 * parameters: `param('desk/level')`. The same expression over the same variables is compiled once, also where it looks
 * other parameters of the same types up. Errors: an `ExpressionMistake` for bad syntax, unknown names, operations that do not
 * fit the types, and a result that is no value (a list, null). With `expects` also for a result of another type: I and F both mean a number, T a boolean.
 */
export function compileExpression(
  text: string,
  variables: Readonly<Record<string, ValueType | undefined>>,
  expects?: ValueType,
  typeOf?: TypeOf,
): CompiledExpression {
  const signature = JSON.stringify(Object.entries(variables));
  const key = JSON.stringify([text, expects, typeOf !== undefined, signature]);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const environment = environments.get(signature) ?? environments.keep(signature, createEnvironment(variables));
  const names = Object.keys(variables);
  const parsed = parse(environment, text, names);
  const adaptation = new Adaptation(environment, typeOf);
  adaptation.adapt(parsed.ast as unknown as Part);
  const lookedUp = [...adaptation.lookedUp.values()];
  if (lookedUp.length === 0) return compiled.keep(key, compile(text, parsed, names, expects, typeOf));
  const shape = JSON.stringify([adaptation.shapeOf(text), expects, signature]);
  const alike = compiled.get(shape) ?? compiled.keep(shape, compile(text, parsed, names, expects, typeOf));
  return { ...alike, lookedUp };
}

/** Checks what was parsed and adapted. */
function compile(
  text: string,
  parsed: ReturnType<Environment['parse']>,
  names: readonly string[],
  expects: ValueType | undefined,
  typeOf: TypeOf | undefined,
): CompiledExpression {
  const tree = parsed.ast as unknown as Part;
  const checked = parsed.check();
  if (!checked.valid) throw explainType(text, checked.error!, names, typeOf !== undefined);
  const resultType = checked.type ?? 'dyn';
  const possible = expects === undefined ? anyResult : results[expects];
  if (resultType !== 'dyn' && !possible.includes(resultType)) throw explainResult(text, tree, resultType, expects);
  return {
    evaluate: parsed as Expression,
    type: valueTypes[resultType],
    names: namesIn(tree),
    lookedUp: none,
  };
}

/** Whether the language uses a name itself, such as the type `double`, or `true`. No variable can have such a name. */
export function isLanguageName(name: string): boolean {
  return language.hasVariable(name) || !canBeRead(name);
}

/** Returns the names that an expression reads, each once, without those it binds. Errors: `ExpressionMistake` for bad syntax. */
export function freeNames(text: string): string[] {
  return namesIn(parse(language, text, []).ast as unknown as Part);
}

/** Whether an expression of a name alone reads it. */
function canBeRead(name: string): boolean {
  try {
    return freeNames(name)[0] === name;
  } catch {
    return false;
  }
}

/** The name whose missing value an evaluation has failed for. */
export function missingName(error: unknown): string | undefined {
  const { code, node } = (error ?? {}) as { code?: unknown; node?: Part };
  return code === 'unknown_variable' ? (node?.args as string | undefined) : undefined;
}

function namesIn(tree: Part): string[] {
  const names = new Set<string>();
  addNames(tree, new Set(), names);
  return [...names];
}

function addNames(part: Part, bound: ReadonlySet<string>, names: Set<string>): void {
  const { op, args } = part;
  if (op === 'id') {
    if (!bound.has(args as string)) names.add(args as string);
  } else if (op === 'rcall' && bindingMethods.has((args as [string])[0])) {
    const [, receiver, parameters] = args as [string, Part, Part[]];
    addNames(receiver, bound, names);
    const inner = parameters[0]?.op === 'id' ? new Set(bound).add(parameters[0].args as string) : bound;
    for (const parameter of parameters) addNames(parameter, inner, names);
  } else for (const inner of partsOf(part)) addNames(inner, bound, names);
}

function parse(environment: Environment, text: string, names: readonly string[]): ReturnType<Environment['parse']> {
  try {
    return environment.parse(text);
  } catch (error) {
    throw explainSyntax(text, error, names);
  }
}
