// What a gateway that joins hubs does with the graph: it shows parameters that another hub owns, and writes what others ask for.
import type { Observable } from 'rxjs';
import type { Change, MirroredChange, Origin, Parameter, ParameterDeclaration, Remote } from '../model/parameter.ts';
import type { DomainStatus } from '../model/reports/domain-status.ts';
import type { Value } from '../model/value.ts';

/** A parameter of another hub, as that hub tells it. */
export interface MirroredDeclaration extends Pick<ParameterDeclaration, 'type' | 'access'> {
  readonly address: string;
}

/** How many fires of a trigger were lost, by trigger. */
export type LostFires = ReadonlyMap<Parameter, number>;

export interface MirroringPort {
  /** Another number for each turn of this hub. */
  readonly turnNumber: number;
  /** Whether a connection of this hub is a gateway, or the hub itself: what is theirs is not shared. */
  isLocal(connectionId: string): boolean;
  /** Whether this hub has a connection of this ID, which may be a gateway or one that does not run; `hub` is one. */
  hasConnection(connectionId: string): boolean;
  /** Whether this hub declares a parameter itself, whoever owns it at the moment. */
  declares(parameter: Parameter): boolean;
  /** Shows a parameter of another hub; undefined when there is one of its address already. To be called between turns. */
  declare(remote: Remote, owner: Origin, declaration: MirroredDeclaration): Parameter | undefined;
  /** Takes parameters of other hubs out. To be called between turns. */
  withdraw(parameters: Iterable<Parameter>): void;
  /** To be called after `declare`, `withdraw` and `entrust`, and before the values: rules that wait for them start. */
  notify(): void;
  /** After parameters were taken back from other hubs, by `tell`. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly returned$: Observable<void>;
  /** Says that the hub of parameters has become stale, or is fresh again. */
  reportStale(parameters: Iterable<Parameter>): void;
  /**
   * Parameters that have become stale or fresh, as their `remote` says; some may be as before. Each who hears may walk them later. Hot,
   * replays nothing, synchronous, never completes, never errors.
   */
  readonly stale$: Observable<Iterable<Parameter>>;
  /** Says how often triggers of other hubs have fired without this one hearing of it. */
  reportLost(fires: LostFires): void;
  /** The same, for those who tell clients. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly lost$: Observable<LostFires>;
  /** Takes over a change of the owner, within a turn. */
  mirror(parameter: Parameter, reported: MirroredChange): Change;
  /** Hands a parameter that this hub declares over to another hub, or takes it back. */
  entrust(parameter: Parameter, remote: Remote | undefined): void;
  /** How the domain is that a gateway has joined the hub to, which sets this; undefined: it is in none. */
  domain: (() => DomainStatus) | undefined;
  /** Writes what another hub asks for. Errors: as `HubPort.writeTo`, and `conflict` past the limit of hops. */
  writeFor(parameter: Parameter, input: unknown, origin: Origin, cause: Change | undefined, hop: number): Value;
}

// Whether a hub does its work: runs its connections and rules. It always does, unless a gateway that shares the work among several
// hubs decides it, and has another hub do it meanwhile.

/** The work from when it begins to when it ends. */
export interface LeadershipTerm {
  /** Counts whose turn it is, of all hubs that may do the work; every firing of a rule belongs to a term. */
  readonly number: number;
  /** Whether the hub goes on with values of another hub, or of its own from before: no rule runs because the work begins. */
  readonly continues: boolean;
  /**
   * Looks whether the work may go on at this moment; what returns false has ended it by then. The hub asks before each turn and
   * before each effect outside. Left out: nothing ends it by itself.
   */
  readonly mayAct?: () => boolean;
  /**
   * Confirms what was written so far: resolves to true once other hubs have been told of it and the work was this hub's after that, so that no
   * hub takes over without it; to false when that is not known within 2 s. Never rejects. Left out: nobody takes over.
   */
  readonly confirm?: () => Promise<boolean>;
}

/** Why single connections do not run, by ID; asked now, and each time that a connection starts. Gateways are not asked for. */
export type HeldBack = Pick<ReadonlyMap<string, string>, 'get'>;

export interface Leadership {
  /** What the hub does at the moment; undefined: its connections and rules do not run. */
  readonly term: Pick<LeadershipTerm, 'number' | 'confirm'> | undefined;
  /** Whether the work is done: by this hub, or by another one whose parameters this one shows. */
  readonly isDone: boolean;
  /** Whether it has begun its work at some time, or a gateway has taken over for it what another hub has done: it goes on from there. */
  hasBegun: boolean;
  /** Begins the work: connections first, then rules. */
  begin(term: LeadershipTerm): void;
  /**
   * Ends it, rules first; `reason` tells why connections do not run, `isDoneElsewhere` whether another hub does it meanwhile. Resolves when
   * they have finished what they had begun.
   */
  end(reason: string, isDoneElsewhere?: boolean): Promise<void>;
  /** Has single connections not run, as *failed* ones; those of before that are not among them go on. */
  holdBack(connections: HeldBack): void;
}
