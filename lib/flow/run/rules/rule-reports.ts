// Reports about rules for the log, and for the state that clients see. A rule that fails or loops is shown as failing or limited for five
// seconds after the last occurrence. A looping rule is shown as limited until a later write reaches the parameter whose write was dropped.
// No rule is switched off for these reasons.

import type { Log } from '../../../connections/connection.ts';
import { type DroppedWrite, maxHops, maxWritesPerTurn } from '../../../graph/turn.ts';
import { groupDigits } from '../../../model/digits.ts';
import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { RuleState, RuleStatus } from '../../../model/reports/rule-status.ts';

/**
 * The maximum number of looping rules reported by other hubs that are shown, because other hubs may attribute any rule name to this hub.
 */
const maxReported = 1000;
/** How long a rule is shown as limited or failing after the last occurrence, in milliseconds. */
const shownMs = 5000;

const mostWrites = groupDigits(maxWritesPerTurn);

/** Identifies a rule by name and file. Rules with the same name in one file share their state. */
export interface RuleName {
  readonly name: string;
  readonly file?: string | undefined;
}

/** The reason why a rule is not running normally, in a form suitable for display. */
interface Problem {
  readonly reason: string;
  readonly until: number;
  /** Returns whether the problem has not ended yet. */
  readonly lasts: () => boolean;
}

/** The problems of the rules with one name in one file. */
interface RuleRecord {
  faults: number;
  dropped: number;
  failing: Problem | undefined;
  limited: Problem | undefined;
  waiting: Problem | undefined;
}

export interface RuleReportsOptions {
  readonly log: Log;
  /** Returns the time in milliseconds, on a clock that never jumps. */
  readonly now: () => number;
  /** Returns this hub's name in its domain, or undefined if the hub is not in a domain. */
  readonly ownHub: () => string | undefined;
}

export class RuleReports {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #ownHub: () => string | undefined;
  readonly #records = new Map<string, RuleRecord>();
  /** The number of faults in all rules, and the number of values and writes that limits have dropped. */
  readonly totals = { faults: 0, dropped: 0 };
  /**
   * The last dropped write, with a function that reports it again. A turn may drop a hundred thousand writes from one rule, whose message
   * is formatted only once.
   */
  #last: { readonly drop: DroppedWrite; readonly change: Change | undefined; report(): void } | undefined;

  constructor({ log, now, ownHub }: RuleReportsOptions) {
    this.#log = log;
    this.#now = now;
    this.#ownHub = ownHub;
  }

  /**
   * Reports that a rule failed, either on one value, after which the rule continues with the next value, or as a whole, after which it
   * restarts.
   */
  failed(rule: RuleName, message: string): void {
    const { data, text } = named(rule);
    this.showFailed(rule, message);
    this.#log.warn(data, `${text} failed: ${message}`, `rule ${rule.file} ${rule.name}`);
  }

