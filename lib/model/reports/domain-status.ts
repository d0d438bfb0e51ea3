// How a domain of hubs is, as one of its hubs sees it. Times are milliseconds since 1970.

export interface DomainStatus {
  /** The connection that joins the hub to it. */
  readonly connection: string;
  readonly domain: string;
  /** The name of this hub. */
  readonly hub: string;
  /** `alone`: no other hub has its name; `main`: it is the one of a pair that runs connections and rules; `standby`: it is not. */
  readonly role: 'alone' | 'main' | 'standby';
  readonly lease: LeaseStatus;
  readonly link: LinkStatus;
  /** By name. */
  readonly hubs: readonly DomainHub[];
}

/** The lease on the name of this hub. */
export interface LeaseStatus {
  /** `fenced`: this hub had it and could not renew it; `taken`: another one has it; `unknown`: the servers have not answered yet. */
  readonly state: 'held' | 'fenced' | 'taken' | 'unknown';
  /** The machine of who has it, or had it last; empty: not known. */
  readonly holder: string;
  readonly term: number;
  /** Since when it is so. */
  readonly since: number;
}

/** The link to the servers. */
export interface LinkStatus {
  readonly isUp: boolean;
  /**
   * Whether the server lets anybody in, with all rights: whoever reaches it can write what hubs share, in anybody's name. undefined: no
   * server has answered yet.
   */
  readonly isOpen?: boolean | undefined;
  /** The server that it leads to, or why there is none. */
  readonly text: string;
  readonly servers: readonly string[];
  /** Since when it is up, or down. */
  readonly since: number;
  /** How often it was made anew. */
  readonly reconnects: number;
}

/** A hub of the domain: this one, one that is heard of, or one that is known to have connections. */
export interface DomainHub {
  readonly hub: string;
  /** `unknown`: it has not been heard of since this hub started. */
  readonly state: 'this' | 'fresh' | 'stale' | 'unknown';
  /** The Connection IDs that it has. */
  readonly connections: readonly string[];
  /** How many of its parameters are shown here; of this hub how many it shares. */
  readonly parameters: number;
  /** What is mirrored of it; left out where nothing is. */
  readonly mirror?: MirrorStatus | undefined;
}

export interface MirrorStatus {
  /** Whose turn it is to run it, as it told last. */
  readonly term: number;
  /** The machine of who runs it, of a pair that of the active one, as it told last; undefined: it has not told in this term yet. */
  readonly machine?: string | undefined;
  /** For how long not all that it tells is here: half a second at most while all is well. */
  readonly lagMs: number;
  /** Since when nothing is heard of it; undefined: it is fresh. */
  readonly staleSince?: number | undefined;
  /** Since it was first heard of: how often something was missing, how many fires were lost for good. */
  readonly gaps: number;
  readonly lostFires: number;
  /** How many messages in its name were left out: they made no sense, were not its own, or more than this hub works through. */
  readonly refused: number;
}
