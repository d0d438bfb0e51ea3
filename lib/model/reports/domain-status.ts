// The status of a domain of hubs, as seen by one of its hubs. Times are in milliseconds since 1970.

export interface DomainStatus {
  /** The ID of the connection that joins the hub to the domain. */
  readonly connection: string;
  readonly domain: string;
  /** The name of this hub in the domain. */
  readonly hub: string;
  /**
   * `alone`: no other hub has the same name; `main`: the hub in a pair that runs connections and rules; `standby`: the other hub in a pair.
   */
  readonly role: 'alone' | 'main' | 'standby';
  readonly lease: LeaseStatus;
  readonly link: LinkStatus;
  /** The hubs in the domain, sorted by name. */
  readonly hubs: readonly DomainHub[];
}

/** The lease on this hub's name in the domain. */
export interface LeaseStatus {
  /**
   * `held`: this hub holds the lease; `fenced`: this hub held the lease but could not renew it; `taken`: another hub holds the lease;
   * `unknown`: no server has responded yet.
   */
  readonly state: 'held' | 'fenced' | 'taken' | 'unknown';
  /** The machine of the hub that currently holds, or last held, the lease. Empty if unknown. */
  readonly holder: string;
  readonly term: number;
  /** When the lease entered this state, in milliseconds since 1970. */
  readonly since: number;
}

/** The state of the link between this hub and the servers. */
export interface LinkStatus {
  readonly isUp: boolean;
  /**
   * Whether the server accepts every client with all rights, so that anyone who can reach the server can write shared parameters under any
   * name. Undefined if no server has responded yet.
   */
  readonly isOpen?: boolean | undefined;
  /** The name of the connected server, or the reason why the hub is not connected. */
  readonly text: string;
  readonly servers: readonly string[];
  /** When the link was established or lost, in milliseconds since 1970. */
  readonly since: number;
  /** The number of times that the link was established again after it was lost. */
  readonly reconnects: number;
}

/** A hub in the domain: this hub, a hub from which this hub has received messages, or a hub that is known to have connections. */
export interface DomainHub {
  readonly hub: string;
  /**
   * `this`: this hub itself; `fresh` or `stale`: whether the values of another hub are up to date; `unknown`: this hub has received nothing
   * from that hub since this hub started.
   */
  readonly state: 'this' | 'fresh' | 'stale' | 'unknown';
  /** The IDs of the hub's connections. */
  readonly connections: readonly string[];
  /** The number of that hub's parameters that this hub mirrors. For this hub, the number of parameters that it shares. */
  readonly parameters: number;
  /** The state of this hub's mirror of the other hub. Omitted if there is no mirror. */
  readonly mirror?: MirrorStatus | undefined;
}

export interface MirrorStatus {
  /** The other hub's term, as last reported. */
  readonly term: number;
  /** The machine that runs the other hub (for a pair, the active hub), as last reported. Undefined if not reported in this term yet. */
  readonly machine?: string | undefined;
  /** How long the mirror has been incomplete, in milliseconds. Normally this is at most half a second. */
  readonly lagMs: number;
  /** When this hub last received a message from the mirrored hub, in milliseconds since 1970. Undefined if the mirror is fresh. */
  readonly staleSince?: number | undefined;
  /** The number of gaps in the messages since the first message. */
  readonly gaps: number;
  /** The number of firings that were permanently lost since the first message. */
  readonly lostFires: number;
  /**
   * The number of rejected messages in the other hub's name: messages that were malformed, were sent by another client, or exceeded what
   * this hub processes.
   */
  readonly refused: number;
}
