// What a network does, by a model of its own: a Map of values, a list of writes, and a loop over all rules. It shares nothing with
// the hub.

import { isList, isTrigger, type Network, type NetworkRule, type Term } from './network.ts';

type Scope = Readonly<Record<string, number | undefined>>;

interface ModelRule {
  readonly rule: NetworkRule;
  readonly sources: readonly string[];
  /** Its place among those that wait until a turn has settled. */
  readonly order: number;
  isOn: boolean;
  hasRun: boolean;
  last: number | undefined;
  previous: number | undefined;
  isDue: boolean;
  /** Whether it is to begin at the end of the turn. */
  begins: boolean;
  readonly fired: Set<string>;
}

export class Model {
  /** Every change since the start: `s1=2`. */
  readonly changes: string[] = [];
  readonly #values = new Map<string, number>();
  /** When each was set last. */
  readonly #setAt = new Map<string, number>();
  readonly #queue: [string, number][] = [];
  readonly #rules: readonly ModelRule[];
  #count = 0;

  constructor({ defaults, given, ids, rules }: Network) {
    for (const id of ids) if (defaults[id] !== undefined) this.#store(id, defaults[id]);
    for (const [id, value] of given) if (this.#values.get(id) !== value) this.#store(id, value);
    const orders = ordersOf(rules);
    this.#rules = rules.map((rule, index) => ({
      rule,
      sources: isList(rule.from) ? rule.from : Object.values(rule.from),
      order: orders[index]!,
      isOn: true,
      hasRun: false,
      last: undefined,
      previous: undefined,
      isDue: false,
      begins: false,
      fired: new Set(),
    }));
    this.#start(this.#rules);
  }

  /** Sets values in one turn. */
  set(values: readonly (readonly [id: string, value: number])[]): void {
    for (const [id, value] of values) this.#queue.push([id, value]);
    this.#settle();
  }

  /** Switches a rule; returns whether it is on now. */
  switch(index: number): boolean {
    const one = this.#rules[index]!;
    one.isOn = !one.isOn;
    if (one.isOn) this.#start([one]);
    return one.isOn;
  }

  #start(rules: readonly ModelRule[]): void {
    for (const one of rules) {
      const { rule, sources } = one;
      one.hasRun = false;
      one.last = isList(rule.from) && sources.length === 1 ? this.#values.get(sources[0]!) : undefined;
      one.previous = undefined;
      one.fired.clear();
      if (rule.startWith !== undefined) this.#emit(rule, { value: rule.startWith }, rule.startWith);
    }
    for (const one of rules) one.begins = one.rule.atStart;
    this.#settle();
  }

  #settle(): void {
    for (;;) {
      for (let write = this.#queue.shift(); write !== undefined; write = this.#queue.shift()) this.#deliver(...write);
      const waiting = this.#rules.filter(({ isDue, begins }) => isDue || begins);
      const [first] = waiting.sort((a, b) => a.order - b.order);
      if (first === undefined) return;
      if (isList(first.rule.from)) this.#begin(first);
      else this.#runNamed(first, first.rule.from);
      first.isDue = false;
      first.begins = false;
    }
  }

  #deliver(id: string, value: number): void {
    const isChange = isTrigger(id) || this.#values.get(id) !== value;
    if (isChange) {
      if (!isTrigger(id)) this.#store(id, value);
      this.changes.push(`${id}=${isTrigger(id) ? 1 : value}`);
    }
    for (const one of this.#rules) {
      if (!one.isOn || !(isChange || one.rule.hearsWrites)) continue;
      for (const source of one.sources) if (source === id) this.#hear(one, id, value);
    }
  }

  #hear(one: ModelRule, id: string, value: number): void {
    if (!isList(one.rule.from)) {
      one.isDue = true;
      one.fired.add(id);
      return;
    }
    one.hasRun = true;
    if (one.last !== undefined) one.previous = one.last;
    one.last = value;
    this.#run(one.rule, { value, previous: one.previous }, value);
  }

  #begin(one: ModelRule): void {
    if (one.hasRun) return;
    const states = one.sources.filter((id) => !isTrigger(id));
    const [newest] = states.sort((a, b) => (this.#setAt.get(b) ?? 0) - (this.#setAt.get(a) ?? 0));
    const value = newest === undefined ? 1 : this.#values.get(newest);
    if (value === undefined) return;
    one.last = value;
    this.#run(one.rule, { value, previous: one.previous }, value);
  }

  #runNamed(one: ModelRule, from: Readonly<Record<string, string>>): void {
    const now = (id: string) => (isTrigger(id) ? Number(one.fired.has(id)) : this.#values.get(id));
    const scope = Object.fromEntries(Object.entries(from).map(([name, id]) => [name, now(id)]));
    one.fired.clear();
    if (Object.values(scope).every((value) => value !== undefined)) this.#run(one.rule, scope, undefined);
  }

  #run(rule: NetworkRule, scope: Scope, value: number | undefined): void {
    if (rule.when !== undefined && !((this.#compute(rule.when, scope) ?? 0) > 1.5)) return;
    const result = rule.map === undefined ? value : this.#compute(rule.map, scope);
    const isAsItCame = rule.map === undefined && rule.startWith === undefined;
    if (isAsItCame) this.#emit(rule, scope, value);
    else if (result !== undefined) this.#emit(rule, { value: result }, result);
  }

  #emit({ to, split }: NetworkRule, scope: Scope, value: number | undefined): void {
    const values = split === undefined ? to.map(() => value) : split.map((term) => this.#compute(term, scope));
    for (const [index, id] of to.entries()) if (values[index] !== undefined) this.#queue.push([id, values[index]]);
  }

  #store(id: string, value: number): void {
    this.#values.set(id, value);
    this.#setAt.set(id, ++this.#count);
  }

  #compute(term: Term, scope: Scope): number | undefined {
    if (term.is === 'number') return term.number;
    if (term.is === 'name' || term.is === 'fired') return scope[term.name];
    if (term.is === 'param') return this.#values.get(term.id) ?? term.otherwise;
    if (term.is === 'known') return this.#compute(this.#values.has(term.id) ? term.known : term.unknown, scope);
    const [left, right] = [this.#compute(term.left, scope), this.#compute(term.right, scope)];
    return left === undefined || right === undefined ? undefined : Math.min(3, Math.max(0, left + right));
  }
}

/** The place of each rule: behind those that write what it reads, else top to bottom. */
function ordersOf(rules: readonly NetworkRule[]): number[] {
  const orders: number[] = [];
  let next = 0;
  const place = (index: number) => {
    if (orders[index] !== undefined) return;
    const { from } = rules[index]!;
    for (const id of isList(from) ? from : Object.values(from))
      for (const [writer, { to }] of rules.entries()) if (to.includes(id)) place(writer);
    orders[index] = next++;
  };
  for (const index of rules.keys()) place(index);
  return orders;
}
