// Adapts the tree of an expression before its types are checked: numbers become floats, functions become Patchbay's own functions, and
// `param` and `known` become names that the runtime fills in. Unknown functions are reported with the most similar known function.

import type { Environment } from '@marcbachmann/cel-js';
import { nearestName } from '../json5/nearest-name.ts';
import { describe } from '../model/error.ts';
import { isZone, zoneNames } from '../model/time/zone-time.ts';
import type { ValueType } from '../model/value.ts';
import { foreignNames, functionTypes, macroNames } from './functions/functions.ts';
import { whyNoRegex } from './functions/texts.ts';
import { isPointInTime, isTimeSpan, pointInTimeForm, timeSpanForm } from './functions/times.ts';
import { declareVariable, emptyListText, emptyMapText, itemText, mapText, ownName } from './language.ts';
import { ExpressionMistake } from './mistakes/failures.ts';
import { type Part, partsOf, replacePart, treeOf } from './syntax-tree.ts';

/** A parameter that an expression looks up during evaluation. */
export interface LookedUp {
  /** The name that stands for the parameter in the expression's scope. */
  readonly name: string;
  readonly address: string;
  /** What the expression asks about the parameter: its value, whether the value is known or fresh, or the pending value. */
  readonly asks: 'value' | 'known' | 'fresh' | 'wanted';
}

/** The functions that look up another parameter. */
const lookUps = ['param', 'known', 'fresh', 'wanted'] as const;
type LookUp = (typeof lookUps)[number];

function isLookUp(name: string): name is LookUp {
  return (lookUps as readonly string[]).includes(name);
}

/**
 * Returns the type of the parameter at an address, or undefined if the type is not known. `offset` is the offset of the address in the
 * expression.
 */
export type TypeOf = (address: string, offset: number) => ValueType | undefined;

/** Adapts the tree of one expression before its types are checked. Errors: `ExpressionMistake`. */
export class Adaptation {
  /** The parameters that the expression looks up, without duplicates, in the order in which they first appear in the expression. */
  readonly lookedUp = new Map<string, LookedUp>();
  /** The ranges of the looked-up addresses in the expression, with the names that replace the addresses. */
  readonly #spans: { readonly start: number; readonly end: number; readonly name: string }[] = [];
  readonly #environment: Environment;
  readonly #typeOf: TypeOf | undefined;
  readonly #isLoose: boolean;

  /**
   * With `isLoose`, the items of an empty list may have any type. CEL infers no type for such items, and then reports an operator as
   * ambiguous.
   */
  constructor(environment: Environment, typeOf: TypeOf | undefined, isLoose: boolean) {
    this.#environment = environment;
    this.#typeOf = typeOf;
    this.#isLoose = isLoose;
  }

  /** Returns the text of the expression with names in place of addresses. Expressions with the same shape then share one compiled form. */
  shapeOf(text: string): string {
    let at = 0;
    let shape = '';
    for (const { start, end, name } of this.#spans.toSorted((one, other) => one.start - other.start)) {
      shape += `${text.slice(at, start)}\0${name}\0`;
      at = end;
    }
    return shape + text.slice(at);
  }

