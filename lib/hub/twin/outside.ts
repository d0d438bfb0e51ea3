// What came from outside. A twin hears it, and does again by itself what follows from it.

import type { Change } from '../../model/parameter.ts';

/** A moment in the life of a hub. */
export interface Moment {
  readonly revision: number;
  /** In milliseconds since 1970. */
  readonly time: number;
}

/** Whether what led to a change was before a moment. What follows from that later, nobody can do again. */
export function isLedToBefore({ cause }: Change, { revision, time }: Moment): boolean {
  if (cause === undefined) return false;
  return cause.revision > 0 ? cause.revision <= revision : cause.time < time;
}
