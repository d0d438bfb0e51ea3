// Where rules stand in their files. That is found when somebody asks, since it means to read the texts again, and it is of the texts as
// they are now: what was written above a rule moves it, and does not make it another one.

import type { RulePlan } from '../../plan.ts';
import type { Spot } from '../spot.ts';

/** A list of rules and folders, and where it stands. */
export interface RuleList {
  readonly spot: Spot;
  readonly items: readonly unknown[];
  /** A function of a flow file in TypeScript has made it. */
  readonly isMade: boolean;
}

type Body = RulePlan['body'];

/** Finds the places of rules, which come from these lists, top to bottom. */
export function createPlaceOf(
  lists: readonly RuleList[],
  rules: readonly Pick<RulePlan, 'body'>[],
  rulesOf: (item: unknown) => readonly unknown[] | undefined,
): (rule: Pick<RulePlan, 'body'>) => string | undefined {
  let places: Map<Body, string> | undefined;
  const find = () => {
    const found = new Map<Body, string>();
    let index = 0;
    const visit = ({ spot, items, isMade }: RuleList) => {
      for (const [place, item] of items.entries()) {
        const at = spot.at(place);
        const within = rulesOf(item);
        if (within !== undefined) visit({ spot: at.at('rules'), items: within, isMade });
        else found.set(rules[index++]!.body, (isMade ? at.at(keyOf(item)) : at).place());
      }
    };
    for (const list of lists) visit(list);
    return found;
  };
  return ({ body }) => {
    places ??= find();
    return places.get(body);
  };
}

/** By what a rule is found in the text of a flow file in TypeScript. */
function keyOf(item: unknown): string {
  return (item as { name?: unknown }).name === undefined ? 'from' : 'name';
}