  adapt(part: Part): void {
    const { op, args } = part;
    if (op === 'value' && typeof args === 'bigint') part.args = Number(args);
    if (op === 'call') this.#call(part, ...(args as [string, Part[]]));
    else if (op === 'rcall') this.#method(part, ...(args as [string, Part, Part[]]));
    else for (const inner of partsOf(part)) this.adapt(inner);
    if (op === 'list' && this.#isLoose && (args as unknown[]).length === 0)
      replacePart(part, this.#environment, emptyListText);
    if (op === 'map') this.#map(part, args as [key: Part, item: Part][]);
    if (op === '[]') {
      const [list, index] = args as [Part, Part];
      replacePart(part, this.#environment, itemText, { list, index });
    }
  }

  /** Adapts a map literal. CEL builds a map as an object, which converts its keys to strings and refuses some keys. */
  #map(part: Part, entries: readonly (readonly [key: Part, item: Part])[]): void {
    if (entries.length === 0) {
      replacePart(part, this.#environment, emptyMapText);
      return;
    }
    const names = (kind: string) => entries.map((_, index) => `${kind}${index}`);
    const parts = entries.flatMap(([key, item], index) => [
      [`k${index}`, key],
      [`v${index}`, item],
    ]);
    replacePart(part, this.#environment, mapText(names('k'), names('v')), Object.fromEntries(parts));
  }

  #call(part: Part, name: string, args: Part[]): void {
    if (this.#typeOf !== undefined && isLookUp(name)) {
      this.#lookUp(part, name, args);
      return;
    }
    for (const inner of args) this.adapt(inner);
    if (isExpanded(part)) return;
    const type = functionTypes.get(name);
    if (type === undefined) throw this.#unknown(part, name, args.length);
    if (type.readsNow) {
      if (this.#typeOf === undefined)
        throw new ExpressionMistake(
          `expected an expression of inputs only, got ${name}(…), which only rules can use: an output changes only with its inputs`,
          part.start,
        );
      checkZone(name, args);
      args.unshift(treeOf(this.#environment.parse('now')));
    }
    if (name === 'matches') checkPattern(args[1]);
    checkLiteral(name, args[0]);
    part.args = [ownName(name), args];
  }

  #method(part: Part, name: string, receiver: Part, args: Part[]): void {
    this.adapt(receiver);
    for (const inner of args) this.adapt(inner);
    if (isExpanded(part)) return;
    const type = functionTypes.get(name);
    if (type === undefined || type.readsNow) throw this.#unknown(part, name, args.length);
    if (name === 'matches') checkPattern(args[0]);
    checkLiteral(name, receiver);
    part.args = [ownName(name), receiver, args];
  }

  #lookUp(part: Part, asks: LookUp, [first, otherwise, ...more]: Part[]): void {
    const usage = asks === 'param' ? "param('desk/level') or param('desk/level', 0)" : `${asks}('desk/level')`;
    const address = first?.args;
    if (first?.op !== 'value' || typeof address !== 'string' || more.length > 0 || (asks !== 'param' && otherwise))
      throw new ExpressionMistake(`expected ${usage} with an address in quotes`, first?.start ?? part.start);
    const offset = first.start + 1; // the address begins after the quote
    const type = this.#typeOf?.(address, offset);
    if (type === 'T')
      throw new ExpressionMistake(
        `expected a parameter with a value, but "${address}" is a trigger: list it in \`from\` instead`,
        offset,
      );
    const { start, end } = first;
    if (asks !== 'param') {
      const name = this.#nameOf(asks, address, asks === 'wanted' ? type : 'B');
      this.#spans.push({ start, end, name });
      replacePart(part, this.#environment, 'x', { x: name });
      return;
    }
    const value = this.#nameOf('value', address, type);
    if (otherwise === undefined) {
      this.#spans.push({ start, end, name: value });
      replacePart(part, this.#environment, 'x', { x: value });
      return;
    }
    this.adapt(otherwise);
    const known = this.#nameOf('known', address, 'B');
    this.#spans.push({ start, end, name: `${known} ${value}` });
    replacePart(part, this.#environment, 'known ? x : otherwise', { known, x: value, otherwise });
  }

  /**
   * Returns the name that stands for a parameter in the scope. Authors cannot write such a name. Expressions with the same variables share
   * a few names.
   */
  #nameOf(asks: LookedUp['asks'], address: string, type: ValueType | undefined): string {
    const key = `${asks} ${address}`;
    const known = this.lookedUp.get(key);
    if (known !== undefined) return known.name;
    const name = `${asks} ${this.lookedUp.size} ${type ?? 'dyn'}`;
    this.lookedUp.set(key, { name, address, asks });
    if (!this.#environment.hasVariable(name)) declareVariable(this.#environment, name, type);
    return name;
  }

  #unknown(part: Part, name: string, count: number): ExpressionMistake {
    const offset = part.op === 'call' ? part.start : part.input.indexOf(name, (part.args as [string, Part])[1].end);
    if (macroNames.has(name))
      return new ExpressionMistake(
        `expected ${macroUsages[name] ?? `list.${name}(item, item > 1)`}, got ${name} with ${count} ${count === 1 ? 'argument' : 'arguments'}`,
        offset,
      );
    if (isLookUp(name))
      return new ExpressionMistake(
        `expected the name of an input, got ${name}(…), which only rules can use: add the address to inputs`,
        offset,
      );
    const nearest = nearestName(name, [...functionTypes.keys(), ...macroNames, ...lookUps]);
    const hint = Object.hasOwn(foreignNames, name) ? foreignNames[name] : nearest && usageOf(nearest);
    return new ExpressionMistake(
      `unknown function ${name}(…)${hint === undefined ? ': docs/rules.md lists all functions' : `, did you mean ${hint}?`}`,
      offset,
    );
  }
}

const macroUsages: Readonly<Record<string, string>> = {
  has: 'has(map.key)',
  bind: 'cel.bind(name, value, expression)',
};

function usageOf(name: string): string {
  if (isLookUp(name)) return `${name}('desk/level')`;
  return functionTypes.get(name)?.usages[0] ?? `list.${name}(item, item > 1)`;
}

/** Returns whether CEL has expanded a call, as it does for methods that bind a name. */
function isExpanded({ meta }: Part): boolean {
  return meta.alternate !== undefined || meta.macro !== undefined;
}

/** Checks the time zone in a call. The zone must be a string literal, so that an unknown zone is found when the file is loaded. */
function checkZone(name: string, [zone]: Part[]): void {
  if (zone === undefined) return;
  if (zone.op !== 'value' || typeof zone.args !== 'string')
    throw new ExpressionMistake(`expected a time zone in quotes, as in ${name}('Europe/Berlin')`, zone.start);
  if (isZone(zone.args)) return;
  const nearest = nearestName(zone.args, zoneNames());
  const hint = nearest === undefined ? "expected a name such as 'Europe/Berlin'" : `did you mean "${nearest}"?`;
  throw new ExpressionMistake(`unknown time zone "${zone.args}", ${hint}`, zone.start + 1);
}

/** Checks the literal in a timestamp or duration when the file is loaded. */
function checkLiteral(name: string, text: Part | undefined): void {
  if (text?.op !== 'value' || typeof text.args !== 'string') return;
  const mistake = (form: string) => new ExpressionMistake(`expected ${form}, got ${describe(text.args)}`, text.start);
  if (name === 'timestamp' && !isPointInTime(text.args)) throw mistake(pointInTimeForm);
  if (name === 'duration' && !isTimeSpan(text.args)) throw mistake(timeSpanForm);
}

function checkPattern(pattern: Part | undefined): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') return;
  const why = whyNoRegex(pattern.args);
  if (why === undefined) return;
  throw new ExpressionMistake(
    `expected a regular expression (RE2), got ${JSON.stringify(pattern.args)}: ${why.replace(/^matches: /, '')}`,
    pattern.start,
  );
}
