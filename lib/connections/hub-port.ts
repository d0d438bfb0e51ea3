// The hub from the point of view of a gateway, with all parameters, connections and rules.

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

/** Access to the parameters of a hub. */
export interface Parameters {
  readonly revision: number;
  /** Emits all changes in revision order. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changes$: Observable<Change>;
  /** Emits each parameter that has been added. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly declared$: Observable<Parameter>;
  /** Emits each parameter that has been removed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly removed$: Observable<Parameter>;
  /** A number that changes whenever parameters are added or removed, including parameters of other hubs. */
  readonly structure: number;
  /** The number of parameters in the hub. */
  readonly size: number;
  /** The durations of turns. One in 64 turns is measured, at most one per millisecond. */
  readonly turnDurations: Durations;
  find(address: string): Parameter | undefined;
  parameters(): Iterable<Parameter>;
  /**
   * Returns the parameters with a known state that have changed since a revision, oldest change first. The revision 0 stands for all
   * parameters.
   */
  changedSince(revision: number): Iterable<Parameter>;
  /**
   * Returns the parameters with a known state, newest change first. The iteration must be synchronous, because a change moves its
   * parameter.
   */
  newestFirst(): Iterable<Parameter>;
  /**
   * Writes a parameter and returns the converted value. Errors: `unknown-parameter`, `read-only`, `not-convertible`, `out-of-range`;
   * `unavailable` if the hub finds that it may no longer write the parameter.
   */
  write(address: string, input: unknown, origin: Origin): Value;
  /** Writes a parameter and returns the converted value. Errors: the same as for `write`, except `unknown-parameter`. */
  writeTo(parameter: Parameter, input: unknown, origin: Origin): Value;
  /**
   * Requests another hub to write parameters that it owns, in one turn. Resolves to the new value or the error for each write. Never
   * rejects. `write` and `writeTo` also send such requests but do not report the results.
   */
  writeRemote(remote: Remote, writes: readonly RemoteWrite[], origin: Origin): Promise<readonly (Value | Error)[]>;
  /** Combines all writes made in `work` into one turn. Errors: any error from `work`. */
  turn(work: () => void): void;
}

/** The operations on the hub itself: on its connections, rules and log, and reloads. */
export interface Operations {
  connections(): readonly ConnectionStatus[];
  /**
   * Starts, stops or restarts a connection. The new state lasts until a reload changes the connection, or for a limited time. Errors:
   * `not-found`, which suggests the most similar name; `conflict` if the connection is already in this state.
   */
  control(connectionId: string, action: ConnectionAction, by: Origin, term?: SwitchTerm): ConnectionStatus;
  /** Emits each write that a device has yet to confirm. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly wanted$: Observable<Change>;
  /**
   * Resolves when the device has confirmed the latest write to a parameter, or immediately if no write is pending. Errors: `not-confirmed`
   * if the device refuses the write or does not confirm it in time, `unavailable` if the device is offline, `conflict` if a newer write
   * replaces this write.
   */
  whenConfirmed(parameter: Parameter, limitMs: number): Promise<void>;
  /**
   * Returns the recent frames of a connection that follow the frame with the number `after`. Errors: `not-found`, which suggests the most
   * similar name.
   */
  wire(connectionId: string, after: number): readonly ShownFrame[];
  /** The number of times that rules have failed and that a limit has dropped events for rules since the hub started. */
  readonly ruleTotals: { readonly faults: number; readonly dropped: number };
  /** Returns the traffic of each connection, in the order of the flow files. */
  ways(): Iterable<Way>;
  /** Returns the state of each rule, in the order of the flow files. */
  rules(): readonly RuleStatus[];
  /** Like `rules`, but returns an iterable, because there may be a hundred thousand rules. */
  eachRule(): Iterable<RuleStatus>;
  /**
   * Switches a rule on or off. The switch lasts until the rule is switched again or its flow file changes. With a time limit, it lasts
   * until the limit is reached, even across saves and restarts. Errors: `not-found`, which suggests the most similar name; `conflict` if
   * several rules have this name.
   */
  switchRule(name: string, file: string | undefined, isEnabled: boolean, by: Origin, term?: SwitchTerm): RuleStatus;
  /** Returns the rules and connections that operators have switched to a state that differs from the flow files. */
  overrides(): readonly Override[];
  /** Returns the places in which a parameter is used. */
  usagesOf(address: string): Uses;
  /**
   * Reloads the flow files and applies the differences. Errors: `bad-flow` with all mistakes, `cannot-start`, `conflict` if there are no
   * flow files.
   */
  reload(by: Origin): Promise<Reload>;
  /**
   * Like `reload`, but runs the files in shadow until the next `reload`, including files that are saved later. Errors: the same as for
   * `reload`.
   */
  reloadInShadow(by: Origin): Promise<ShadowReport>;
  /** Returns the result of the most recent attempt to load the flow files. */
  files(): LoadReport;
  /** Returns the log entries that follow the entry `after` and have at least the level `least`, from the newest 2,000 entries. */
  log(after: number, least: LogLevel): LogPage;
  /**
   * Resolves when the log contains the entries from earlier runs, for which the start of the hub does not wait. Returns undefined if the
   * log already contains these entries.
   */
  earlierLog(): Promise<void> | undefined;
  /** Returns whether the log can be written, and the reason if it cannot. */
  logStatus(): LogStatus;
  /** Returns the most recent runs of the rules with this name. Errors: `not-found`, which suggests the most similar name. */
  runsOf(rule: string): readonly RuleRuns[];
  /** Calls `next` for each turn with input from outside until the returned recording is stopped. */
  record(next: (turn: OutsideTurn) => void): Recording;
  /** Returns the differences between the rules in shadow and the live rules, or undefined if nothing is in shadow. */
  shadow(): ShadowReport | undefined;
  /**
   * Returns the last change to a parameter in shadow if the change was made in shadow or its value differs from the live value. Otherwise
   * returns undefined.
   */
  wouldBe(address: string): Change | undefined;
}

