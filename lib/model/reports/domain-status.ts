// The status of a domain of hubs, as seen by one of its hubs. Times are in milliseconds since 1970.

export interface DomainStatus {
  /** The connection that joins the hub to the domain. */
  readonly connection: string;
  readonly domain: string;
  /** The name of this hub. */
  readonly hub: string;
  /** `alone`: no other hub has its name; `main`: the hub of a pair that runs connections and rules; `standby`: the other one. */
  readonly role: 'alone' | 'main' | 'standby';
  readonly lease: LeaseStatus;
  readonly link: LinkStatus;
  /** The hubs of the domain, sorted by name. */
  readonly hubs: readonly DomainHub[];
}

/** The lease on the name of this hub. */
export interface LeaseStatus {
  /** `fenced`: this hub held it but could not renew it; `taken`: another hub holds it; `unknown`: no server has answered yet. */
  readonly state: 'held' | 'fenced' | 'taken' | 'unknown';
  /** The machine of the current or last holder; empty if unknown. */
  readonly holder: string;
  readonly term: number;
  /** When this state began. */
  readonly since: number;
}

/** The link to the servers. */
export interface LinkStatus {
  readonly isUp: boolean;
  /**
   * Whether the server accepts every client with all rights, so anyone who can reach it can write shared parameters under any name.
   * undefined if no server has answered yet.
   */
  readonly isOpen?: boolean | undefined;
  /** The connected server, or the reason why there is none. */
  readonly text: string;
  readonly servers: readonly string[];
  /** When it came up or went down. */
  readonly since: number;
  /** The number of times that it was re-established. */
  readonly reconnects: number;
}

/** A hub of the domain: this one, one that this hub has received messages from, or one that is known to have connections. */
export interface DomainHub {
  readonly hub: string;
  /** `unknown`: this hub has received nothing from it since its start. */
  readonly state: 'this' | 'fresh' | 'stale' | 'unknown';
  /** The Connection IDs of the hub. */
  readonly connections: readonly string[];
  /** How many of its parameters this hub mirrors; for this hub, how many it shares. */
  readonly parameters: number;
  /** The mirror; omitted if there is none. */
  readonly mirror?: MirrorStatus | undefined;
}

export interface MirrorStatus {
  /** The last reported term. */
  readonly term: number;
  /** The machine that runs it, for a pair the active one, as last reported; undefined if not reported in this term yet. */
  readonly machine?: string | undefined;
  /** The time for which the mirror has been incomplete: normally at most half a second. */
  readonly lagMs: number;
  /** When this hub last received anything from it; undefined if it is fresh. */
  readonly staleSince?: number | undefined;
  /** Counts since its first message: gaps in its messages, and fires that were lost for good. */
  readonly gaps: number;
  readonly lostFires: number;
  /** How many messages in its name were rejected: they were malformed, sent by another client, or more than this hub processes. */
  readonly refused: number;
}
