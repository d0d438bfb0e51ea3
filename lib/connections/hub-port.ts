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
  /** Every change in revision order. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changes$: Observable<Change>;
  /** Parameters that a reload has added. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly declared$: Observable<Parameter>;
  /** Parameters that a reload has removed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly removed$: Observable<Parameter>;
  /** Changes whenever the list of parameters changes, including those of other hubs. */
  readonly structure: number;
  /** The number of parameters. */
  readonly size: number;
  /** The time that turns take; measured in one of 64 turns, at most once per millisecond. */
  readonly turnDurations: Durations;
  find(address: string): Parameter | undefined;
  parameters(): Iterable<Parameter>;
  /** Each parameter with a known state that changed after the revision, oldest change first; 0 means all of them. */
  changedSince(revision: number): Iterable<Parameter>;
  /** Each parameter with a known state, newest change first. Read it in one go: a change meanwhile moves its parameter. */
  newestFirst(): Iterable<Parameter>;
  /**
   * Writes and returns the converted value. Errors: `unknown-parameter`, `read-only`, `not-convertible`, `out-of-range`; `unavailable` if
   * the hub detects that it may no longer write the parameter.
   */
  write(address: string, input: unknown, origin: Origin): Value;
  /** Writes a parameter. Errors: the same as `write`, except `unknown-parameter`. */
  writeTo(parameter: Parameter, input: unknown, origin: Origin): Value;
  /**
   * Makes another hub write parameters that it owns, in one turn. Never rejects: it resolves to the new value of each, or to its error.
   * `write` and `writeTo` send such writes as well, but do not report the result.
   */
  writeRemote(remote: Remote, writes: readonly RemoteWrite[], origin: Origin): Promise<readonly (Value | Error)[]>;
  /** Combines all writes of `work` into one turn. Errors: any error from `work`. */
  turn(work: () => void): void;
}

/** The operation of the hub: connections, rules, the log, reloads. */
export interface Operations {
  connections(): readonly ConnectionStatus[];
  /**
   * Starts, stops or restarts a connection, until a reload changes it, or for a term. Errors: `not-found` with the nearest name; `conflict` if it is
   * already in that state.
   */
  control(connectionId: string, action: ConnectionAction, by: Origin, term?: SwitchTerm): ConnectionStatus;
  /** Writes that a device has not confirmed yet. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly wanted$: Observable<Change>;
  /**
   * Resolves when the device has confirmed the newest write to a parameter; immediately when no write is pending. Errors: `not-confirmed`
   * when it refuses the write or does not confirm it in time, `unavailable` when it is offline, `conflict` when a newer write replaces this
   * one.
   */
  whenConfirmed(parameter: Parameter, limitMs: number): Promise<void>;
  /** Returns the recent frames of a connection after the frame with this number. Errors: `not-found` with the nearest name. */
  wire(connectionId: string, after: number): readonly ShownFrame[];
  /** The number of times that rules have failed, and that a limit has dropped their events, since the hub started. */
  readonly ruleTotals: { readonly faults: number; readonly dropped: number };
  /** The traffic of connections, in the order of the flow files. */
  ways(): Iterable<Way>;
  /** The state of each rule, top to bottom. */
  rules(): readonly RuleStatus[];
  /** Like `rules`, as an iterable, because there may be a hundred thousand rules. */
  eachRule(): Iterable<RuleStatus>;
  /**
   * Switches a rule on or off, until it is switched again or its flow file changes; with a term, until that is over, also over saves and
   * restarts. Errors: `not-found` with the nearest name, `conflict`
   * if several rules have the name.
   */
  switchRule(name: string, file: string | undefined, isEnabled: boolean, by: Origin, term?: SwitchTerm): RuleStatus;
  /** The rules and connections that operators have switched against their flow files. */
  overrides(): readonly Override[];
  /** Returns what names a parameter. */
  usagesOf(address: string): Uses;
  /**
   * Reloads the flow files and applies the differences. Errors: `bad-flow` with every error; `cannot-start`; `conflict` if there are no
   * flow files.
   */
  reload(by: Origin): Promise<Reload>;
  /** Does the same in shadow, even for files that are saved later, until a `reload`. Errors: the same as `reload`. */
  reloadInShadow(by: Origin): Promise<ShadowReport>;
  /** The result of the last load of the flow files. */
  files(): LoadReport;
  /** Returns the log entries after a given one, of at least a given level, among the newest 2,000. */
  log(after: number, least: LogLevel): LogPage;
  /**
   * Resolves when the log contains the entries of earlier runs, for which the start of a hub does not wait; undefined if it already
   * contains them.
   */
  earlierLog(): Promise<void> | undefined;
  /** Whether the log can be written. */
  logStatus(): LogStatus;
  /** The last runs of the rules with this name. Errors: `not-found`, with the nearest name. */
  runsOf(rule: string): readonly RuleRuns[];
  /** Calls `next` for each turn with input from outside, until the recording is stopped. */
  record(next: (turn: OutsideTurn) => void): Recording;
  /** The deviations of the rules in shadow; undefined if nothing is in shadow. */
  shadow(): ShadowReport | undefined;
  /**
   * The last change of a parameter in shadow, if it was made there or differs from the live value; undefined if it is the same as the live
   * one.
   */
  wouldBe(address: string): Change | undefined;
}

