// Rules that a template makes of several studios. In them `s1@$` is a parameter of the studio, `${studio.n}` its number, and some
// numbers are `${studio.k}`.

import { isList, type NetworkRule, type Term } from './rule.ts';

export interface Studio {
  readonly n: number;
  readonly k: number;
}

export interface StudioRules {
  readonly studios: readonly Studio[];
  /** `each` stands in each rule, and not in a list of them. */
  readonly isByRule: boolean;
  readonly rules: readonly NetworkRule[];
}

/** A parameter as a template has it. */
export function inStudio(id: string): string {
  return `${id}@$`;
}

/** The rules that a template makes, in their order. */
export function expand({ studios, isByRule, rules }: StudioRules): NetworkRule[] {
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
