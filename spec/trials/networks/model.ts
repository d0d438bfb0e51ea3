// An independent model of a network: a Map of values, a list of writes, and a loop over all rules. It shares no code with the hub.

import type { Network } from './network.ts';
import {
  digits,
  type GradualStep,
  isAsItCame,
  isList,
  isTrigger,
  type NetworkRule,
  nudge,
  type Term,
  threshold,
} from './rule.ts';

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
  /** Whether it waits for the end of the turn, and after how many hops it would write then. */
  dueAfter: number | undefined;
  /** Whether it is to begin at the end of the turn. */
  begins: boolean;
  readonly fired: Set<string>;
  step: ModelStep | undefined;
}

const maxHops = 64;
/** The model gives up a network when one turn makes more writes than this, since the limit of the hub is near. */
const wildWrites = 20_000;

export class Model {
  /** Every change since the start: `s1=2`. */
  readonly changes: string[] = [];
  /** How many writes exceeded the limit of hops. */
  dropped = 0;
  /** Whether it multiplies too much to be followed. */
  isWild = false;
  readonly #values = new Map<string, number>();
  /** When each was set last. */
  readonly #setAt = new Map<string, number>();
  readonly #queue: { readonly id: string; readonly value: number; readonly hop: number }[] = [];
  readonly #rules: readonly ModelRule[];
  readonly #clock = new ModelClock();
  #count = 0;
  /** After how many hops is written what is written now. */
  #hop = 0;
  #isInTurn = false;

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
      dueAfter: undefined,
      begins: false,
      fired: new Set(),
      step: undefined,
    }));
    this.#start(this.#rules);
  }

  /** Sets values in one turn. */
  set(values: readonly (readonly [id: string, value: number])[]): void {
    for (const [id, value] of values) this.#queue.push({ id, value, hop: 0 });
    this.#settle();
  }

  /** Switches a rule; returns whether it is on now. */
  switch(index: number): boolean {
    const one = this.#rules[index]!;
    one.isOn = !one.isOn;
    one.step?.stop();
    if (one.isOn) this.#start([one]);
    return one.isOn;
  }

  pass(ms: number): void {
    this.#clock.pass(ms);
  }

  #start(rules: readonly ModelRule[]): void {
    this.#isInTurn = true;
    for (const one of rules) {
      const { rule, sources } = one;
      one.hasRun = false;
      one.last = isList(rule.from) && sources.length === 1 ? this.#values.get(sources[0]!) : undefined;
      one.previous = undefined;
      one.fired.clear();
      one.step = rule.step && createStep(rule.step, this.#clock, (value) => this.#tellStep(rule, value));
      if (rule.startWith === undefined) continue;
      if (one.step === undefined) this.#emit(rule, { value: rule.startWith }, rule.startWith);
      else one.step.put(rule.startWith);
    }
    for (const one of rules) one.begins = one.rule.atStart;
    this.#settle();
  }

  /** What a step tells at once belongs to the turn, and what it tells later is a turn of its own. */
  #tellStep(rule: NetworkRule, value: number): void {
    const shown = Math.round((value + nudge) * 10 ** digits) / 10 ** digits;
    this.#emit(rule, { value: shown }, shown);
    if (!this.#isInTurn) this.#settle();
  }

  #settle(): void {
    this.#isInTurn = true;
    let writes = 0;
    for (;;) {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        this.isWild ||= ++writes > wildWrites;
        if (this.isWild) this.#queue.length = 0;
        this.#hop = next.hop + 1;
        this.#deliver(next.id, next.value);
      }
      const waiting = this.#rules.filter(({ dueAfter, begins }) => dueAfter !== undefined || begins);
      const [first] = waiting.sort((a, b) => a.order - b.order);
      if (first === undefined || this.isWild) break;
      this.#hop = first.dueAfter ?? 0;
      first.dueAfter = undefined;
      first.begins = false;
      if (isList(first.rule.from)) this.#begin(first);
      else this.#runNamed(first, first.rule.from);
    }
    this.#hop = 0;
    this.#isInTurn = false;
  }

  #deliver(id: string, value: number): void {
    const isChange = isTrigger(id) || this.#values.get(id) !== value;
    if (isChange) {
      if (!isTrigger(id)) this.#store(id, value);
      this.changes.push(`${id}=${isTrigger(id) ? 1 : value}`);
    }
    for (const one of this.#rules) {
      if (!one.isOn || !(isChange || one.rule.listensToWrites)) continue;
      for (const source of one.sources) if (source === id) this.#listen(one, id, value);
    }
  }

  #listen(one: ModelRule, id: string, value: number): void {
    if (!isList(one.rule.from)) {
      if (!one.begins) one.dueAfter ??= this.#hop;
      one.fired.add(id);
      return;
    }
    one.hasRun = true;
    if (one.last !== undefined) one.previous = one.last;
    one.last = value;
    this.#run(one, { value, previous: one.previous }, value);
  }

  #begin(one: ModelRule): void {
    if (one.hasRun) return;
    const states = one.sources.filter((id) => !isTrigger(id));
    const [newest] = states.sort((a, b) => (this.#setAt.get(b) ?? 0) - (this.#setAt.get(a) ?? 0));
    const value = newest === undefined ? 1 : this.#values.get(newest);
    if (value === undefined) return;
    one.last = value;
    this.#run(one, { value, previous: one.previous }, value);
  }

  #runNamed(one: ModelRule, from: Readonly<Record<string, string>>): void {
    const now = (id: string) => (isTrigger(id) ? Number(one.fired.has(id)) : this.#values.get(id));
    const scope = Object.fromEntries(Object.entries(from).map(([name, id]) => [name, now(id)]));
    one.fired.clear();
    if (one.rule.requiresAny || Object.values(scope).every((value) => value !== undefined))
      this.#run(one, scope, undefined);
  }

  #run({ rule, step }: ModelRule, scope: Scope, value: number | undefined): void {
    if (rule.when !== undefined && !((this.#compute(rule.when, scope) ?? 0) > threshold)) return;
    const result = rule.map === undefined ? value : this.#compute(rule.map, scope);
    if (isAsItCame(rule)) this.#emit(rule, scope, value);
    else if (result === undefined) return;
    else if (step === undefined) this.#emit(rule, { value: result }, result);
    else step.put(result);
  }

  #emit({ to, split }: NetworkRule, scope: Scope, value: number | undefined): void {
    const values = split === undefined ? to.map(() => value) : split.map((term) => this.#compute(term, scope));
    for (const [index, id] of to.entries()) {
      if (values[index] === undefined) continue;
      if (this.#hop > maxHops) this.dropped++;
      else this.#queue.push({ id, value: values[index], hop: this.#hop });
    }
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
    if (term.is === 'choice') {
      const on = this.#compute(term.on, scope);
      return on === undefined ? undefined : this.#compute(on > threshold ? term.above : term.below, scope);
    }
    const [left, right] = [this.#compute(term.left, scope), this.#compute(term.right, scope)];
    return left === undefined || right === undefined ? undefined : Math.min(3, Math.max(0, left + right));
  }
}

interface Timer {
  readonly atMs: number;
  readonly work: () => void;
}

class ModelClock {
  nowMs = 0;
  /** In the order in which they were set. */
  #timers: Timer[] = [];

  /** Returns what takes it back. */
  set(inMs: number, work: () => void): () => void {
    const timer = { atMs: this.nowMs + inMs, work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  pass(ms: number): void {
    const endMs = this.nowMs + ms;
    for (;;) {
      const atMs = Math.min(...this.#timers.map((one) => one.atMs));
      if (atMs > endMs) break;
      const next = this.#timers.find((one) => one.atMs === atMs)!;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.nowMs = atMs;
      next.work();
    }
    this.nowMs = endMs;
  }
}

/** A step of a rule that runs. */
interface ModelStep {
  put(value: number): void;
  stop(): void;
}

function createStep(step: GradualStep, clock: ModelClock, notify: (value: number) => void): ModelStep {
  return step.is === 'ramp' ? createRamp(step, clock, notify) : createAverage(step, clock, notify);
}

function createRamp({ overMs, everyMs = 50 }: GradualStep, clock: ModelClock, notify: (value: number) => void) {
  let present: number | undefined;
  let stop = () => {};
  const go = (value: number) => {
    present = value;
    notify(value);
  };
  return {
    stop: () => stop(),
    put(target: number) {
      stop();
      if (present === undefined) return go(target);
      if (present === target) return;
      const [start, startMs] = [present, clock.nowMs];
      let isOver = false;
      const wait = () => {
        const takeBack = clock.set(everyMs, tick);
        stop = () => {
          isOver = true;
          takeBack();
        };
      };
      const tick = () => {
        const share = Math.min(1, (clock.nowMs - startMs) / overMs);
        isOver = share === 1;
        go(share === 1 ? target : start + (target - start) * share);
        if (!isOver) wait();
      };
      wait();
    },
  };
}

function createAverage({ overMs, everyMs = overMs / 10 }: GradualStep, clock: ModelClock, notify: (v: number) => void) {
  const put: { readonly atMs: number; readonly value: number }[] = [];
  let reported: number | undefined;
  /** Whether it tells a mean from time to time, since the last value has not lasted long enough to be the mean. */
  let isGoing = false;
  /** How often it could tell since the last value came. */
  let quiet = 0;
  let stop = () => {};
  const tellNew = (value: number) => {
    if (value === reported) return;
    reported = value;
    notify(value);
  };
  const mean = () => {
    const fromMs = Math.max(put[0]!.atMs, clock.nowMs - overMs);
    const areas = put.map(({ atMs, value }, index) => {
      const untilMs = put[index + 1]?.atMs ?? clock.nowMs;
      return value * Math.max(0, untilMs - Math.max(atMs, fromMs));
    });
    return Number((areas.reduce((all, area) => all + area, 0) / (clock.nowMs - fromMs)).toPrecision(12));
  };
  const tick = () => {
    const isReached = ++quiet > overMs / everyMs;
    isGoing = !isReached;
    tellNew(isReached ? put.at(-1)!.value : mean());
    if (!isReached && isGoing) wait();
  };
  const wait = () => {
    stop = clock.set(everyMs, tick);
  };
  return {
    stop() {
      isGoing = false;
      stop();
    },
    put(value: number) {
      put.push({ atMs: clock.nowMs, value });
      quiet = 0;
      if (reported === undefined) tellNew(value);
      if (isGoing) return;
      isGoing = true;
      wait();
    },
  };
}

/** The place of each rule: behind those that write what it reads, but for those that it leads to itself; else top to bottom. */
function ordersOf(rules: readonly NetworkRule[]): number[] {
  const orders: number[] = [];
  const met = new Set<number>();
  let next = 0;
  const place = (index: number) => {
    if (met.has(index)) return;
    met.add(index);
    const { from } = rules[index]!;
    for (const id of isList(from) ? from : Object.values(from))
      for (const [writer, { to }] of rules.entries()) if (to.includes(id)) place(writer);
    orders[index] = next++;
  };
  for (const index of rules.keys()) place(index);
  return orders;
}
