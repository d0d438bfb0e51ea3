// Whether a hub does its work: runs its connections and rules. It always does, unless a gateway that shares the work among several
// hubs decides it, and has another hub do it meanwhile.

/** The work from when it begins to when it ends. */
export interface Watch {
  /** Counts whose turn it is, of all hubs that may do the work; every firing of a rule belongs to a term. */
  readonly term: number;
  /** Whether the hub goes on with values of another hub, or of its own from before: no rule runs because the work begins. */
  readonly goesOn: boolean;
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

export interface Duty {
  /** What the hub does at the moment; undefined: its connections and rules do not run. */
  readonly watch: Pick<Watch, 'term' | 'confirm'> | undefined;
  /** Whether the work is done: by this hub, or by another one whose parameters this one shows. */
  readonly isDone: boolean;
  /** Whether it has begun its work at some time, or a gateway has taken over for it what another hub has done: it goes on from there. */
  hasBegun: boolean;
  /** Begins the work: connections first, then rules. */
  begin(watch: Watch): void;
  /**
   * Ends it, rules first; `reason` tells why connections do not run, `isDoneElsewhere` whether another hub does it meanwhile. Resolves when
   * they have finished what they had begun.
   */
  end(reason: string, isDoneElsewhere?: boolean): Promise<void>;
  /** Has single connections not run, as *failed* ones; those of before that are not among them go on. */
  holdBack(connections: HeldBack): void;
}
