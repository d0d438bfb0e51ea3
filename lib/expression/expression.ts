// Conditions and expressions in CEL, the Common Expression Language, which are checked against the types of the parameters that they read
// when the file is loaded. Every number is a float, so that expressions behave as authors expect: `7 / 2` is 3.5, and `value * 2` works for
// integers and floats. Expressions are used in rules and in the outputs of the connection type virtual-core.
import type { Environment } from '@marcbachmann/cel-js';
import { KeptResults } from '../model/kept-results.ts';
import type { Value, ValueType } from '../model/value.ts';
import { Adaptation, type LookedUp, type TypeOf } from './adapt.ts';
import { expectShort, withTextsUpTo } from './functions/texts.ts';
import { createEnvironment, language, valueTypes } from './language.ts';
import { ExpressionMistake, explainFailure } from './mistakes/failures.ts';
import { explainSyntax } from './mistakes/syntax-mistakes.ts';
import { explainField, explainResult, explainType } from './mistakes/type-mistakes.ts';
import { type Part, partsOf, treeOf } from './syntax-tree.ts';

export type { LookedUp, TypeOf };
export { ExpressionMistake, explainFailure, withTextsUpTo };

type Scope = Readonly<Record<string, Value>>;
export type Expression = (scope: Scope) => Value;

/** A compiled expression. `type` is the type of its result, or undefined if the type is not known. */
export interface CompiledExpression {
  readonly evaluate: Expression;
  readonly type: ValueType | undefined;
  /** The names that the expression reads, without duplicates and without names that it binds or looks up. */
  readonly names: readonly string[];
  /** The parameters that the expression looks up. The scope must contain their values. */
  readonly lookedUp: readonly LookedUp[];
  /** The number of called methods that run an expression for each item in a list, or bind a name. Nested methods multiply the run time. */
  readonly loops: number;
}

/** Methods that bind the name in their first argument: `list.exists(item, item > level)`, `cel.bind(x, level * 2, x + x)`. */
const bindingMethods: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind']);
/** The permitted CEL types of a result, keyed by value type. */
const results = { S: ['string'], B: ['bool'], I: ['double'], F: ['double'], T: ['bool'] };
const anyResult = ['string', 'bool', 'double'];

const none: readonly LookedUp[] = [];

/** The maximum length of an expression, in characters. */
export const maxExpressionLength = 10_000;
/** The maximum number of compiled expressions that are cached. */
const keptExpressions = 10_000;
/** The maximum number of lists of variables that are cached. */
const keptEnvironments = 1000;
const compiled = new KeptResults<CompiledExpression>(keptExpressions);
const environments = new KeptResults<Environment>(keptEnvironments);

/**
 * Compiles an expression that may use the named variables; an undefined type means that the type is not known. With `typeOf`, the
 * expression may look up other parameters: `param('desk/level')`. Equal expressions with the same variables are compiled once, even if they
 * look up different parameters of the same types. Errors: an `ExpressionMistake` for invalid syntax, unknown names, operations that do not
 * fit the types, and a result that is not a value (a list, null). With `expects`, also for a result of another type: I and F both mean a
 * number, and T a boolean.
 */
export function compileExpression(
  written: string,
  variables: Readonly<Record<string, ValueType | undefined>>,
  expects?: ValueType,
  typeOf?: TypeOf,
): CompiledExpression {
  const { text, offsetOf } = readSource(written);
  try {
    return compileSource(text, variables, expects, typeOf && ((address, offset) => typeOf(address, offsetOf(offset))));
  } catch (error) {
    throw error instanceof ExpressionMistake ? error.movedTo(offsetOf(error.offset)) : error;
  }
}

