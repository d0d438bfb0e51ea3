// Whether this hub does its work: the other side of what a gateway decides.

import type { Duty, HeldBack, Watch } from '../connections/duty.ts';
import type { Plan } from '../flow/plan.ts';
import type { Keeping } from '../flow/run/connections/keeping.ts';
import type { RunningConnections } from '../flow/run/connections/running-connections.ts';
import type { RunningRules } from '../flow/run/rules/running-rules.ts';
import type { Graph } from '../graph/graph.ts';

/** A hub that nobody holds back. */
const always: Watch = { term: 0, goesOn: true };

/** How long connections wait for what a store gives back: one that takes over has the values already, and others wait for it. */
const patienceMs = { ofHeir: 10_000, ofFirst: 30_000 };

interface DutyParts {
  readonly graph: Graph;
  readonly keeping: Keeping;
  readonly connections: RunningConnections;
  readonly rules: RunningRules;
}

export class HubDuty implements Duty {
  readonly #parts: DutyParts;
  readonly #tellStarted: () => void;
  #watch: Watch | undefined = always;
  #isDoneElsewhere = false;
  #rulesRun = true;
  #isStarted = false;
  #hasEnded = false;
  hasBegun = false;

  /** `tellStarted` is called once all runs for the first time, unless it goes on from before. */
  constructor(parts: DutyParts, tellStarted: () => void) {
    this.#parts = parts;
    this.#tellStarted = tellStarted;
  }

  get watch(): Watch | undefined {
    return this.#watch;
  }

  get isDone(): boolean {
    return this.#watch !== undefined || this.#isDoneElsewhere;
  }

  /** Has the first gateways start, of which one may hold everything else back. Errors: those of `startGateways`. */
  start(plan: Plan, startGateways: () => void): void {
    const reason = reasonToHold(plan);
    if (reason !== undefined) void this.end(reason);
    startGateways();
  }

  /** Has the gateways of a plan take the place of others, of which one may hold everything else back. Errors: those of `swapGateways`. */
  swap(plan: Plan, swapGateways: () => void): void {
    const reason = reasonToHold(plan);
    const wasAlways = this.#watch === always;
    if (wasAlways && reason !== undefined) void this.end(reason);
    try {
      swapGateways();
    } catch (error) {
      if (wasAlways) this.begin(always);
      throw error;
    }
    if (reason !== undefined) return;
    this.holdBack(new Map());
    if (this.#watch !== always) this.begin(always);
  }

  begin(watch: Watch): void {
    if (this.#hasEnded) return;
    const { graph, connections, keeping } = this.#parts;
    this.#watch = watch;
    this.hasBegun = true;
    graph.mayAct = watch.mayAct;
    if (watch.goesOn) keeping.forgetRecalled();
    const given = connections.holdNoLonger(watch.goesOn ? patienceMs.ofHeir : patienceMs.ofFirst);
    if (given === undefined) this.#beginRules(watch);
    else void given.then(() => this.#beginRules(watch));
  }

  #beginRules(watch: Watch): void {
    if (this.#watch !== watch || this.#hasEnded) return;
    this.#parts.rules.hold(undefined, !watch.goesOn);
    this.#rulesRun = true;
    if (this.#isStarted && !watch.goesOn) this.#tellStarted();
  }

  end(reason: string, isDoneElsewhere = false): Promise<void> {
    const { connections, rules } = this.#parts;
    this.#watch = undefined;
    this.#isDoneElsewhere = isDoneElsewhere;
    this.#rulesRun = false;
    if (!this.#hasEnded) {
      rules.hold(reason, false);
      connections.holdAll(reason);
    }
    return connections.whenQuiet();
  }

  holdBack(held: HeldBack): void {
    if (!this.#hasEnded) this.#parts.connections.holdSome(held);
  }

  /** All that may run has been started. */
  started(): void {
    this.#isStarted = true;
    if (this.#watch !== undefined) this.hasBegun = true;
    if (this.#watch !== undefined && this.#rulesRun) this.#tellStarted();
  }

  /** Begins nothing any more. */
  stop(): void {
    this.#hasEnded = true;
  }
}

/** Why a hub with such gateways does no work until one of them says so; undefined: none decides that. */
function reasonToHold({ connections }: Plan): string | undefined {
  const reasons = connections.map(({ enabled, type, settings }) =>
    enabled && type.isGateway ? type.holdsBack?.(settings) : undefined,
  );
  return reasons.find((one) => one !== undefined);
}
