// The hub as a gateway sees it: all parameters, all connections, all rules.

import type { Observable } from 'rxjs';
import type { Change, Origin, Parameter, Remote, RemoteWrite } from '../model/parameter.ts';
import type { OutsideTurn, Recording } from '../model/reports/audit-entry.ts';
import type { ConnectionAction, ConnectionStatus } from '../model/reports/connection-status.ts';
import type { LogLevel, LogPage, LogStatus } from '../model/reports/log-entry.ts';
import type { LoadReport, Reload, ShadowReport } from '../model/reports/reload-report.ts';
import type { RuleRuns, RuleStatus } from '../model/reports/rule-status.ts';
import type { Durations } from '../model/time/duration.ts';
import type { Value } from '../model/value.ts';
import type { Leadership, MirroringPort } from './mirroring.ts';
import type { PersistencePort } from './persistence.ts';

/** The parameters of a hub. */
export interface Parameters {
  readonly revision: number;
  /** Every change in revision order. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changes$: Observable<Change>;
  /** Parameters that a reload has added. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly declared$: Observable<Parameter>;
  /** Parameters that a reload has taken out. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly removed$: Observable<Parameter>;
  /** Counts the parameters that have come and gone, those of other hubs as well: the list of them is another with each number. */
  readonly structure: number;
  /** How many parameters there are. */
  readonly size: number;
  /** How long turns take; of one in 64, at most one in a millisecond. */
  readonly turnDurations: Durations;
  find(address: string): Parameter | undefined;
  parameters(): Iterable<Parameter>;
  /** Oldest change first: each parameter with known state that changed after the revision; 0: all of them. */
  changedSince(revision: number): Iterable<Parameter>;
  /**
   * Writes and returns the converted value. Errors: `unknown-parameter`, `read-only`, `not-convertible`, `out-of-range`; `unavailable`
   * when the hub finds that it may no longer write the parameter.
   */
  write(address: string, input: unknown, origin: Origin): Value;
  /** Writes to a parameter that was found. Errors: as `write`, but for `unknown-parameter`. */
  writeTo(parameter: Parameter, input: unknown, origin: Origin): Value;
  /**
   * Has another hub write parameters that it owns, as one turn there. Never rejects: it resolves to the value that each has got, or
   * to its error. `write` and `writeTo` send such a write as well, and nobody hears what becomes of it.
   */
  writeRemote(remote: Remote, writes: readonly RemoteWrite[], origin: Origin): Promise<readonly (Value | Error)[]>;
  /** Makes one turn of all that `work` writes. Errors: those of `work`. */
  turn(work: () => void): void;
}

/** What runs on them: connections, rules, the log, reloads; and what can be done with it. */
export interface Operations {
  connections(): readonly ConnectionStatus[];
  /**
   * Starts, stops or restarts a connection, until a reload changes it. Errors: `not-found` with the nearest name, `conflict`
   * when that makes no sense.
   */
  control(connectionId: string, action: ConnectionAction, by: Origin): ConnectionStatus;
  /** How often rules failed, and how often a limit dropped something of them, since the hub started. */
  readonly ruleTotals: { readonly faults: number; readonly dropped: number };
  /** How each of the rules is doing, top to bottom. */
  rules(): readonly RuleStatus[];
  /** The same one by one, as they are asked for: there may be a hundred thousand. */
  eachRule(): Iterable<RuleStatus>;
  /**
   * Switches a rule on or off, until it is switched again or its flow file is another. Errors: `not-found` with the nearest
   * name, `conflict` when several rules have the name.
   */
  switchRule(name: string, file: string | undefined, isEnabled: boolean, by: Origin): RuleStatus;
  /** Reads the flow files again and swaps what has changed. Errors: `bad-flow` with every mistake, `cannot-start`; `conflict`: there are none. */
  reload(by: Origin): Promise<Reload>;
  /** The same in shadow, and what is saved from now on as well, until a `reload`. Errors: as `reload`. */
  reloadInShadow(by: Origin): Promise<ShadowReport>;
  /** What the last load of the flow files said. */
  files(): LoadReport;
  /** What was logged after an entry, of a level or a graver one: of the newest 2,000 entries. */
  log(after: number, least: LogLevel): LogPage;
  /** Resolves when the log has the entries of earlier runs, for which the start of a hub does not wait; undefined: it has. */
  earlierLog(): Promise<void> | undefined;
  /** How the log is being written. */
  logStatus(): LogStatus;
  /** The last runs of the rules of this name. Errors: `not-found`, with the nearest name. */
  runsOf(rule: string): readonly RuleRuns[];
  /** Calls back with each turn in which something came from outside, until the recording is stopped. */
  record(next: (turn: OutsideTurn) => void): Recording;
  /** What would have been done in shadow beside what was done; undefined: nothing is in shadow. */
  shadow(): ShadowReport | undefined;
  /** The last change of a parameter in shadow, where it was made there or the value is not what is live; undefined: it is the same. */
  wouldBe(address: string): Change | undefined;
}

/** The whole hub, as gateways see it. */
export interface HubPort extends Parameters, Operations {
  readonly version: string;
  /** Names this run of the hub; revisions of different epochs do not compare. */
  readonly epoch: string;
  /** When the hub started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** For how long it has run, whatever the clock shows. */
  readonly uptimeMs: number;
  /** What a store keeps. */
  readonly persistence: PersistencePort;
  /** The parameters of other hubs. */
  readonly mirroring: MirroringPort;
  /** Whether connections and rules run. */
  readonly leadership: Leadership;
}
