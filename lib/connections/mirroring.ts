// Access to the graph for a gateway that joins hubs. The gateway shows parameters that another hub owns, and performs the writes that other
// hubs request.
import type { Observable } from 'rxjs';
import type {
  Change,
  DeviceState,
  MirroredChange,
  Origin,
  Parameter,
  ParameterDeclaration,
  Remote,
} from '../model/parameter.ts';
import type { DomainStatus } from '../model/reports/domain-status.ts';
import type { Value } from '../model/value.ts';

/** A parameter of another hub, as reported by that other hub. */
export interface MirroredDeclaration extends Pick<ParameterDeclaration, 'type' | 'access'> {
  readonly address: string;
}

/** The number of lost firings, by trigger. */
export type LostFires = ReadonlyMap<Parameter, number>;

export interface MirroringPort {
  /** A number that is different in each turn of this hub. */
  readonly turnNumber: number;
  /** Returns whether a connection is one of this hub's gateways or the hub itself. Their parameters are not shared. */
  isLocal(connectionId: string): boolean;
  /** Returns whether this hub has a connection with this ID, even if it is a gateway or is not running; `hub` counts as a connection. */
  hasConnection(connectionId: string): boolean;
  /** Returns whether this hub itself declares a parameter, no matter which hub currently owns it. */
  declares(parameter: Parameter): boolean;
  /** Declares a parameter of another hub; returns undefined if the address already exists. Call `declare` between turns. */
  declare(remote: Remote, owner: Origin, declaration: MirroredDeclaration): Parameter | undefined;
  /** Removes parameters of other hubs. Call `withdraw` between turns. */
  withdraw(parameters: Iterable<Parameter>): void;
  /** Starts rules that are waiting for parameters. Call `notify` after `declare`, `withdraw` and `entrust`, and before setting values. */
  notify(): void;
  /**
   * Emits during `notify` after parameters have been taken back from other hubs. Hot, replays nothing, synchronous, never completes, never
   * errors.
   */
  readonly returned$: Observable<void>;
  /** Reports that an owner's parameters have become stale or fresh. */
  reportStale(parameters: Iterable<Parameter>): void;
  /** Sets the state of the device behind a parameter of another hub. Call `reportStale` afterwards. */
  setDevice(parameter: Parameter, device: DeviceState | undefined): void;
  /**
   * The parameters that have become stale or fresh, as shown by their `remote`; some may be unchanged. Subscribers may also iterate them
   * later. Hot, replays nothing, synchronous, never completes, never errors.
   */
  readonly stale$: Observable<Iterable<Parameter>>;
  /** Reports how many firings of other hubs' triggers this hub has missed. */
  reportLost(fires: LostFires): void;
  /** The lost firings that were reported, for gateways with clients. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly lost$: Observable<LostFires>;
  /** Applies a change that the owner has reported. Call `mirror` within a turn. */
  mirror(parameter: Parameter, reported: MirroredChange): Change;
  /** Hands over a parameter that this hub declares to another hub, or takes the parameter back. */
  entrust(parameter: Parameter, remote: Remote | undefined): void;
  /**
   * Returns the state of the domain; set by the gateway through which the hub has joined the domain; undefined if the hub is not in a
   * domain.
   */
  domain: (() => DomainStatus) | undefined;
  /**
   * Performs a write that another hub requests. Errors: the same as `HubPort.writeTo`, and `conflict` if the write has made too many hops.
   */
  writeFor(parameter: Parameter, input: unknown, origin: Origin, cause: Change | undefined, hop: number): Value;
}

// Leadership: whether a hub runs its connections and rules. A hub always leads, unless a gateway that shares the work among several hubs
// has decided that another hub leads.

/** A term of leadership, from beginning to end. */
export interface LeadershipTerm {
  /** Counts the terms of all hubs that may lead. Every firing of a rule happens within a term. */
  readonly number: number;
  /**
   * Whether the hub continues with another hub's values or its own earlier values, so that no rule fires because of the start of the term.
   */
  readonly continues: boolean;
  /**
   * Returns whether the term still lasts. If it does not, `mayAct` has already ended the term. The hub calls `mayAct` before each turn and
   * each external effect. If omitted, only `end` ends the term.
   */
  readonly mayAct?: () => boolean;
  /**
   * Confirms the writes so far. Resolves to true once other hubs have received the writes and the term has lasted beyond this point, so
   * that no hub takes over without them; resolves to false if this is not certain within 2 s. Never rejects. If omitted, no other hub can
   * take over.
   */
  readonly confirm?: () => Promise<boolean>;
}

/**
 * The reasons why individual connections do not run, by Connection ID. They are looked up immediately and at each start of a connection.
 * Gateways are not affected.
 */
export type HeldBack = Pick<ReadonlyMap<string, string>, 'get'>;

export interface Leadership {
  /** The current term; undefined while connections and rules are not running. */
  readonly term: Pick<LeadershipTerm, 'number' | 'confirm'> | undefined;
  /** Whether connections and rules are running, either in this hub or in another hub whose parameters this hub shows. */
  readonly isDone: boolean;
  /** Whether a term has ever begun or a gateway has taken over another hub's state, so that the hub continues with an existing state. */
  hasBegun: boolean;
  /** Begins a term: connections first, then rules. */
  begin(term: LeadershipTerm): void;
  /**
   * Ends the term, rules first; `reason` states why connections do not run; `isDoneElsewhere` tells whether another hub leads. Resolves
   * when connections and rules have finished their work in progress.
   */
  end(reason: string, isDoneElsewhere?: boolean): Promise<void>;
  /** Stops individual connections and shows them as *failed*. Connections from an earlier call that are no longer included start again. */
  holdBack(connections: HeldBack): void;
}
