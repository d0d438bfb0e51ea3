// A rule of a network: what it reads, what it computes, and when it writes.

import type { Random } from '../../support/random.ts';

/** What an expression computes. Sums stay within 0 to 3, so that many writes change nothing. */
export type Term =
  /** `isGiven`: a template has a variable there. */
  | { readonly is: 'number'; readonly number: number; readonly isGiven?: true }
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'fired'; readonly name: string }
  | { readonly is: 'param'; readonly id: string; readonly otherwise: number | undefined }
  | { readonly is: 'known'; readonly id: string; readonly known: Term; readonly unknown: Term }
  | { readonly is: 'choice'; readonly on: Term; readonly above: Term; readonly below: Term }
  | { readonly is: 'sum'; readonly left: Term; readonly right: Term };

/** A choice, and a rule with a condition, go on where a number is above this. */
export const threshold = 1.5;

/** A step that goes on between values; without `everyMs` as often as it does by itself. */
export interface GradualStep {
  readonly is: 'average' | 'ramp';
  readonly overMs: number;
  readonly everyMs: number | undefined;
}

/** The number of decimal places to which values of gradual steps are rounded. */
export const digits = 6;
/** Added before rounding, to round ties up however they were computed. */
export const nudge = 1e-9;

export interface NetworkRule {
  readonly name: string;
  /** Parameter IDs, or those by name. */
  readonly from: readonly string[] | Readonly<Record<string, string>>;
  /** Runs as soon as what is known is enough. */
  readonly requiresAny: boolean;
  readonly when: Term | undefined;
  readonly map: Term | undefined;
  readonly startWith: number | undefined;
  readonly step: GradualStep | undefined;
  readonly to: readonly string[];
  /** What each destination gets. */
  readonly split: readonly Term[] | undefined;
  readonly atStart: boolean;
  readonly listensToWrites: boolean;
}

export function isTrigger(id: string): boolean {
  return id.startsWith('t');
}

export function isList(from: NetworkRule['from']): from is readonly string[] {
  return Array.isArray(from);
}

/** Whether what came is written as it is. */
export function isAsItCame({ map, startWith, step }: Pick<NetworkRule, 'map' | 'startWith' | 'step'>): boolean {
  return map === undefined && startWith === undefined && step === undefined;
}

interface RuleOptions {
  readonly name: string;
  /** What it may read and write. */
  readonly ids: readonly string[];
  /** What its expressions may look at besides. */
  readonly others: readonly string[];
  /** May write what leads to it; else it reads only what comes before all that it writes. */
  readonly isCircular: boolean;
  /** Has numbers that a template gives. */
  readonly isTemplate: boolean;
}

export function aRule(random: Random, { name, ids, others, isCircular, isTemplate }: RuleOptions): NetworkRule {
  const { before, to } = isCircular ? { before: ids, to: [random.pick(ids)] } : inOrder(random, ids);
  const sources = [...new Set([random.pick(before), ...random.list(2, () => random.pick(before))])];
  const isNamed = random.once(2);
  const hasTrigger = sources.some(isTrigger);
  const names: Term[] = isNamed
    ? sources.map((id, index) => ({ is: isTrigger(id) ? 'fired' : 'name', name: `x${index}` }))
    : hasTrigger
      ? []
      : [{ is: 'name', name: 'value' }, ...(random.once(4) ? [{ is: 'name', name: 'previous' } as const] : [])];
  const states = [...ids, ...others].filter((id) => !isTrigger(id));
  const term = (of: readonly Term[]): Term => aTerm(random, of, states, isTemplate, 0);
  const splits = random.once(3);
  const step = random.once(4) ? aStep(random) : undefined;
  const startWith = !isNamed && random.once(6) ? random.below(4) : undefined;
  const mustMap = isNamed ? !splits || step !== undefined : hasTrigger;
  const map = mustMap || random.once(2) ? term(names) : undefined;
  const results: readonly Term[] = isAsItCame({ map, startWith, step }) ? names : [{ is: 'name', name: 'value' }];
  return {
    name,
    from: isNamed ? Object.fromEntries(sources.map((id, index) => [`x${index}`, id])) : sources,
    requiresAny: isNamed && random.once(3),
    when: random.once(3) ? term(names) : undefined,
    map,
    startWith,
    step,
    to,
    split: splits ? to.map(() => term(results)) : undefined,
    atStart: random.once(2),
    listensToWrites: !isCircular && random.once(3),
  };
}

function inOrder(random: Random, ids: readonly string[]) {
  const first = 1 + random.below(ids.length - 1);
  const more = random.list(2, () => ids[first + random.below(ids.length - first)]!);
  return { before: ids.slice(0, first), to: [...new Set([ids[first]!, ...more])] };
}

function aStep(random: Random): GradualStep {
  return {
    is: random.pick(['average', 'ramp'] as const),
    overMs: random.pick([100, 200, 1000]),
    everyMs: random.pick([undefined, 20, 50]),
  };
}

function aTerm(
  random: Random,
  names: readonly Term[],
  states: readonly string[],
  isTemplate: boolean,
  depth: number,
): Term {
  const kind = random.below(depth < 2 ? 8 : 4);
  const deeper = () => aTerm(random, names, states, isTemplate, depth + 1);
  if (kind === 0 || (names.length === 0 && kind < 3))
    return { is: 'number', number: random.below(4), ...(isTemplate && random.once(2) && { isGiven: true }) };
  if (kind < 3) return random.pick(names);
  if (states.length > 0 && kind === 3)
    return { is: 'param', id: random.pick(states), otherwise: random.once(2) ? random.below(4) : undefined };
  if (states.length > 0 && kind === 4)
    return { is: 'known', id: random.pick(states), known: deeper(), unknown: deeper() };
  if (depth >= 2) return { is: 'number', number: 1 };
  if (kind === 5) return { is: 'choice', on: deeper(), above: deeper(), below: deeper() };
  return { is: 'sum', left: deeper(), right: deeper() };
}
