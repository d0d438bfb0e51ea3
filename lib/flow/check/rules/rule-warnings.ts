// Warns about rules that work but are probably not intended: two rules that copy different parameters to the same parameter, and a rule
// that reads a value that is computed from the rule's own source, but only later in the same turn.

import { connectionIdOf } from '../../../model/address.ts';
import { counted } from '../../../model/digits.ts';
import type { ValueType } from '../../../model/value.ts';
import { type ConnectionPlan, type ExpressionBody, type Plan, type RulePlan, sourcesOf } from '../../plan.ts';
import type { RuleExpression } from '../../rule-expression.ts';

/** The maximum number of warnings that are listed; further warnings are only counted. */
const maxReported = 20;
/** The maximum number of parameters that the search for the origins of a parameter may visit. */
const maxVisited = 1000;

export interface WarningContext {
  readonly rules: readonly RulePlan[];
  readonly connections: readonly ConnectionPlan[];
  readonly placeOf: Plan['placeOf'] & {};
  /** Returns the type of a parameter, or undefined if the type is not known. */
  typeOf(address: string): ValueType | undefined;
}

/** Returns the warnings about rules, one line each, with the location of the rule. */
export function warningsOf(context: WarningContext): string[] {
  const warnings = [...clashesOf(context), ...staleReadsOf(context)];
  if (warnings.length <= maxReported) return warnings;
  return [
    ...warnings.slice(0, maxReported),
    `${counted(warnings.length - maxReported, 'more warning')} of this kind about rules`,
  ];
}

interface DataRule extends RulePlan {
  readonly body: ExpressionBody;
}

/** Returns whether a rule is enabled and is data, because the check cannot see into a stream. */
function isRunning(rule: RulePlan): rule is DataRule {
  return rule.isEnabled && !rule.isShadow && !('stream' in rule.body);
}

/**
 * Yields a warning for each pair of rules that copy different parameters to the same parameter. The locations of the rules are looked up
 * only for a warning, because this requires reading the files again.
 */
function* clashesOf({ rules, placeOf, typeOf }: WarningContext): Generator<string> {
  const copies = new Map<string, DataRule[]>();
  for (const rule of rules) {
    if (!isRunning(rule)) continue;
    for (const address of copiedTo(rule)) {
      const known = copies.get(address);
      if (known === undefined) copies.set(address, [rule]);
      else known.push(rule);
    }
  }
  for (const [address, [first, ...others]] of copies) {
    const seen = new Set(sourcesOf(first!));
    for (const rule of others) {
      const sources = sourcesOf(rule).filter((source) => !seen.has(source));
      for (const source of sources) seen.add(source);
      if (sources.length === 0 || isOfTriggers([...seen, address], typeOf)) continue;
      const copied = `it copies ${sources.join(', ')} to ${address}, and rule "${first!.name}" (${placeOf(first!)}) copies`;
      const both = [sourcesOf(first!)[0]!, sources[0]!] as const;
      const one = joined(both, typeOf(address));
      yield `${placeOf(rule)}: rule "${rule.name}": ${copied} ${sourcesOf(first!).join(', ')}, so the last change wins: expected one rule, ${one}`;
    }
  }
}

/** Returns the destinations that receive the source's value unchanged, including through an explicit `map: 'value'`. */
function copiedTo({ to, body: { from, when, map, pipe, split } }: DataRule): readonly string[] {
  const name = 'any' in from ? 'value' : Object.keys(from.named)[0]!;
  const isCopied = (one: RuleExpression | undefined) => one === undefined || one.passes === name;
  if (when !== undefined || pipe.length > 0 || ('named' in from && Object.keys(from.named).length > 1)) return [];
  if (split === undefined) return isCopied(map) ? to : [];
  return map === undefined ? to.filter((_, index) => isCopied(split[index])) : [];
}

/**
 * Returns whether any of the addresses has type T or an unknown type. The firing of a trigger is not a state, so two triggers may have the
 * same effect.
 */
function isOfTriggers(addresses: readonly string[], typeOf: WarningContext['typeOf']): boolean {
  return addresses.some((address) => {
    const type = typeOf(address);
    return type === 'T' || type === undefined;
  });
}

