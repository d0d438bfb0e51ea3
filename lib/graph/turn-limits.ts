// The limits of a turn: they end rules that write one another for ever, and rules that multiply.

import { HubError } from '../model/error.ts';
import type { Change } from '../model/parameter.ts';

/** How many changes may follow from one another within a turn. */
export const maxHops = 64;
/** How many writes one turn may hold; bounds the queue, and the time that rules which multiply can take. */
export const maxWritesPerTurn = 131_072;

export type TurnLimit = 'hops' | 'writes';

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
export function tellLoop(dropped: Change): void {
  const { cause, origin, hop } = dropped;
  const remote = cause?.parameter.remote;
  if (cause === undefined || remote === undefined) return;
  void remote.write([{ parameter: cause.parameter, input: 1 }], { origin, cause: dropped, hop });
}