function compileSource(
  text: string,
  variables: Readonly<Record<string, ValueType | undefined>>,
  expects: ValueType | undefined,
  typeOf: TypeOf | undefined,
): CompiledExpression {
  const signature = JSON.stringify(Object.entries(variables));
  const key = JSON.stringify([text, expects, typeOf !== undefined, signature]);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const environment = environments.get(signature) ?? environments.keep(signature, createEnvironment(variables));
  const names = Object.keys(variables);
  const read = (isLoose: boolean) => {
    const parsed = parse(environment, text, names);
    const adaptation = new Adaptation(environment, typeOf, isLoose);
    adaptation.adapt(treeOf(parsed));
    return { parsed, adaptation };
  };
  const { parsed, adaptation } = read(false);
  const lookedUp = [...adaptation.lookedUp.values()];
  const shape = lookedUp.length === 0 ? undefined : JSON.stringify([adaptation.shapeOf(text), expects, signature]);
  const alike = shape === undefined ? undefined : compiled.get(shape);
  if (alike !== undefined) return { ...alike, lookedUp };
  const about = { text, names, expects, hasParam: typeOf !== undefined };
  const made = compile(parsed, about) ?? compile(read(true).parsed, about)!;
  compiled.keep(shape ?? key, made);
  return shape === undefined ? made : { ...made, lookedUp };
}

interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
  readonly expects: ValueType | undefined;
  readonly hasParam: boolean;
}

/**
 * Compiles the adapted tree after checking its types. Returns undefined if the expression must be parsed again with items of any type in
 * empty lists.
 */
function compile(
  parsed: ReturnType<Environment['parse']>,
  { text, names, expects, hasParam }: Compiled,
): CompiledExpression | undefined {
  const tree = treeOf(parsed);
  const checked = parsed.check();
  if (!checked.valid) {
    if (checked.error?.message.includes(' overlaps with ')) return undefined; // an operator is ambiguous
    throw explainType(text, checked.error!, names, hasParam);
  }
  const field = explainField(text, tree);
  if (field !== undefined) throw field;
  const resultType = checked.type ?? 'dyn';
  if (/(?:^|<)[A-Z]\b/.test(resultType)) return undefined; // the type would depend on the items of an empty list
  orderTexts(tree);
  boundTexts(tree);
  const possible = expects === undefined ? anyResult : results[expects];
  if (resultType !== 'dyn' && !possible.includes(resultType)) throw explainResult(text, tree, resultType, expects);
  return {
    evaluate: quickened(parsed as Expression, tree),
    type: valueTypes[resultType],
    names: namesIn(tree),
    lookedUp: none,
    loops: loopsIn(tree),
  };
}

// Computes expressions of numbers quickly. Most expressions compute and compare numbers. CEL walks the whole tree in each run; one small
// object per operator takes a fifth of the time.

const operators = ['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=', '&&', '||', '-_', '!_'] as const;
const ofBooleans: readonly string[] = ['&&', '||', '!_'];

/**
 * Returns a function that computes an expression of numbers and booleans itself as long as all names have such values. In all other cases,
 * CEL evaluates the expression.
 */
function quickened(evaluate: Expression, tree: Part): Expression {
  const kinds = new Map<string, string>();
  const quick = operationOf(tree, kinds);
  const [first, ...others] = kinds;
  if (quick === undefined || first === undefined) return evaluate;
  const [name, kind] = first;
  if (others.length > 0) {
    const all = [...kinds];
    return (scope) => (all.every(([one, its]) => typeof scope[one] === its) ? quick.compute(scope) : evaluate(scope));
  }
  if (name === 'value') return (scope) => (typeof scope.value === kind ? quick.compute(scope) : evaluate(scope));
  return (scope) => (typeof scope[name] === kind ? quick.compute(scope) : evaluate(scope));
}

/** Converts an operator with its operands, and records the required kind of value for each name. Returns undefined for any other part. */
function operationOf({ op, args, meta }: Part, kinds: Map<string, string>): Operation | undefined {
  const operator = operators.indexOf(op as (typeof operators)[number]);
  if (operator < 0 || meta.alternate !== undefined) return undefined;
  const kind = ofBooleans.includes(op) ? 'bool' : 'double';
  const [left, right] = (Array.isArray(args) ? args : [args]).map((side: Part) => sideOf(side, kind, kinds));
  const isWhole = left !== undefined && (right !== undefined || op.endsWith('_'));
  return isWhole ? new Operation(operator, left, right ?? { constant: 0 }) : undefined;
}

/** An operand of an operator: another operator, a name, or a constant. */
interface Side {
  readonly operation?: Operation;
  readonly name?: string;
  readonly constant?: Value;
}

