// Checks a rule in JSON5: addresses, expressions and steps, each against its input types.

import { isLanguageName } from '../../../expression/expression.ts';
import type { ParameterDeclaration } from '../../../model/parameter.ts';
import type { ValueType } from '../../../model/value.ts';
import { keyOfFile } from '../../files/flow-file.ts';
import { type ExpressionBody, type Source, sourcesOf } from '../../plan.ts';
import type { RuleExpression } from '../../rule-expression.ts';
import { ruleSchema } from '../schema.ts';
import { type FindDeclaration, ruleKey, type SourceLocation } from '../source-location.ts';
import type { CheckedRule, Folders } from './known-rules.ts';
import { withoutMisplaced } from './misplaced-settings.ts';
import { checkPipe, compileRuleExpression, type ExpressionTypes } from './pipe.ts';

const none: readonly string[] = [];

/** Checks a rule that is data. Returns a list with one rule, or an empty list if the shape of the rule is wrong. */
export function checkExpressionRule(
  location: SourceLocation,
  item: unknown,
  within: Folders,
  find: FindDeclaration,
): CheckedRule[] {
  const rule = location.parse(ruleSchema, withoutMisplaced(location, item, ruleSchema.shape, false));
  if (rule === undefined) return [];
  const listensToWrites = rule.hear === 'writes';
  const findSource: FindDeclaration = (at, address) => find(at, address, listensToWrites);
  const { from, variables } = checkSource(location, rule.from, rule.require, findSource);
  const lookedAt: string[] = [];
  const typesAt = (at: SourceLocation, names = variables): ExpressionTypes => ({
    variables: names,
    typeOf: (address, offset) => {
      lookedAt.push(address);
      return find(at.inText(offset), address)?.type;
    },
  });
  const to = checkDestinations(location, rule.to, find);
  const splits = typeof rule.to === 'object' && !Array.isArray(rule.to);
  const when = checkExpression(location.at('when'), rule.when, typesAt, 'B');
  const map = checkExpression(location.at('map'), rule.map, typesAt);
  const isAsItCame = rule.map === undefined && rule.pipe.length === 0;
  if ('named' in from && rule.map === undefined && !(splits && isAsItCame))
    location.at('map').add('expected an expression that uses the names in `from`, got nothing');
  const mapped = rule.map === undefined ? variables.value : map?.type;
  const pipe = checkPipe(location.at('pipe'), rule.pipe, mapped, typesAt);
  const result = pipe.length === 0 ? mapped : pipe.at(-1)!.type;
  const results = isAsItCame ? variables : { value: result };
  const split = splits
    ? checkSplit(location.at('to'), rule.to as Record<string, string>, (at) => typesAt(at, results))
    : undefined;
  const body: ExpressionBody = {
    from,
    when,
    map,
    pipe,
    result,
    split,
    listensToWrites,
    runsAtStart: rule.atStart,
    written: {
      ...(rule.when !== undefined && { when: rule.when }),
      ...(rule.map !== undefined && { map: rule.map }),
      ...(rule.pipe.length > 0 && { pipe: rule.pipe }),
      ...(splits && { split: rule.to as Record<string, string> }),
    },
  };
  const sources = sourcesOf({ body });
  const { file } = location;
  const checked: CheckedRule = {
    name: rule.name ?? `${sources.join(', ')} → ${to.join(', ')}`,
    file: file.name,
    fileKey: keyOfFile(file),
    folder: within.names,
    isEnabled: within.isEnabled && rule.enabled,
    isShadow: within.isShadow || rule.shadow,
    body,
    to,
    addresses: [...sources, ...lookedAt, ...to],
    sharedAddresses: none,
    key: ruleKey(file, item),
  };
  return [checked];
}

/** Compiles the expressions in `to`, one per destination. Returns the expressions that have no errors. */
function checkSplit(
  location: SourceLocation,
  to: Readonly<Record<string, string>>,
  typesAt: (location: SourceLocation) => ExpressionTypes,
): RuleExpression[] {
  return Object.entries(to).flatMap(([address, text]) => checkExpression(location.at(address), text, typesAt) ?? []);
}

function checkExpression(
  location: SourceLocation,
  text: string | undefined,
  typesAt: (location: SourceLocation) => ExpressionTypes,
  expects?: 'B',
): RuleExpression | undefined {
  return text === undefined
    ? undefined
    : location.attempt(() => compileRuleExpression(text, typesAt(location), expects));
}

// The addresses that a rule reads and writes.

type Variables = Readonly<Record<string, ValueType | undefined>>;

/** The sources of a rule, and the types of the names that its expressions may use. */
interface CheckedSource {
  readonly from: Source;
  readonly variables: Variables;
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ownNames: ReadonlySet<string> = new Set(['value', 'previous', 'now', 'sum', 'param']);

/** Checks the settings `from` and `require` of a rule. */
function checkSource(
  location: SourceLocation,
  from: string | string[] | Record<string, string>,
  require: 'all' | 'any' | undefined,
  find: FindDeclaration,
): CheckedSource {
  const fromLocation = location.at('from');
  if (typeof from !== 'string' && !Array.isArray(from))
    return { from: { named: from, requiresAll: require !== 'any' }, variables: checkNames(fromLocation, from, find) };
  if (require !== undefined) location.at('require').add('allowed only with named sources, from: { a: …, b: … }');
  const { addresses, declarations } = checkAddresses(fromLocation, from, find);
  const types = new Set(declarations.map((declaration) => declaration?.type));
  const type = types.size === 1 ? declarations[0]?.type : undefined;
  return { from: { any: addresses }, variables: { value: type, previous: type } };
}

/** Checks the setting `to` of a rule. Returns the destination addresses; if `to` is an object, these are its keys. */
export function checkDestinations(
  location: SourceLocation,
  to: string | string[] | Readonly<Record<string, string>>,
  find: FindDeclaration,
): string[] {
  const findWritable: FindDeclaration = (at, address) => {
    const declaration = find(at, address);
    if (declaration?.access === 'read-only') at.add(`expected a writable parameter, but "${address}" is read-only`);
    return declaration;
  };
  if (typeof to === 'string' || Array.isArray(to)) return checkAddresses(location.at('to'), to, findWritable).addresses;
  const addresses = Object.keys(to);
  for (const address of addresses) findWritable(location.at('to', address), address);
  return addresses;
}

/** Checks the addresses of named sources. Returns their types, keyed by name: B for a trigger, whose name is true if the trigger fired. */
function checkNames(
  location: SourceLocation,
  named: Readonly<Record<string, string>>,
  find: FindDeclaration,
): Variables {
  const variables: Record<string, ValueType | undefined> = {};
  for (const [name, address] of Object.entries(named)) {
    const type = find(location.at(name), address)?.type;
    if (variableName.test(name) && !ownNames.has(name) && !isLanguageName(name))
      variables[name] = type === 'T' ? 'B' : type;
    else location.at(name).add(`expected a name for expressions, such as a or mic1, got "${name}"`);
  }
  return variables;
}

function checkAddresses(
  location: SourceLocation,
  given: string | string[],
  find: FindDeclaration,
): { addresses: string[]; declarations: (ParameterDeclaration | undefined)[] } {
  if (typeof given === 'string') return { addresses: [given], declarations: [find(location, given)] };
  return { addresses: given, declarations: given.map((address, index) => find(location.at(index), address)) };
}
