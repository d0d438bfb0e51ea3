// What bounds and measures a turn. The limits end rules that write one another for ever, and rules that multiply.

import { HubError } from '../model/error.ts';
import type { Change } from '../model/parameter.ts';
import { Durations } from '../model/time/duration.ts';

/** How many changes may follow from one another within a turn. */
export const maxHops = 64;
/** How many writes one turn may hold; bounds the queue, and the time that rules which multiply can take. */
export const maxWritesPerTurn = 131_072;

type TurnLimit = 'hops' | 'writes';

/** A write that was dropped because its turn had grown past a limit. */
export class DroppedWrite {
  readonly limit: TurnLimit;
  readonly write: Change;

  constructor(limit: TurnLimit, write: Change) {
    this.limit = limit;
    this.write = write;
  }

  /** The changes that led to it, from the event outside of the hub to the dropped write itself. */
  get chain(): readonly Change[] {
    const chain: Change[] = [];
    for (let link: Change | undefined = this.write; link !== undefined; link = link.hop > 0 ? link.cause : undefined)
      chain.unshift(link);
    return chain;
  }
}

/** The error of a write past the limit of hops. */
export function tooManyHops(address: string): HubError {
  return new HubError(
    'conflict',
    `${address}: expected at most ${maxHops} hops, the rules that led to this write loop`,
  );
}

/**
 * Tells the other hub of a loop, whose change led to a write that this hub has dropped: it is asked for the next write of the loop,
 * which it refuses past the limit of hops, naming the rules as well.
 */
export function reportLoop(dropped: Change): void {
  const { cause, origin, hop } = dropped;
  const remote = cause?.parameter.remote;
  if (cause === undefined || remote === undefined) return;
  void remote.write([{ parameter: cause.parameter, input: 1 }], { origin, cause: dropped, hop });
}

/** The graph asks in one turn of so many whether to time it. */
export const timedEvery = 64;

/** Measures how long turns take, at most one in a millisecond and in a round of the event loop: to read a clock twice takes as long as a write. */
export class TurnTimer {
  readonly durations = new Durations();
  readonly #now: () => number;
  /** When the round of the last turn that was timed began, and that turn itself by a monotonic clock. */
  #roundMs = 0;
  #beganMs = 0;

  /** `now` tells when this round of the event loop began, in milliseconds: it reads no clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A turn begins. Returns whether it is timed; then its end is to be told. */
  begin(): boolean {
    const now = this.#now();
    if (now === this.#roundMs) return false;
    this.#roundMs = now;
    this.#beganMs = performance.now();
    return true;
  }

  /** A turn that is timed ends. */
  end(): void {
    this.durations.add((performance.now() - this.#beganMs) / 1000);
  }
}