function sideOf(part: Part, kind: 'bool' | 'double', kinds: Map<string, string>): Side | undefined {
  if (part.checkedType?.name !== kind || part.meta.alternate !== undefined) return undefined;
  if (part.op === 'value') return { constant: part.args as Value };
  if (part.op === 'id') {
    kinds.set(part.args as string, kind === 'bool' ? 'boolean' : 'number');
    return { name: part.args as string };
  }
  const operation = operationOf(part, kinds);
  return operation && { operation };
}

/** An operator on numbers or booleans, with its operands. */
class Operation {
  readonly #operator: number;
  readonly #left: Operation | undefined;
  readonly #leftName: string | undefined;
  readonly #leftConstant: Value | undefined;
  readonly #right: Operation | undefined;
  readonly #rightName: string | undefined;
  readonly #rightConstant: Value | undefined;

  constructor(operator: number, left: Side, right: Side) {
    this.#operator = operator;
    this.#left = left.operation;
    this.#leftName = left.name;
    this.#leftConstant = left.constant;
    this.#right = right.operation;
    this.#rightName = right.name;
    this.#rightConstant = right.constant;
  }

  compute(scope: Scope): Value {
    const left = read(scope, this.#left, this.#leftName, this.#leftConstant) as number;
    const right = read(scope, this.#right, this.#rightName, this.#rightConstant) as number;
    switch (this.#operator) {
      case 0:
        return left + right;
      case 1:
        return left - right;
      case 2:
        return left * right;
      case 3:
        return left / right;
      case 4:
        return left % right;
      case 5:
        return left < right;
      case 6:
        return left <= right;
      case 7:
        return left > right;
      case 8:
        return left >= right;
      case 9:
        return left === right;
      case 10:
        return left !== right;
      case 11:
        return left && right;
      case 12:
        return left || right;
      case 13:
        return -left;
      default:
        return !left;
    }
  }
}

function read(
  scope: Scope,
  operation: Operation | undefined,
  name: string | undefined,
  constant: Value | undefined,
): Value {
  if (operation !== undefined) return operation.compute(scope);
  if (name === undefined) return constant!;
  return name === 'value' ? scope.value! : scope[name]!;
}

/** Returns whether CEL reserves a name, such as the type `double`, or `true`. No variable can have such a name. */
export function isLanguageName(name: string): boolean {
  return language.hasVariable(name) || !canBeRead(name);
}

/**
 * Returns the names that an expression reads, without duplicates and without names that it binds. Errors: `ExpressionMistake` if the syntax
 * is invalid.
 */
export function freeNames(text: string): string[] {
  return namesIn(treeOf(parse(language, readSource(text).text, [])));
}

/** Returns the unchecked tree of an expression as written. Errors: `ExpressionMistake` if the syntax is invalid. */
export function treeOfExpression(written: string): { readonly tree: Part; offsetOf(place: number): number } {
  const { text, offsetOf } = readSource(written);
  return { tree: treeOf(parse(language, text, [])), offsetOf };
}

/** Returns whether an expression can read a variable with this name. A name that CEL reserves, for example, cannot be read. */
function canBeRead(name: string): boolean {
  try {
    return freeNames(name)[0] === name;
  } catch {
    return false;
  }
}

/** Returns the name whose value was missing if an evaluation failed for that reason, and undefined otherwise. */
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
  } else if (bindsName(part)) {
    const [, receiver, parameters] = args as [string, Part, Part[]];
    addNames(receiver, bound, names);
    const inner = parameters[0]?.op === 'id' ? new Set(bound).add(parameters[0].args as string) : bound;
    for (const parameter of parameters) addNames(parameter, inner, names);
  } else for (const inner of partsOf(part)) addNames(inner, bound, names);
}

/** Returns whether a part of the tree calls a method that binds a name. */
function bindsName({ op, args }: Part): boolean {
  return op === 'rcall' && bindingMethods.has((args as [string])[0]);
}

function loopsIn(part: Part): number {
  return partsOf(part).reduce((sum, inner) => sum + loopsIn(inner), Number(bindsName(part)));
}

/** Returns the number of loops in an expression, like `CompiledExpression.loops`, or 0 if the expression has an error. */
export function countLoops(text: string): number {
  try {
    return loopsIn(treeOf(parse(language, readSource(text).text, [])));
  } catch {
    return 0;
  }
}

