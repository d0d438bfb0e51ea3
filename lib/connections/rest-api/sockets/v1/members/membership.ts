// How far a client of a group has been sent what it subscribed to. One of these at a time; `members.ts` alone moves a client from
// one to another.
//
//   idle ──enter──▶ catching up ──finish──▶ fresh ──settle──▶ live
//                        ▲                    │                 │
//   what changed since ──┴──── fall back ◀────┴─── no room ─────┤ (newest values are wanted)
//   extending ◀──recover── behind ◀─── fall back ───────────────┘ (every change is wanted)
//
// Three more arrows: extending ──finish──▶ fresh, or a fall back where there is no room. A client that subscribes to other things leaves
// its group from wherever it is (idle), and enters another one: extending if it had everything, behind or catching up if it had not. From
// wherever it is, a client whose socket is gone is closed. Whether a socket is full (`Client.isFull`) is apart from all this: a live client
// may be full until something is flushed, and one that is catching up may be full or not.

import type { CatchUp } from './catch-up.ts';
import type { Segment } from './losses.ts';

export type Membership = Idle | CatchingUp | Extending | Behind | Fresh | Live | Closed;

/** It has no subscription. */
export interface Idle {
  readonly name: 'idle';
}

/** It is sent what the group flushes, and has everything that has left. */
export interface Live {
  readonly name: 'live';
  /** Its place in the list of live clients. */
  place: number;
}

/** It has everything up to `from`. Changes of before still wait in the group; it is sent the others alone, without revisions. */
export interface Fresh {
  readonly name: 'fresh';
  readonly from: number;
}

/** Snapshots bring it the values of all its subscriptions. Of what the group flushes it is sent the fires. */
export interface CatchingUp {
  readonly name: 'catching up';
  /** What waits in the group with a revision up to this one is not for it. */
  from: number;
  readonly catchUp: CatchUp;
  /** Since when it has not been live, in milliseconds of a monotonic clock. */
  readonly sinceMs: number;
  /** Counts the fires that it misses while it is full. */
  segment: Segment | undefined;
}

/** Snapshots bring it what it subscribed to anew, up to `from`. What changes later comes with what the group flushes, without revisions. */
export interface Extending {
  readonly name: 'extending';
  readonly from: number;
  readonly catchUp: CatchUp;
}

/** It does not read. What it misses is counted, as it wants to know of every change; then it is told, and extends. */
export interface Behind {
  readonly name: 'behind';
  from: number;
  readonly catchUp: CatchUp;
  readonly sinceMs: number;
  /** Counts what it misses along with others; undefined: what waits is not all for it, and is counted for it by itself. */
  segment: Segment | undefined;
}

/** Its socket is gone, or about to be. */
export interface Closed {
  readonly name: 'closed';
}
