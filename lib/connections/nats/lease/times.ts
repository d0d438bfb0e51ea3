// How long leases are held, and how long they are waited for, in milliseconds.

export const leaseTimes = {
  renewMs: 1000,
  fenceMs: 3000,
  expiryMs: 4000,
  /** How often the others look. */
  lookMs: 500,
  /** When the servers answer again, the holder has this long to renew before its lease is taken. */
  graceMs: 1500,
  /** A holder that is there has so long from its last renewal on. */
  patienceMs: 7000,
  /** The pause before servers that did not answer are asked again. */
  retryMs: 200,
  /** Servers that have not answered for this long are in trouble. */
  troubleMs: 2000,
} as const;
