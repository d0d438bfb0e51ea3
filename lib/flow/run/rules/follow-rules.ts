// Which rules go on when a plan takes the place of another.

import type { RulePlan } from '../../plan.ts';
import type { StartedRule } from './rule.ts';

interface Followed {
  readonly plan: RulePlan;
  readonly started: StartedRule | undefined;
}

/**
 * The rules that plans go on from: one that is made of the same and has lost none of its parameters. Where the plans at the start
 * and at the end are the same, these are not compared with others.
 */
export function followRules<Rule extends Followed>(
  rules: readonly Rule[],
  plans: readonly RulePlan[],
  gone: ReadonlySet<string>,
): readonly (Rule | undefined)[] {
  const isGone = goneWith(gone);
  const isStaying = ({ plan, started }: Rule) =>
    started === undefined || !(isGone(plan.addresses) || isGone(plan.sharedAddresses));
  const longest = Math.min(rules.length, plans.length);
  let start = 0;
  while (start < longest && rules[start]!.plan === plans[start]) start++;
  let end = 0;
  while (end < longest - start && rules.at(-1 - end)!.plan === plans.at(-1 - end)) end++;
  const staysOr = (rule: Rule) => (isStaying(rule) ? rule : undefined);
  const others = Map.groupBy(rules.slice(start, rules.length - end).filter(isStaying), ({ plan }) => plan.key);
  return [
    ...rules.slice(0, start).map(staysOr),
    ...plans.slice(start, plans.length - end).map(({ key }) => others.get(key)?.shift()),
    ...rules.slice(rules.length - end).map(staysOr),
  ];
}

/** Tells whether one of a list of addresses is gone; of a list that many rules share it has found out once. */
export function goneWith(gone: ReadonlySet<string>): (addresses: readonly string[]) => boolean {
  if (gone.size === 0) return () => false;
  const known = new Map<readonly string[], boolean>();
  return (addresses) => {
    const isGone = known.get(addresses) ?? addresses.some((address) => gone.has(address));
    known.set(addresses, isGone);
    return isGone;
  };
}
