// The port for a gateway that joins hubs. The gateway adds parameters that other hubs own and performs the writes that other hubs request.
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

/** The declaration of a parameter that another hub owns, as that hub has reported it. */
export interface MirroredDeclaration extends Pick<ParameterDeclaration, 'type' | 'access'> {
  readonly address: string;
}

/** The number of firings that were lost, keyed by trigger. */
export type LostFires = ReadonlyMap<Parameter, number>;

export interface MirroringPort {
  /** A number that differs between any two turns of this hub. */
  readonly turnNumber: number;
  /**
   * Returns whether a Connection ID belongs to one of this hub's gateways or to the hub itself. Their parameters are not shared with other
   * hubs.
   */
  isLocal(connectionId: string): boolean;
  /**
   * Returns whether this hub has a connection with this ID, even if the connection is a gateway or is not running. The ID `hub` counts as a
   * connection.
   */
  hasConnection(connectionId: string): boolean;
  /** Returns whether this hub's own flow files declare a parameter, no matter which hub currently owns it. */
  declares(parameter: Parameter): boolean;
  /** Declares a parameter of another hub. Returns undefined if the address already exists. Must be called between turns. */
  declare(remote: Remote, owner: Origin, declaration: MirroredDeclaration): Parameter | undefined;
  /** Removes parameters of other hubs. Must be called between turns. */
  withdraw(parameters: Iterable<Parameter>): void;
  /** Starts rules that are waiting for parameters. Must be called after `declare`, `withdraw` and `entrust`, and before values are set. */
  notify(): void;
  /**
   * Emits during `notify` if parameters have been taken back from other hubs. Hot, replays nothing, synchronous, never completes, never
   * errors.
   */
  readonly returned$: Observable<void>;
  /** Reports that parameters of another hub have become stale or fresh. */
  reportStale(parameters: Iterable<Parameter>): void;
  /** Sets the state of the device behind a parameter of another hub. `reportStale` must be called afterwards. */
  setDevice(parameter: Parameter, device: DeviceState | undefined): void;
  /**
   * Emits parameters that have become stale or fresh, as their `remote` shows. Some of these parameters may be unchanged. Subscribers may
   * also iterate over them later. Hot, replays nothing, synchronous, never completes, never errors.
   */
  readonly stale$: Observable<Iterable<Parameter>>;
  /** Reports the number of firings of other hubs' triggers that this hub has missed. */
  reportLost(fires: LostFires): void;
  /**
   * Emits the lost firings that have been reported, for gateways with clients. Hot, replays nothing, synchronous, never completes, never
   * errors.
   */
  readonly lost$: Observable<LostFires>;
  /** Applies a change that the owner of a parameter has reported. Must be called within a turn. */
  mirror(parameter: Parameter, reported: MirroredChange): Change;
  /** Hands over a parameter that this hub declares to another hub, or takes the parameter back if `remote` is undefined. */
  entrust(parameter: Parameter, remote: Remote | undefined): void;
  /**
   * Returns the state of the domain. Set by the gateway through which the hub has joined the domain; undefined if the hub is not in a
   * domain.
   */
  domain: (() => DomainStatus) | undefined;
  /**
   * Performs a write that another hub has requested. Errors: the same as for `HubPort.writeTo`, and `conflict` if the write has made too
   * many hops.
   */
  writeFor(parameter: Parameter, input: unknown, origin: Origin, cause: Change | undefined, hop: number): Value;
}

// Leadership determines whether a hub runs its connections and rules. A hub always leads, unless it has a gateway that shares the work
// among several hubs and this gateway has decided that another hub leads.

/** A term: the time from the moment when a hub begins to lead until it stops leading. */
export interface LeadershipTerm {
  /** The number of the term, counted across all hubs that may lead. Every firing of a rule happens within a term. */
  readonly number: number;
  /**
   * Whether the hub continues with another hub's values or with its own earlier values. In this case, no rule fires because of the start of
   * the term.
   */
  readonly continues: boolean;
  /**
   * Returns whether the term still lasts. If it does not, `mayAct` has already ended it. The hub calls `mayAct` before each turn and before
   * each external effect. If `mayAct` is omitted, only `end` ends the term.
   */
  readonly mayAct?: () => boolean;
  /**
   * Resolves to true when other hubs have received all writes so far and the term has lasted beyond this point. No hub can then take over
   * without these writes. Resolves to false if no confirmation is possible within 2 s. Never rejects. If `confirm` is omitted, no other hub
   * can take over.
   */
  readonly confirm?: () => Promise<boolean>;
}

/**
 * The reasons why individual connections are held back, keyed by Connection ID. The reasons are looked up immediately and whenever a
 * connection starts. Gateways are not affected.
 */
export type HeldBack = Pick<ReadonlyMap<string, string>, 'get'>;

export interface Leadership {
  /** The current term; undefined while connections and rules are not running in this hub. */
  readonly term: Pick<LeadershipTerm, 'number' | 'confirm'> | undefined;
  /** Whether connections and rules are running, either in this hub or in another hub whose parameters this hub shows. */
  readonly isDone: boolean;
  /**
   * Whether a term has ever begun, or a gateway has taken over another hub's state. In both cases, the hub continues with an existing
   * state.
   */
  hasBegun: boolean;
  /** Begins a term. Starts the connections first, then the rules. */
  begin(term: LeadershipTerm): void;
  /**
   * Ends the term. Stops the rules first. `reason` states why connections do not run; `isDoneElsewhere` states whether another hub leads.
   * Resolves when connections and rules have finished their work in progress.
   */
  end(reason: string, isDoneElsewhere?: boolean): Promise<void>;
  /**
   * Stops individual connections and shows them as *failed*. Connections from an earlier call that are no longer included are started
   * again.
   */
  holdBack(connections: HeldBack): void;
}
