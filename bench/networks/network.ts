// Random networks of rules over a desk, and what happens to them: the same ones for the same seed. No rule writes what leads to it.

import type { Random } from '../fuzz/random.ts';

/** What an expression computes. Sums stay within 0 to 3, so that many writes change nothing. */
export type Term =
  | { readonly is: 'number'; readonly number: number }
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'fired'; readonly name: string }
  | { readonly is: 'param'; readonly id: string; readonly otherwise: number | undefined }
  | { readonly is: 'known'; readonly id: string; readonly known: Term; readonly unknown: Term }
  | { readonly is: 'sum'; readonly left: Term; readonly right: Term };

export interface NetworkRule {
  readonly name: string;
  /** Parameter IDs, or those by name. */
  readonly from: readonly string[] | Readonly<Record<string, string>>;
  /** The rule goes on where this is above 1.5. */
  readonly when: Term | undefined;
  readonly map: Term | undefined;
  readonly startWith: number | undefined;
  readonly to: readonly string[];
  /** What each destination gets. */
  readonly split: readonly Term[] | undefined;
  readonly atStart: boolean;
  readonly hearsWrites: boolean;
}

/** Values that are set in one turn, or a rule that is switched. */
export type Happening =
  | { readonly set: readonly (readonly [id: string, value: number])[] }
  | { readonly switch: number };

export interface Network {
  /** Triggers begin with a `t`. A rule reads what comes before all that it writes. */
  readonly ids: readonly string[];
  readonly defaults: Readonly<Record<string, number>>;
  /** What was kept, in the order in which it is given back. */
  readonly given: readonly (readonly [id: string, value: number])[];
  readonly rules: readonly NetworkRule[];
  readonly happenings: readonly Happening[];
}

export function aNetwork(random: Random): Network {
  const ids = Array.from({ length: 4 + random.below(9) }, (_, index) => `${random.once(4) ? 't' : 's'}${index}`);
  const states = ids.filter((id) => !isTrigger(id));
  const values = (most: number) =>
    states.length === 0 ? [] : random.list(most, () => [random.pick(states), random.below(4)] as const);
  const rules = Array.from({ length: 1 + random.below(14) }, (_, index) => aRule(random, ids, `r${index}`));
  const happening = (): Happening =>
    random.once(8)
      ? { switch: random.below(rules.length) }
      : { set: Array.from({ length: random.once(3) ? 2 : 1 }, () => [random.pick(ids), random.below(4)] as const) };
  return {
    ids,
    defaults: Object.fromEntries(values(4)),
    given: values(3),
    rules,
    happenings: Array.from({ length: 40 }, happening),
  };
}

export function isTrigger(id: string): boolean {
  return id.startsWith('t');
}

function aRule(random: Random, ids: readonly string[], name: string): NetworkRule {
  const first = 1 + random.below(ids.length - 1);
  const to = [...new Set([ids[first]!, ...random.list(2, () => ids[first + random.below(ids.length - first)]!)])];
  const before = ids.slice(0, first);
  const sources = [...new Set([random.pick(before), ...random.list(2, () => random.pick(before))])];
  const isNamed = random.once(2);
  const hasTrigger = sources.some(isTrigger);
  const names: Term[] = isNamed
    ? sources.map((id, index) => ({ is: isTrigger(id) ? 'fired' : 'name', name: `x${index}` }))
    : hasTrigger
      ? []
      : [{ is: 'name', name: 'value' }, ...(random.once(4) ? [{ is: 'name', name: 'previous' } as const] : [])];
  const states = ids.filter((id) => !isTrigger(id));
  const term = (of: readonly Term[], depth = 0): Term => aTerm(random, of, states, depth);
  const splits = random.once(3);
  const startWith = !isNamed && random.once(6) ? random.below(4) : undefined;
  const mustMap = (isNamed && !splits) || (hasTrigger && !isNamed);
  const map = mustMap || random.once(2) ? term(names) : undefined;
  const isAsItCame = map === undefined && startWith === undefined;
  const results: readonly Term[] = isAsItCame ? names : [{ is: 'name', name: 'value' }];
  return {
    name,
    from: isNamed ? Object.fromEntries(sources.map((id, index) => [`x${index}`, id])) : sources,
    when: random.once(3) ? term(names) : undefined,
    map,
    startWith,
    to,
    split: splits ? to.map(() => term(results)) : undefined,
    atStart: random.once(2),
    hearsWrites: random.once(3),
  };
}

function aTerm(random: Random, names: readonly Term[], states: readonly string[], depth: number): Term {
  const kind = random.below(depth < 2 ? 7 : 4);
  const deeper = () => aTerm(random, names, states, depth + 1);
  if (kind === 0 || (names.length === 0 && kind < 3)) return { is: 'number', number: random.below(4) };
  if (kind < 3) return random.pick(names);
  if (states.length > 0 && kind === 3)
    return { is: 'param', id: random.pick(states), otherwise: random.once(2) ? random.below(4) : undefined };
  if (states.length > 0 && kind === 4)
    return { is: 'known', id: random.pick(states), known: deeper(), unknown: deeper() };
  return depth < 2 ? { is: 'sum', left: deeper(), right: deeper() } : { is: 'number', number: 1 };
}

/** The network as a flow file. */
export function asFlow({ ids, defaults, rules }: Network): object {
  const line = (id: string) =>
    isTrigger(id) ? `${id},T` : `${id},F${defaults[id] === undefined ? '' : `,${defaults[id]}`}`;
  return { connections: { desk: { type: 'dummy', parameters: ids.map(line) } }, rules: rules.map(asRule) };
}

function asRule(rule: NetworkRule): object {
  const { name, from, when, map, startWith, to, split, atStart, hearsWrites } = rule;
  const address = (id: string) => `desk/${id}`;
  const named = (from: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(from).map(([key, id]) => [key, address(id)]));
  return {
    name,
    from: isList(from) ? from.map(address) : named(from),
    ...(when && { when: `${textOf(when)} > 1.5` }),
    ...(map && { map: textOf(map) }),
    ...(startWith !== undefined && { pipe: [{ startWith }] }),
    to: split ? Object.fromEntries(to.map((id, index) => [address(id), textOf(split[index]!)])) : to.map(address),
    ...(atStart && { atStart }),
    ...(hearsWrites && { hear: 'writes' }),
  };
}

export function isList(from: NetworkRule['from']): from is readonly string[] {
  return Array.isArray(from);
}

function textOf(term: Term): string {
  if (term.is === 'number') return `${term.number}.0`;
  if (term.is === 'name') return term.name;
  if (term.is === 'fired') return `(${term.name} ? 1.0 : 0.0)`;
  if (term.is === 'param')
    return `param('desk/${term.id}'${term.otherwise === undefined ? '' : `, ${term.otherwise}`})`;
  if (term.is === 'known') return `(known('desk/${term.id}') ? ${textOf(term.known)} : ${textOf(term.unknown)})`;
  return `clamp(${textOf(term.left)} + ${textOf(term.right)}, 0, 3)`;
}