/** A request that the hub has received for a webhook. */
export interface Delivery {
  /** Returns the value of a header, given its name in lower case, or '' if there is no such header. */
  readonly header: (name: string) => string;
  /** The query string of the URL, without `?`. */
  readonly query: string;
  /** The media type of the body, in lower case; '' if the charset is not UTF-8. */
  readonly type: string;
  readonly body: Buffer;
  /** The IP address from which the request was sent. */
  readonly sender: string;
}

/** A webhook that a connection of the hub receives. */
export interface Hook {
  /**
   * Checks the sender of a delivery and then sets the values in its body. If the returned `undo` is called, a repetition of the delivery
   * counts as a new delivery. Errors: `unauthorized`, `body-type`, `body-too-large`, `unprocessable`, `too-many-requests`.
   */
  receive(delivery: Delivery): { undo(): void };
  readonly totals: { readonly accepted: number; readonly repeated: number; readonly refused: number };
}

/** The numbers of webhooks and mails that a connection has sent or received since it started. */
export interface MessageTotals {
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
  readonly pending: number;
}

/** The times of a schedule, in a form suitable for display. */
export interface Agenda {
  readonly zone: string;
  /**
   * Returns a week of the schedule, which starts on Monday. The returned week is `week` weeks after the week that contains `nowMs`, in
   * milliseconds since 1970.
   */
  read(week: number, nowMs: number): AgendaWeek;
}

export interface AgendaWeek {
  /** The dates of the seven days, such as `2026-12-24`. */
  readonly days: readonly string[];
  readonly entries: readonly AgendaEntry[];
}

/**
 * The times of a schedule's entry, in minutes since midnight as shown by a clock in the time zone. Days are counted from Monday, which is
 * 0.
 */
export interface AgendaEntry {
  readonly name: string;
  /** The periods in which the entry is open. Omitted if the entry fires instead. */
  readonly bars?: readonly { readonly day: number; readonly from: number; readonly to: number }[];
  /** The times at which the entry fires, at most 300. Omitted if the entry opens instead. */
  readonly fires?: readonly { readonly day: number; readonly at: number }[];
  /** The days on which the entry does not open or fire because of exceptions. */
  readonly except: readonly number[];
  /** The next times at which the entry opens, closes or fires, at most five, in milliseconds since 1970. */
  readonly next: readonly { readonly timeMs: number; readonly isOpen?: boolean }[];
}

