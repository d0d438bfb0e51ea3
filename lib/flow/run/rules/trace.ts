// The most recent runs of rules, in one ring per rule. For a rule that only copies, even the few stores for a run are too expensive, and
// for any rule, reading the clock is too expensive. Therefore, the runs of rules that only copy, and all durations, are recorded only after
// they were requested. The last run of a rule that only copies is known anyway, from the last change of its source.

import type { Unsubscribable } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import { unknownName } from '../../../json5/nearest-name.ts';
import { describe, HubError } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import type { RuleRuns } from '../../../model/reports/rule-status.ts';
import type { Value } from '../../../model/value.ts';
import { KeptRuns } from './kept-runs.ts';

/** How long a rule is recorded in detail after its trace was read, in milliseconds. */
const watchedMs = 300_000;

/** The rule to which a trace belongs, identified by its name and file. */
export interface TracedRule {
  readonly name: string;
  readonly file: string;
  readonly to: readonly string[];
}

/** Opens and reads the traces of the running rules. */
export interface Traces {
  /**
   * Opens the trace of a rule. Unsubscribe from the trace when the rule ends. `copies` is the source of a rule that only copies, and
   * undefined for any other rule.
   */
  open(rule: TracedRule, copies: Parameter | undefined): RuleTrace;
  /** Returns the most recent runs of the rules with this name. Errors: `not-found`, which suggests the most similar name. */
  runsOf(name: string): RuleRuns[];
}

export function createTraces(graph: Graph): Traces {
  const traces = new Set<RuleTrace>();
  return {
    open(rule, copies) {
      const trace = new RuleTrace({ rule, copies, graph, traces });
      traces.add(trace);
      return trace;
    },
    runsOf(name) {
      const found = [...traces].filter(({ rule }) => rule.name === name);
      if (found.length > 0) return found.map((trace) => trace.read());
      throw new HubError(
        'not-found',
        unknownName('rule', name, [...new Set([...traces].map(({ rule }) => rule.name))]),
      );
    },
  };
}

interface TraceParts {
  readonly rule: TracedRule;
  readonly copies: Parameter | undefined;
  readonly graph: Graph;
  /** The traces of all rules that have not ended. */
  readonly traces: Set<RuleTrace>;
}

/**
 * The most recent runs of one rule. The trace itself stores the runs, because another object would be one more cache miss. A run consists
 * of `begin`, at most one of `stop` and `result`, `fail` if the run fails, and `end`.
 */
export class RuleTrace extends KeptRuns implements Unsubscribable {
  readonly rule: TracedRule;
  readonly copies: Parameter | undefined;
  /**
   * Whether the rule's runs are recorded. Check this before calling `begin`, `result` or `end`, because even a call without effect costs
   * too much in a rule that only copies.
   */
  isRecorded: boolean;
  readonly #graph: Graph;
  readonly #traces: Set<RuleTrace>;
  readonly #openedAt: number;
  #isOpen = false;
  #isWatched = false;
  #watchedUntil = 0;
  #beganAt = 0;

  constructor({ rule, copies, graph, traces }: TraceParts) {
    super();
    this.rule = rule;
    this.copies = copies;
    this.#graph = graph;
    this.#traces = traces;
    this.#openedAt = graph.revision;
    this.isRecorded = copies === undefined;
  }

  unsubscribe(): void {
    this.#traces.delete(this);
    this.giveBack();
  }

  /** Begins a run that was started by the change currently being delivered. */
  begin(): void {
    this.#isOpen = true;
    this.add(this.#graph.cause, this.#graph.now);
    if (this.#isWatched) this.#beganAt = performance.now();
  }

  /** Records that the rule's condition was false in the current run. */
  stop(): void {
    if (this.isRecorded) this.addStop();
  }

  /** Records a value for all destinations. Outside a run, for example after a `delay`, the value counts as a separate run. */
  result(value: unknown): void {
    if (!this.#isOpen) this.add(this.#graph.cause, this.#graph.now);
    this.addResult(isValue(value) ? value : describe(value));
  }

  /** Like `result`, but with a separate value for each destination; undefined for a destination that receives no value. */
  results(values: readonly (Value | undefined)[]): void {
    if (!this.#isOpen) this.add(this.#graph.cause, this.#graph.now);
    this.addResults(values);
  }

  /** Records that the current run failed, or that the given destination refused the value. */
  fail(message: string, destination?: string): void {
    if (!this.isRecorded) this.#addCopied();
    this.addFailure(message, destination);
  }

  end(): void {
    this.#isOpen = false;
    if (!this.#isWatched) return;
    const now = performance.now();
    this.addDuration((now - this.#beganAt) * 1000);
    if (now < this.#watchedUntil) return;
    this.#isWatched = false;
    this.isRecorded = this.copies === undefined;
  }

  /** Returns the most recent runs, latest first. From then on, the rule's runs are recorded in detail. */
  read(): RuleRuns {
    if (!this.isRecorded) this.#addCopied();
    this.isRecorded = true;
    this.#isWatched = true;
    this.#watchedUntil = performance.now() + watchedMs;
    const { name, file, to } = this.rule;
    return { rule: name, file, isAlwaysRecorded: this.copies === undefined, runs: this.describe(to) };
  }

  /** Adds the last run of a rule that only copies, unless the run was already added or is older than the rule. */
  #addCopied(): void {
    const change = this.copies?.lastChange;
    if (change === undefined || change.revision <= this.#openedAt || change.revision === this.revision) return;
    this.add(change, this.#graph.now);
    this.addResult(change.value);
  }
}

function isValue(value: unknown): value is Value {
  return ['number', 'boolean', 'string'].includes(typeof value);
}
