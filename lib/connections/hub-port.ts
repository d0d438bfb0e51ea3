// The hub as seen by a gateway: all parameters, all connections, all rules.

import type { Observable } from 'rxjs';
import type { Change, Origin, Parameter, Remote, RemoteWrite } from '../model/parameter.ts';
import type { OutsideTurn, Recording } from '../model/reports/audit-entry.ts';
import type { ConnectionAction, ConnectionStatus, Way } from '../model/reports/connection-status.ts';
import type { LogLevel, LogPage, LogStatus } from '../model/reports/log-entry.ts';
import type { LoadReport, Reload, ShadowReport } from '../model/reports/reload-report.ts';
import type { Override, RuleRuns, RuleStatus, SwitchTerm } from '../model/reports/rule-status.ts';
import type { ShownFrame } from '../model/reports/wire-log.ts';
import type { Durations } from '../model/time/duration.ts';
import type { Value } from '../model/value.ts';
import type { Editing, RecipeForm, Uses } from './editing.ts';
import type { Leadership, MirroringPort } from './mirroring.ts';
import type { PersistencePort } from './persistence.ts';

/** The parameters of a hub. */
export interface Parameters {
  readonly revision: number;
  /** All changes in revision order. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changes$: Observable<Change>;
  /** The parameters that a reload has added. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly declared$: Observable<Parameter>;
  /** The parameters that a reload has removed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly removed$: Observable<Parameter>;
  /** A number that changes whenever the list of parameters changes, including parameters of other hubs. */
  readonly structure: number;
  /** The number of parameters. */
  readonly size: number;
  /** The durations of turns, measured in one of 64 turns, at most once per millisecond. */
  readonly turnDurations: Durations;
  find(address: string): Parameter | undefined;
  parameters(): Iterable<Parameter>;
  /** Returns the parameters with a known state that have changed since the revision, oldest change first; 0 means all parameters. */
  changedSince(revision: number): Iterable<Parameter>;
  /** Returns the parameters with a known state, newest change first. Iterate synchronously, because a change moves its parameter. */
  newestFirst(): Iterable<Parameter>;
  /**
   * Writes a value and returns the converted value. Errors: `unknown-parameter`, `read-only`, `not-convertible`, `out-of-range`;
   * `unavailable` if the hub finds that it may no longer write the parameter.
   */
  write(address: string, input: unknown, origin: Origin): Value;
  /** Writes a parameter. Errors: the same as `write`, except `unknown-parameter`. */
  writeTo(parameter: Parameter, input: unknown, origin: Origin): Value;
  /**
   * Makes another hub write parameters that it owns, in one turn. Never rejects: resolves to the new value or the error for each write.
   * `write` and `writeTo` also send such writes, but do not report the results.
   */
  writeRemote(remote: Remote, writes: readonly RemoteWrite[], origin: Origin): Promise<readonly (Value | Error)[]>;
  /** Combines all writes of `work` into one turn. Errors: any error from `work`. */
  turn(work: () => void): void;
}

/** The operation of the hub: connections, rules, the log, and reloads. */
export interface Operations {
  connections(): readonly ConnectionStatus[];
  /**
   * Starts, stops or restarts a connection, until a reload changes the connection or for a limited time. Errors: `not-found` with the
   * nearest name; `conflict` if the connection is already in this state.
   */
  control(connectionId: string, action: ConnectionAction, by: Origin, term?: SwitchTerm): ConnectionStatus;
  /** The writes that a device has not confirmed yet. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly wanted$: Observable<Change>;
  /**
   * Resolves when the device has confirmed the newest write to a parameter; immediately if no write is pending. Errors: `not-confirmed` if
   * the device refuses the write or does not confirm it in time, `unavailable` if the device is offline, `conflict` if a newer write
   * replaces this one.
   */
  whenConfirmed(parameter: Parameter, limitMs: number): Promise<void>;
  /** Returns a connection's recent frames that follow the frame with this number. Errors: `not-found` with the nearest name. */
  wire(connectionId: string, after: number): readonly ShownFrame[];
  /** How often rules have failed, and how often a limit has dropped their events, since the hub started. */
  readonly ruleTotals: { readonly faults: number; readonly dropped: number };
  /** Returns the traffic of connections, in the order of the flow files. */
  ways(): Iterable<Way>;
  /** Returns the state of each rule, from top to bottom. */
  rules(): readonly RuleStatus[];
  /** Like `rules`, as an iterable, because there may be a hundred thousand rules. */
  eachRule(): Iterable<RuleStatus>;
  /**
   * Switches a rule on or off, until the rule is switched again or its flow file changes. With a time limit, the switch lasts until the
   * limit is reached, even across saves and restarts. Errors: `not-found` with the nearest name, `conflict` if several rules have this
   * name.
   */
  switchRule(name: string, file: string | undefined, isEnabled: boolean, by: Origin, term?: SwitchTerm): RuleStatus;
  /** Returns the rules and connections whose state operators have switched to differ from the flow files. */
  overrides(): readonly Override[];
  /** Returns where a parameter is named. */
  usagesOf(address: string): Uses;
  /**
   * Reloads the flow files and applies the differences. Errors: `bad-flow` with all errors, `cannot-start`, `conflict` if there are no flow
   * files.
   */
  reload(by: Origin): Promise<Reload>;
  /** Like `reload`, but in shadow, even for files that are saved later, until the next `reload`. Errors: the same as `reload`. */
  reloadInShadow(by: Origin): Promise<ShadowReport>;
  /** Returns the result of the last time the flow files were loaded. */
  files(): LoadReport;
  /** Returns the log entries after a given entry with at least a given level, among the newest 2,000 entries. */
  log(after: number, least: LogLevel): LogPage;
  /**
   * Resolves when the log contains the entries from earlier runs, for which the start of the hub does not wait. Returns undefined if the
   * log already contains them.
   */
  earlierLog(): Promise<void> | undefined;
  /** Returns whether the log can be written. */
  logStatus(): LogStatus;
  /** Returns the last runs of the rules with this name. Errors: `not-found` with the nearest name. */
  runsOf(rule: string): readonly RuleRuns[];
  /** Calls `next` for each turn with input from outside, until the recording is stopped. */
  record(next: (turn: OutsideTurn) => void): Recording;
  /** Returns how the rules in shadow deviate from the live rules, or undefined if nothing is in shadow. */
  shadow(): ShadowReport | undefined;
  /**
   * Returns the last change of a parameter in shadow, if the change was made there or its value differs from the live value, or undefined
   * if it equals the live change.
   */
  wouldBe(address: string): Change | undefined;
}

