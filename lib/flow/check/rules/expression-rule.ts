// Checks a rule in JSON5: addresses, expressions and steps, each against the types of what it reads.

import { keyOfFile } from '../../files/flow-file.ts';
import { type ExpressionBody, sourcesOf } from '../../plan.ts';
import type { RuleExpression } from '../../rule-expression.ts';
import { ruleKey } from '../key.ts';
import { ruleSchema } from '../schema.ts';
import type { FindDeclaration, Spot } from '../spot.ts';
import { checkDestinations, checkSource } from './addresses.ts';
import type { CheckedRule, Folders } from './checked-rule.ts';
import { compileRuleExpression, type ExpressionTypes } from './compile-expression.ts';
import { withoutMisplaced } from './misplaced-settings.ts';
import { checkPipe } from './pipe.ts';

const none: readonly string[] = [];

/** The rule as a list of one; none where its shape is wrong. */
export function checkExpressionRule(spot: Spot, item: unknown, within: Folders, find: FindDeclaration): CheckedRule[] {
  const rule = spot.parse(ruleSchema, withoutMisplaced(spot, item, ruleSchema.shape, false));
  if (rule === undefined) return [];
  const hearsWrites = rule.hear === 'writes';
  const findSource: FindDeclaration = (at, address) => find(at, address, hearsWrites);
  const { from, variables } = checkSource(spot, rule.from, rule.require, findSource);
  const lookedAt: string[] = [];
  const typesAt = (at: Spot, names = variables): ExpressionTypes => ({
    variables: names,
    typeOf: (address, offset) => {
      lookedAt.push(address);
      return find(at.inText(offset), address)?.type;
    },
  });
  const to = checkDestinations(spot, rule.to, find);
  const splits = typeof rule.to === 'object' && !Array.isArray(rule.to);
  const when = checkExpression(spot.at('when'), rule.when, typesAt, 'B');
  const map = checkExpression(spot.at('map'), rule.map, typesAt);
  const isAsItCame = rule.map === undefined && rule.pipe.length === 0;
  if ('named' in from && rule.map === undefined && !(splits && isAsItCame))
    spot.at('map').add('expected an expression over the names of from, got nothing');
  const mapped = rule.map === undefined ? variables.value : map?.type;
  const pipe = checkPipe(spot.at('pipe'), rule.pipe, mapped, typesAt);
  const result = pipe.length === 0 ? mapped : pipe.at(-1)!.type;
  const results = isAsItCame ? variables : { value: result };
  const split = splits
    ? checkSplit(spot.at('to'), rule.to as Record<string, string>, (at) => typesAt(at, results))
    : undefined;
  const body: ExpressionBody = {
    from,
    when,
    map,
    pipe,
    result,
    split,
    hearsWrites,
    runsAtStart: rule.atStart,
  };
  const sources = sourcesOf({ body });
  const { file } = spot;
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

/** The expressions of the destinations; one with a mistake is missing. */
function checkSplit(
  spot: Spot,
  to: Readonly<Record<string, string>>,
  typesAt: (spot: Spot) => ExpressionTypes,
): RuleExpression[] {
  return Object.entries(to).flatMap(([address, text]) => checkExpression(spot.at(address), text, typesAt) ?? []);
}

function checkExpression(
  spot: Spot,
  text: string | undefined,
  typesAt: (spot: Spot) => ExpressionTypes,
  expects?: 'B',
): RuleExpression | undefined {
  return text === undefined ? undefined : spot.attempt(() => compileRuleExpression(text, typesAt(spot), expects));
}