function joined([a, b]: readonly [string, string], type: ValueType | undefined): string {
  const last = `from: ['${a}', '${b}'] if the last change is meant to win`;
  if (type === 'S') return last;
  const map = type === 'B' ? 'a || b' : 'max(a, b)';
  return `such as from: { a: '${a}', b: '${b}' }, map: '${map}'; or ${last}`;
}

function* staleReadsOf(context: WarningContext): Generator<string> {
  const { rules, placeOf } = context;
  const readers = rules.filter(
    (rule): rule is DataRule => isRunning(rule) && 'any' in rule.body.from && looksAt(rule.body).length > 0,
  );
  if (readers.length === 0) return;
  const origins = new Origins(context);
  for (const rule of readers)
    for (const address of looksAt(rule.body)) {
      const source = rule.to.includes(address) ? undefined : origins.sharedSource(address, rule);
      if (source === undefined) continue;
      const names = `{ a: '${sourcesOf(rule)[0]!}', b: '${address}' }`;
      yield `${placeOf(rule)}: rule "${rule.name}": ${address} is computed from ${source} in the same turn, after this rule has run, so param('${address}') still has the value of the previous turn: expected both in from, such as from: ${names}`;
    }
}

/** Returns the addresses that the rule reads at the moment its source changes. Addresses read after a step that takes time are omitted. */
function looksAt({ when, map, split = [], pipe }: ExpressionBody): string[] {
  const steps = pipe.slice(0, pipe.findIndex(({ reads }) => reads === undefined) >>> 0);
  const expressions = [
    when,
    map,
    ...steps.flatMap(({ reads = [] }) => reads),
    ...(steps.length === pipe.length ? split : []),
  ];
  return expressions.flatMap((one) =>
    (one?.lookedUp ?? []).filter(({ asks }) => asks === 'value').map(({ address }) => address),
  );
}

/** Finds the parameters from which other parameters are computed within a turn. */
class Origins {
  readonly #writers = new Map<string, DataRule[]>();
  readonly #connections: ReadonlyMap<string, ConnectionPlan>;
  readonly #follows = new Map<string, (parameterId: string) => Iterable<string>>();

  constructor({ rules, connections }: WarningContext) {
    for (const rule of rules)
      if (isRunning(rule) && rule.body.pipe.length === 0)
        for (const address of rule.to) {
          const known = this.#writers.get(address);
          if (known === undefined) this.#writers.set(address, [rule]);
          else known.push(rule);
        }
    this.#connections = new Map(
      connections.filter(({ type }) => type.follows !== undefined).map((one) => [one.id, one]),
    );
  }

  /**
   * Finds an address from which both the sources of a rule and `address` are derived, if `address` is computed only after the turn's
   * writes. Returns undefined if there is no such address. A value that another rule writes immediately may deliberately be read before
   * that write, such as a count that the other rule sets to 0.
   */
  sharedSource(address: string, rule: DataRule): string | undefined {
    const early = this.#back(sourcesOf(rule), (_, isSettled) => !isSettled, rule);
    const late = this.#back([address], () => true, rule);
    for (const [one, isSettled] of late) if (isSettled && early.has(one)) return one;
    return undefined;
  }

  /**
   * Returns the origins of addresses, and for each origin whether its path contains a step or connection that waits until the turn's writes
   * are done.
   */
  #back(
    starts: readonly string[],
    isMeant: (address: string, isSettled: boolean) => boolean,
    without: DataRule,
  ): ReadonlyMap<string, boolean> {
    const found = new Map<string, boolean>(starts.map((address) => [address, false]));
    for (const [address, isSettled] of found) {
      if (found.size > maxVisited) break;
      for (const [one, waits] of this.#stepsBack(address, without)) {
        const settles = isSettled || waits;
        if (isMeant(one, settles) && !found.has(one)) found.set(one, settles);
      }
    }
    return found;
  }

  *#stepsBack(address: string, without: DataRule): Generator<[address: string, waits: boolean]> {
    for (const rule of this.#writers.get(address) ?? [])
      if (rule !== without) for (const source of sourcesOf(rule)) yield [source, 'named' in rule.body.from];
    const id = connectionIdOf(address);
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    const follows = this.#follows.get(id) ?? connection.type.follows!(connection.settings);
    this.#follows.set(id, follows);
    for (const name of follows(address.slice(id.length + 1)))
      if (connection.inputs[name] !== undefined) yield [connection.inputs[name], true];
  }
}
