// The limits on turns, and the measurement of their durations. The limits stop rules that trigger each other forever, and rules that
// multiply writes.

import { HubError } from '../model/error.ts';
import type { Change } from '../model/parameter.ts';
import { Durations } from '../model/time/duration.ts';

/** The maximum length of a chain of changes within a turn, each caused by the previous change. */
export const maxHops = 64;
/**
 * The maximum number of writes in a turn. This limits the size of the queue, and the time that a turn can take if rules multiply writes.
 */
export const maxWritesPerTurn = 131_072;

type TurnLimit = 'hops' | 'writes';

/** A write that was dropped because its turn exceeded a limit. */
export class DroppedWrite {
  readonly limit: TurnLimit;
  readonly write: Change;

  constructor(limit: TurnLimit, write: Change) {
    this.limit = limit;
    this.write = write;
  }

  /** The changes that led to the dropped write, from the event outside the hub to the dropped write itself. */
  get chain(): readonly Change[] {
    const chain: Change[] = [];
    for (let link: Change | undefined = this.write; link !== undefined; link = link.hop > 0 ? link.cause : undefined)
      chain.unshift(link);
    return chain;
  }
}

/**
 * The error for a write beyond the hop limit. The hub that drops the write also reports the loop, so that callers do not have to report it.
 */
export class LoopError extends HubError {
  constructor(address: string) {
    super('conflict', `${address}: expected at most ${maxHops} hops: the rules that led to this write form a loop`);
  }
}

/**
 * Reports a loop across hubs after this hub has dropped a write: sends the next write in the loop to the other hub, which refuses that
 * write beyond the hop limit and names the rules as well.
 */
export function reportLoop(dropped: Change): void {
  const { cause, origin, hop } = dropped;
  const remote = cause?.parameter.remote;
  if (cause === undefined || remote === undefined) return;
  void remote.write([{ parameter: cause.parameter, input: 1 }], { origin, cause: dropped, hop });
}

/** At most one out of this number of turns is measured. */
export const timedEvery = 64;

/**
 * Measures the durations of turns, at most one per millisecond and per round of the event loop, because reading a clock twice takes as long
 * as a write.
 */
export class TurnTimer {
  readonly durations = new Durations();
  readonly #now: () => number;
  /** The time of the event loop round in which a turn was last measured, in milliseconds. */
  #roundMs = 0;
  /** When the measured turn began, in milliseconds on a monotonic clock. */
  #beganMs = 0;

  /** `now` returns the time of the current event loop round in milliseconds, without reading a clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Begins a turn. Returns whether the turn is measured, in which case `end` must be called at its end. */
  begin(): boolean {
    const now = this.#now();
    if (now === this.#roundMs) return false;
    this.#roundMs = now;
    this.#beganMs = performance.now();
    return true;
  }

  /** Ends a measured turn, and counts its duration. */
  end(): void {
    this.durations.add((performance.now() - this.#beganMs) / 1000);
  }
}