/** A request to one of the hub's webhooks. */
export interface Delivery {
  /** Returns the header with this lower-case name, or empty if there is none. */
  readonly header: (name: string) => string;
  /** The query of the URL, without `?`. */
  readonly query: string;
  /** The media type of the body, in lower case; empty if the charset is not UTF-8. */
  readonly type: string;
  readonly body: Buffer;
  /** The address of the sender. */
  readonly sender: string;
}

/** A webhook that a connection receives. */
export interface Hook {
  /**
   * Checks the sender, and then sets values. After `undo`, a repetition of the delivery counts as a new delivery. Errors: `unauthorized`,
   * `body-type`, `body-too-large`, `unprocessable`, `too-many-requests`.
   */
  receive(delivery: Delivery): { undo(): void };
  readonly totals: { readonly accepted: number; readonly repeated: number; readonly refused: number };
}

/** The number of messages that a connection has sent or received since it started: webhooks and mail. */
export interface MessageTotals {
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
  readonly pending: number;
}

/** The times of a schedule, for display. */
export interface Agenda {
  readonly zone: string;
  /** Describes the week, starting on Monday, that is `week` weeks after the week that contains `nowMs`, in milliseconds since 1970. */
  read(week: number, nowMs: number): AgendaWeek;
}

export interface AgendaWeek {
  /** The dates of the seven days. */
  readonly days: readonly string[];
  readonly entries: readonly AgendaEntry[];
}

/** The times of an entry, in minutes since midnight on days counted from Monday, as shown by a clock in the time zone. */
export interface AgendaEntry {
  readonly name: string;
  /** The periods in which the entry is open; undefined if the entry fires instead. */
  readonly bars?: readonly { readonly day: number; readonly from: number; readonly to: number }[];
  /** The times at which the entry fires, up to 300. */
  readonly fires?: readonly { readonly day: number; readonly at: number }[];
  /** The days on which the entry neither opens nor fires, because they are exceptions. */
  readonly except: readonly number[];
  /** The next times at which the entry opens, closes or fires, up to five, in milliseconds since 1970. */
  readonly next: readonly { readonly timeMs: number; readonly isOpen?: boolean }[];
}

/** The whole hub as gateways see it. */
export interface HubPort extends Parameters, Operations {
  readonly version: string;
  /** Identifies this run of the hub. Revisions are comparable only within the same epoch. */
  readonly epoch: string;
  /** When the hub started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The time for which the hub has been running, independent of the machine's clock. */
  readonly uptimeMs: number;
  /** The store's data and queries. */
  readonly persistence: PersistencePort;
  /** The parameters of other hubs. */
  readonly mirroring: MirroringPort;
  /** The flow files, for people who may edit them; undefined if the hub was not started from files. */
  readonly editing: Editing | undefined;
  /** Returns the cookbook recipes that a browser can offer. */
  recipes(): Promise<readonly RecipeForm[]>;
  /** Fills in a recipe; `mayRead` returns which addresses the recipe may use. Errors: `bad-request`. */
  fillRecipe(
    name: string,
    own: string,
    given: Readonly<Record<string, string>>,
    mayRead: (address: string) => boolean,
  ): Promise<{ readonly file: string; readonly text: string }>;
  /** Whether this hub leads and therefore runs connections and rules. */
  readonly leadership: Leadership;
  /** The webhooks that running connections receive, by name. Each connection adds and removes its own webhooks. */
  readonly hooks: Map<string, Hook>;
  /** The totals of connections that send messages, by Connection ID. */
  readonly outboxes: Map<string, () => MessageTotals>;
  /** The running schedules, by Connection ID. */
  readonly agendas: Map<string, Agenda>;
}
