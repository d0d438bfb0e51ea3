// The access to the graph for a gateway that joins hubs: it shows parameters that another hub owns, and makes the writes that other hubs
// request.
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

/** A parameter of another hub, as reported by that hub. */
export interface MirroredDeclaration extends Pick<ParameterDeclaration, 'type' | 'access'> {
  readonly address: string;
}

/** The number of lost fires by trigger. */
export type LostFires = ReadonlyMap<Parameter, number>;

export interface MirroringPort {
  /** A number that differs between turns of this hub. */
  readonly turnNumber: number;
  /** Whether a connection is a gateway of this hub, or the hub itself. Their parameters are not shared. */
  isLocal(connectionId: string): boolean;
  /** Whether this hub has a connection with this ID, which may be a gateway, or may not be running; `hub` counts as a connection. */
  hasConnection(connectionId: string): boolean;
  /** Whether this hub declares a parameter itself, no matter which hub currently owns it. */
  declares(parameter: Parameter): boolean;
  /** Shows a parameter of another hub; undefined if its address already exists. Call it between turns. */
  declare(remote: Remote, owner: Origin, declaration: MirroredDeclaration): Parameter | undefined;
  /** Removes parameters of other hubs. Call it between turns. */
  withdraw(parameters: Iterable<Parameter>): void;
  /** Starts rules that wait for parameters. Call it after `declare`, `withdraw` and `entrust`, and before the values. */
  notify(): void;
  /** Emits on `notify` after parameters were taken back from other hubs. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly returned$: Observable<void>;
  /** Reports that the owner of parameters has become stale or fresh. */
  reportStale(parameters: Iterable<Parameter>): void;
  /** Sets the state of the device behind a parameter of another hub. Call `reportStale` afterwards. */
  setDevice(parameter: Parameter, device: DeviceState | undefined): void;
  /**
   * Parameters that have become stale or fresh, as shown by their `remote`; some may be unchanged. Each subscriber may iterate them later.
   * Hot, replays nothing, synchronous, never completes, never errors.
   */
  readonly stale$: Observable<Iterable<Parameter>>;
  /** Reports how many fires of other hubs' triggers this hub has missed. */
  reportLost(fires: LostFires): void;
  /** The same, for gateways with clients. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly lost$: Observable<LostFires>;
  /** Applies a change of the owner, within a turn. */
  mirror(parameter: Parameter, reported: MirroredChange): Change;
  /** Hands over a parameter that this hub declares to another hub, or takes it back. */
  entrust(parameter: Parameter, remote: Remote | undefined): void;
  /** Returns the state of the domain, set by the gateway that has joined the hub to the domain; undefined if the hub is in no domain. */
  domain: (() => DomainStatus) | undefined;
  /** Makes a write that another hub requests. Errors: the same as `HubPort.writeTo`, and `conflict` beyond the limit of hops. */
  writeFor(parameter: Parameter, input: unknown, origin: Origin, cause: Change | undefined, hop: number): Value;
}

// Leadership: whether a hub runs its connections and rules. It always does, unless a gateway that shares the work among several hubs has
// decided that another hub leads.

/** A term of leadership, from beginning to end. */
export interface LeadershipTerm {
  /** Counts the terms of all hubs that may lead; every firing of a rule happens within a term. */
  readonly number: number;
  /** Whether the hub continues with values of another hub or with its own earlier ones: no rule fires because the term begins. */
  readonly continues: boolean;
  /**
   * Checks whether the term still lasts; if it returns false, it has already ended the term. The hub calls it before each turn and before
   * each external effect. Omitted: the term ends only with `end`.
   */
  readonly mayAct?: () => boolean;
  /**
   * Confirms the writes so far: resolves to true once other hubs have received them and the term has lasted beyond that, so no hub takes
   * over without them; to false if this is not certain within 2 s. Never rejects. Omitted: no hub takes over.
   */
  readonly confirm?: () => Promise<boolean>;
}

/**
 * The reasons why individual connections do not run, by ID; read immediately, and at each start of a connection. Gateways are not affected.
 */
export type HeldBack = Pick<ReadonlyMap<string, string>, 'get'>;

export interface Leadership {
  /** The current term; undefined means that connections and rules do not run. */
  readonly term: Pick<LeadershipTerm, 'number' | 'confirm'> | undefined;
  /** Whether connections and rules run: in this hub, or in another one whose parameters this one shows. */
  readonly isDone: boolean;
  /** Whether a term has ever begun, or a gateway has taken over the state of another hub: the hub continues from there. */
  hasBegun: boolean;
  /** Begins a term: connections first, then rules. */
  begin(term: LeadershipTerm): void;
  /**
   * Ends the term, rules first; `reason` is the reason why connections do not run, `isDoneElsewhere` is whether another hub leads. Resolves
   * when connections and rules have finished their work in progress.
   */
  end(reason: string, isDoneElsewhere?: boolean): Promise<void>;
  /** Stops single connections and shows them as *failed*; those stopped before that are not among them start again. */
  holdBack(connections: HeldBack): void;
}