  /** Shows a rule as failing whose fault has already been logged, without logging the fault again. */
  showFailed(rule: RuleName, reason: string): void {
    const record = this.#recordOf(rule);
    record.faults++;
    this.totals.faults++;
    record.failing = { reason, until: this.#now() + shownMs, lasts: () => false };
  }

  /** Reports that a step in a rule dropped a value because the step was full. */
  limited(rule: RuleName, message: string): void {
    const { data, text } = named(rule);
    this.showLimited(rule, message, () => false);
    this.#log.warn(data, `${text} is limited: ${message}`);
  }

  /**
   * Shows a rule as limited because a limit dropped its write. `isStuck` returns whether every write since then has been dropped as well.
   */
  showLimited(rule: RuleName, reason: string, isStuck: () => boolean): void {
    const record = this.#recordOf(rule);
    record.dropped++;
    this.totals.dropped++;
    record.limited = { reason, until: this.#now() + shownMs, lasts: isStuck };
  }

  /** Reports that a rule is waiting for an unknown value. `isUnknown` returns whether the value is still unknown. */
  waiting(rule: RuleName, message: string, isUnknown: () => boolean): void {
    const { data, text } = named(rule);
    this.#recordOf(rule).waiting = { reason: message, until: 0, lasts: isUnknown };
    this.#log.info(data, `${text} ${message}`);
  }

  /** Reports a write that was dropped by a limit for a turn. This hub's rules that led to the write are shown as limited. */
  dropped(drop: DroppedWrite): void {
    const change = drop.write.parameter.lastChange;
    if (this.#last === undefined || this.#last.change !== change || !areAlike(this.#last.drop, drop))
      this.#last = { drop, change, report: this.#reportOf(drop) };
    this.#last.report();
  }

  /** Records that the rule starts, possibly with another body. The start clears the rule's problems. */
  started(rule: RuleName): void {
    const record = this.#records.size === 0 ? undefined : this.#records.get(keyOf(rule)); // no records exist when all rules start
    if (record) record.failing = record.limited = record.waiting = undefined;
  }

  /** Returns the current state of a running rule, with the reason and the counts. */
  stateOf(rule: RuleName): Pick<RuleStatus, 'state' | 'reason' | 'faults' | 'dropped'> {
    const { faults = 0, dropped = 0, failing, limited, waiting } = this.#records.get(keyOf(rule)) ?? {};
    const problems: [RuleState, Problem | undefined][] = [
      ['failing', failing],
      ['limited', limited],
      ['waiting', waiting],
    ];
    const [state, problem] = problems.find(([, one]) => this.#isPresent(one)) ?? ['running' as const];
    return { state, reason: problem?.reason ?? '', faults, dropped };
  }

  /** Returns a function that reports the dropped write each time it is called. */
  #reportOf({ limit, write, chain }: DroppedWrite): () => void {
    const { parameter } = write;
    const { address, lastChange } = parameter;
    const ownHub = this.#ownHub();
    const isStuck = () => parameter.lastChange === lastChange || isLate(parameter);
    const isLoop = limit === 'hops';
    const origins = isLoop ? rulesOf(chain, ownHub) : [write.origin];
    const reason = isLoop ? 'it loops' : `it made more than ${mostWrites} writes in one turn`;
    const limited = origins.filter((one) => isRule(one) && (one.hub === undefined || one.hub === ownHub));
    const rules = [...new Set(origins.map(({ name }) => name))];
    const names = rules.map((name) => `"${name}"`).join(', ');
    const sentence = isLoop
      ? `rule loop: ${names} made more than ${maxHops} hops in one turn`
      : `${origins[0]!.kind} ${names} made more than ${mostWrites} writes in one turn`;
    const consequence = `a write to ${address} was dropped`;
    return () => {
      for (const origin of limited)
        if (origin.reportedBy === undefined || this.#records.has(keyOf(origin)) || this.#records.size < maxReported)
          this.showLimited(origin, `${reason}: ${consequence}`, isStuck);
      this.#log.warn(
        { rules, parameter: address },
        `${sentence}; the write to ${address} was dropped`,
        `${limit} ${names}`,
      );
    };
  }

  #isPresent(problem: Problem | undefined): boolean {
    return problem !== undefined && (this.#now() < problem.until || problem.lasts());
  }

  #recordOf(rule: RuleName): RuleRecord {
    const key = keyOf(rule);
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const record: RuleRecord = { faults: 0, dropped: 0, failing: undefined, limited: undefined, waiting: undefined };
    this.#records.set(key, record);
    return record;
  }
}

function keyOf({ name, file = '' }: RuleName): string {
  return `${file}\n${name}`;
}

function named({ name, file }: RuleName): { readonly data: object; readonly text: string } {
  return { data: { rule: name, file }, text: `rule "${name}" (${file})` };
}

/**
 * Returns whether two writes were dropped because one rule wrote to one parameter too often, so that their chains do not have to be
 * compared.
 */
function areAlike(one: DroppedWrite, other: DroppedWrite): boolean {
  const isOfOne = one.write.origin === other.write.origin && one.write.parameter === other.write.parameter;
  return isOfOne && one.limit === 'writes' && other.limit === 'writes';
}

/** Returns each rule in a chain of changes once, even if other hubs have reported the rule several times. */
function rulesOf(chain: readonly Change[], ownHub: string | undefined): Origin[] {
  const rules = new Map<string, Origin>();
  for (const { origin } of chain) {
    const { name, file = '', hub = ownHub } = origin;
    if (isRule(origin)) rules.set(JSON.stringify([name, file, hub]), origin);
  }
  return [...rules.values()];
}

/** Returns whether the last writes in a loop across two hubs may still arrive from the hub that owns the parameter. */
function isLate({ remote, lastChange }: Parameter): boolean {
  return remote !== undefined && (lastChange?.hop ?? 0) > maxHops / 2;
}

function isRule({ kind }: Origin): boolean {
  return kind === 'rule';
}