/** A field in a form that a driver module defines: a field of its config, or an option of a feedback or an action. */
export interface DriverField {
  readonly id: string;
  /** The type, as named by the module: `textinput`, `number`, `dropdown`. */
  readonly type: string;
  readonly label: string;
  readonly about?: string;
  /** The value that the module suggests. */
  readonly default?: unknown;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly choices?: readonly { readonly id: string | number | boolean; readonly label: string }[];
  /** Whether the field accepts values other than its choices. */
  readonly isOpen?: true;
}

/** A variable, feedback or action of a driver module. */
export interface DriverItem {
  readonly id: string;
  readonly name: string;
  /** The kind of feedback: `boolean`, `advanced`. */
  readonly kind?: string;
  /** The value of a variable; omitted if the variable has no value. */
  readonly value?: string | number | boolean;
  /** The options. Only present if a single item was requested. */
  readonly fields?: readonly DriverField[];
}

export type DriverKind = 'variables' | 'feedbacks' | 'actions';

/** A query for the items of a kind whose ID or name contains each word, starting at a position; or a query for a single item. */
export interface DriverQuestion {
  readonly kind: DriverKind;
  readonly search: string;
  readonly from: number;
  readonly count: number;
  readonly item?: string;
}

export interface DriverPage {
  /** The number of matching items. */
  readonly total: number;
  readonly items: readonly DriverItem[];
}

/** The state of a hosted driver module. */
export interface DriverState {
  readonly module?: {
    readonly id: string;
    readonly name: string;
    readonly version: string;
    readonly manufacturer: string;
    readonly products: readonly string[];
    readonly apiVersion: string;
  };
  /** The status of the device according to the module: `ok`, `connecting`; empty before the module has reported a status. */
  readonly status: string;
  /** When the process was started, in milliseconds since 1970; undefined while no process is running. */
  readonly startedAt?: number;
  /** The number of restarts after the process ended. */
  readonly restarts: number;
  /** The memory that the process uses, in MiB; undefined if unknown. */
  readonly usedMiB?: number;
  readonly limitMiB: number;
  /** The fields of the config; undefined until they are known. */
  readonly config?: readonly DriverField[];
  /** The IDs of config fields that the settings lack. */
  readonly missing: readonly string[];
  /** The most recent entries in the module's log, oldest first. */
  readonly log: readonly { readonly timeMs: number; readonly level: string; readonly text: string }[];
}

/** A hosted driver module, as seen by people who operate and map it. */
export interface DriverView {
  state(): DriverState;
  /** Lists items of the module. Errors: `unavailable` if the module is not running or does not answer in time. */
  list(question: DriverQuestion): Promise<DriverPage>;
}

/** The whole hub from the point of view of a gateway. */
export interface HubPort extends Parameters, Operations {
  readonly version: string;
  /** The identifier of this run of the hub. Revisions are comparable only if their epochs are equal. */
  readonly epoch: string;
  /** The time at which the hub started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** How long the hub has been running, in milliseconds. The value is not affected by adjustments to the machine's clock. */
  readonly uptimeMs: number;
  /** The data that a store saves, and the queries that it answers. */
  readonly persistence: PersistencePort;
  /** Access to the parameters of other hubs. */
  readonly mirroring: MirroringPort;
  /** The operations for editing flow files; undefined if the hub was not started from files. */
  readonly editing: Editing | undefined;
  /** Returns the cookbook recipes that can be filled in from a browser. */
  recipes(): Promise<readonly RecipeForm[]>;
  /** Fills in a recipe. `mayRead` returns whether the recipe may use an address. Errors: `bad-request`. */
  fillRecipe(
    name: string,
    own: string,
    given: Readonly<Record<string, string>>,
    mayRead: (address: string) => boolean,
  ): Promise<{ readonly file: string; readonly text: string }>;
  /** The leadership of this hub, which determines whether the hub runs its connections and rules. */
  readonly leadership: Leadership;
  /** The webhooks that running connections receive, keyed by webhook name. Each connection adds and removes its own webhooks. */
  readonly hooks: Map<string, Hook>;
  /** Functions that return the totals of connections that send messages, keyed by Connection ID. */
  readonly outboxes: Map<string, () => MessageTotals>;
  /** The agendas of running schedules, keyed by Connection ID. */
  readonly agendas: Map<string, Agenda>;
  /**
   * The hosted driver modules, keyed by Connection ID. The entry of a connection that has failed remains until the connection is started
   * again.
   */
  readonly drivers: Map<string, DriverView>;
}