function parse(environment: Environment, text: string, names: readonly string[]): ReturnType<Environment['parse']> {
  try {
    return environment.parse(text);
  } catch (error) {
    throw explainSyntax(text, error, names);
  }
}

// The text of an expression in the form required by CEL: authors may write `.5`, but CEL requires `0.5`.

interface Source {
  readonly text: string;
  /** Maps an offset in the resulting text to the offset in the expression as written. */
  offsetOf(place: number): number;
}

/** Matches strings, comments, names and numbers, in which a point has a different meaning, and a point before a digit. */
const token = new RegExp(
  [
    String.raw`[bB]?[rR](?:'''[^]*?'''|"""[^]*?"""|'[^'\n]*'|"[^"\n]*")`,
    String.raw`[bB]?(?:'''(?:\\[^]|[^\\])*?'''|"""(?:\\[^]|[^\\])*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")`,
    `['"][^]*`, // a string that is not closed
    '//.*',
    String.raw`[A-Za-z_]\w*`,
    String.raw`\d[\w.]*`,
    String.raw`(?<point>\.\d)`,
    String.raw`\S`,
  ].join('|'),
  'g',
);

/** Matches the end of a token that may be followed by a point as an operator: `list[0].size`. */
const value = /[\w'"\])}]$/;

function readSource(written: string): Source {
  if (written.length > maxExpressionLength)
    throw new ExpressionMistake(
      `expected an expression of at most ${maxExpressionLength} characters, got ${written.length}`,
      0,
    );
  const places: number[] = [];
  if (/\.\d/.test(written)) {
    let before = '';
    for (const { 0: text, index, groups } of written.matchAll(token)) {
      if (groups!.point !== undefined && !value.test(before)) places.push(index);
      before = text;
    }
  }
  const text = [0, ...places].map((place, index) => written.slice(place, places[index])).join('0');
  return { text, offsetOf: (place) => place - places.filter((one, count) => one + count < place).length };
}

// CEL orders strings by code points. The library compares UTF-16 code units, in which an emoji comes before the last characters of the
// first plane.

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/**
 * Makes a checked expression compare strings by code points. A part can be in the tree twice: as written, and in the expansion that
 * replaces it.
 */
function orderTexts(part: Part, seen = new Set<Part>()): void {
  if (seen.has(part)) return;
  seen.add(part);
  const isMeant = comparisons[part.op];
  const { handle } = part;
  if (isMeant !== undefined && handle !== undefined) {
    const types = (part.args as Part[]).map(({ checkedType }) => checkedType?.name ?? 'dyn');
    const compare = (left: unknown, right: unknown) => isMeant(compareTexts(left as string, right as string));
    if (types.every((type) => type === 'string')) part.handle = compare;
    else if (types.every((type) => type === 'string' || type === 'dyn'))
      part.handle = (left, right, ...more) =>
        typeof left === 'string' && typeof right === 'string' ? compare(left, right) : handle(left, right, ...more);
  }
  for (const inner of partsOf(part)) orderTexts(inner, seen);
  if (part.meta.alternate !== undefined) orderTexts(part.meta.alternate as Part, seen);
}

/** Makes a checked expression refuse a concatenation of strings that is too long. */
function boundTexts(part: Part, seen = new Set<Part>()): void {
  if (seen.has(part)) return;
  seen.add(part);
  const { handle } = part;
  if (part.op === '+' && handle !== undefined)
    part.handle = (left, right, ...more) => {
      if (typeof left === 'string' && typeof right === 'string') expectShort(left.length + right.length);
      return handle(left, right, ...more);
    };
  for (const inner of partsOf(part)) boundTexts(inner, seen);
  if (part.meta.alternate !== undefined) boundTexts(part.meta.alternate as Part, seen);
}

/**
 * Compares two strings by code points. Returns a negative number if the first string comes before the second, 0 if they are equal, and a
 * positive number otherwise.
 */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [unit, otherUnit] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (unit !== otherUnit) return placeOf(unit) - placeOf(otherUnit);
  }
  return one.length - other.length;
}

/** Returns a number that orders UTF-16 code units like code points: surrogates come after all other code units. */
function placeOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
