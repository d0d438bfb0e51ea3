// Random networks of rules over a desk and the desks of some studios, and the events they process, reproducible by seed.

import type { Random } from '../../support/random.ts';
import { aRule, isList, isTrigger, type NetworkRule, type Term } from './rule.ts';

/** Values that are set in one turn, a rule that is switched, or time that passes. */
export type Happening =
  | { readonly set: readonly (readonly [id: string, value: number])[] }
  | { readonly switch: number }
  | { readonly waitMs: number };

export interface Network {
  /** Triggers begin with a `t`; what ends with `@2` is of studio 2. */
  readonly ids: readonly string[];
  readonly defaults: Readonly<Record<string, number>>;
  /** What was kept, in the order in which it is given back. */
  readonly given: readonly (readonly [id: string, value: number])[];
  /** As the flow file has them: before all others those of a template. */
  readonly studios: StudioRules | undefined;
  readonly others: readonly NetworkRule[];
  /** All of them, top to bottom. */
  readonly rules: readonly NetworkRule[];
  readonly happenings: readonly Happening[];
}

export function aNetwork(random: Random): Network {
  const isCircular = random.once(4);
  const someIds = (least: number, most: number) =>
    Array.from({ length: least + random.below(most - least) }, (_, index) =>
      !isCircular && random.once(4) ? `t${index}` : `s${index}`,
    );
  const own = someIds(4, 13);
  const studioIds = random.once(3) ? someIds(3, 7).map(inStudio) : [];
  const studios = studioIds.length > 0 ? someStudios(random, studioIds, own, isCircular) : undefined;
  const ids = [...(studios?.studios.flatMap(({ n }) => studioIds.map((id) => id.replace('$', `${n}`))) ?? []), ...own];
  const states = ids.filter((id) => !isTrigger(id));
  const values = (most: number) =>
    states.length === 0 ? [] : random.list(most, () => [random.pick(states), random.below(4)] as const);
  const others = Array.from({ length: 1 + random.below(isCircular ? 8 : 14) }, (_, index) =>
    aRule(random, { name: `r${index}`, ids, others: [], isCircular, isTemplate: false }),
  );
  const rules = [...(studios === undefined ? [] : expand(studios)), ...others];
  const happening = (): Happening => {
    if (random.once(8)) return { switch: random.below(rules.length) };
    if (random.once(4)) return { waitMs: 10 * (1 + random.below(random.once(3) ? 150 : 12)) };
    return { set: Array.from({ length: random.once(3) ? 2 : 1 }, () => [random.pick(ids), random.below(4)] as const) };
  };
  return {
    ids,
    defaults: Object.fromEntries(values(4)),
    given: values(3),
    studios,
    others,
    rules,
    happenings: Array.from({ length: 40 }, happening),
  };
}

function someStudios(
  random: Random,
  ids: readonly string[],
  others: readonly string[],
  isCircular: boolean,
): StudioRules {
  return {
    studios: Array.from({ length: 2 + random.below(2) }, (_, index): Studio => ({ n: index + 1, k: random.below(4) })),
    isByRule: random.once(2),
    rules: Array.from({ length: 1 + random.below(4) }, (_, index) =>
      aRule(random, { name: `q${index} \${studio.n}`, ids, others, isCircular, isTemplate: true }),
    ),
  };
}

interface Studio {
  readonly n: number;
  readonly k: number;
}

interface StudioRules {
  readonly studios: readonly Studio[];
  /** `each` stands in each rule, and not in a list of them. */
  readonly isByRule: boolean;
  readonly rules: readonly NetworkRule[];
}

/** A parameter as a template has it. */
function inStudio(id: string): string {
  return `${id}@$`;
}

/** The rules that a template makes, in their order. */
function expand({ studios, isByRule, rules }: StudioRules): NetworkRule[] {
  if (isByRule) return rules.flatMap((rule) => studios.map((studio) => ruleOf(rule, studio)));
  return studios.flatMap((studio) => rules.map((rule) => ruleOf(rule, studio)));
}

function ruleOf(rule: NetworkRule, studio: Studio): NetworkRule {
  const { name, from, when, map, to, split } = rule;
  const term = (one: Term) => termOf(one, studio);
  const id = (one: string) => idOf(one, studio);
  return {
    ...rule,
    name: name.replace('${studio.n}', `${studio.n}`),
    from: isList(from) ? from.map(id) : Object.fromEntries(Object.entries(from).map(([key, one]) => [key, id(one)])),
    when: when && term(when),
    map: map && term(map),
    to: to.map(id),
    split: split?.map(term),
  };
}

function termOf(term: Term, studio: Studio): Term {
  const inside = (one: Term) => termOf(one, studio);
  if (term.is === 'number') return term.isGiven ? { is: 'number', number: studio.k } : term;
  if (term.is === 'param') return { ...term, id: idOf(term.id, studio) };
  if (term.is === 'known')
    return { ...term, id: idOf(term.id, studio), known: inside(term.known), unknown: inside(term.unknown) };
  if (term.is === 'choice')
    return { is: 'choice', on: inside(term.on), above: inside(term.above), below: inside(term.below) };
  if (term.is === 'sum') return { is: 'sum', left: inside(term.left), right: inside(term.right) };
  return term;
}

function idOf(id: string, { n }: Studio): string {
  return id.replace('@$', `@${n}`);
}