/** A request to a webhook of the hub. */
export interface Delivery {
  /** Returns a header by its name in lower case; empty if there is none. */
  readonly header: (name: string) => string;
  /** The query of the URL, without `?`. */
  readonly query: string;
  /** The media type of the body in lower case; empty if its charset is not UTF-8. */
  readonly type: string;
  readonly body: Buffer;
  /** The address of the sender. */
  readonly sender: string;
}

/** A webhook that a connection receives. */
export interface Hook {
  /**
   * Checks the sender, then sets values. `undo` has a repetition of the delivery count as a new one. Errors: `unauthorized`, `body-type`,
   * `body-too-large`, `unprocessable`, `too-many-requests`.
   */
  receive(delivery: Delivery): { undo(): void };
  readonly totals: { readonly accepted: number; readonly repeated: number; readonly refused: number };
}

/** The messages of a connection since it started: webhooks and mail. */
export interface MessageTotals {
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
  readonly pending: number;
}

/** The times of a schedule, for display. */
export interface Agenda {
  readonly zone: string;
  /** Describes the week, from Monday, that is `week` weeks after the one of `nowMs`, milliseconds since 1970. */
  read(week: number, nowMs: number): AgendaWeek;
}

export interface AgendaWeek {
  /** The dates of its seven days. */
  readonly days: readonly string[];
  readonly entries: readonly AgendaEntry[];
}

/** The times of an entry, in minutes since midnight of days that are counted from Monday, as a clock in the zone shows them. */
export interface AgendaEntry {
  readonly name: string;
  /** When it is open; undefined means that it fires. */
  readonly bars?: readonly { readonly day: number; readonly from: number; readonly to: number }[];
  /** When it fires; at most 300 times. */
  readonly fires?: readonly { readonly day: number; readonly at: number }[];
  /** The days on which it neither opens nor fires, because they are excepted. */
  readonly except: readonly number[];
  /** The next times, milliseconds since 1970, at which it opens, closes or fires; at most five. */
  readonly next: readonly { readonly timeMs: number; readonly isOpen?: boolean }[];
}

/** The whole hub as gateways see it. */
export interface HubPort extends Parameters, Operations {
  readonly version: string;
  /** Identifies this run of the hub; revisions are comparable only within an epoch. */
  readonly epoch: string;
  /** When the hub started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The time for which it has run, independent of the machine's clock. */
  readonly uptimeMs: number;
  /** The data of the store, and its queries. */
  readonly persistence: PersistencePort;
  /** The parameters of other hubs. */
  readonly mirroring: MirroringPort;
  /** The flow files, for people who may edit them; undefined if the hub was not started from files. */
  readonly editing: Editing | undefined;
  /** Returns the recipes of the cookbook that a browser can offer. */
  recipes(): Promise<readonly RecipeForm[]>;
  /** Fills a recipe; `mayRead`: which addresses it may know of. Errors: `bad-request`. */
  fillRecipe(
    name: string,
    own: string,
    given: Readonly<Record<string, string>>,
    mayRead: (address: string) => boolean,
  ): Promise<{ readonly file: string; readonly text: string }>;
  /** Whether this hub leads and thus runs connections and rules. */
  readonly leadership: Leadership;
  /** The webhooks that running connections receive, by name. Each connection adds and removes its own. */
  readonly hooks: Map<string, Hook>;
  /** The totals of connections that send messages, by Connection ID. */
  readonly outboxes: Map<string, () => MessageTotals>;
  /** The schedules that run, by Connection ID. */
  readonly agendas: Map<string, Agenda>;
}
