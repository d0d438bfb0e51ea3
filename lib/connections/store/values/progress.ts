// How far the values are written: for those who ask how it goes, and for those who wait until what has changed is on the disk.

import type { Parameter } from '../../../model/parameter.ts';
import { within } from '../../../model/time/deadline.ts';
import { Durations } from '../../../model/time/duration.ts';
import type { ValuesArchive, WritingStatus } from '../../archive.ts';
import { RowRate } from '../row-rate.ts';
import { flushDeadlineMs } from '../slow-disk.ts';

export class Progress implements ValuesArchive {
  readonly flushDurations = new Durations();
  readonly #hub: { readonly revision: number };
  readonly #now: () => number;
  readonly #lost: () => number;
  readonly isLeftOut: (parameter: Parameter) => boolean;
  readonly #rate = new RowRate();
  readonly #waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>();
  #written: number;
  #writtenAt: number;

  /** `now` is in milliseconds of a monotonic clock; `lost` tells how many values could not be written, `isLeftOut` which ones have no room. */
  constructor(
    hub: { readonly revision: number },
    now: () => number,
    lost: () => number,
    isLeftOut: (parameter: Parameter) => boolean,
  ) {
    this.#lost = lost;
    this.isLeftOut = isLeftOut;
    this.#hub = hub;
    this.#now = now;
    this.#written = hub.revision;
    this.#writtenAt = now();
  }

  /** Notes that all changes up to a revision are on the disk. */
  wrote(rows: number, revision: number): void {
    this.#written = revision;
    this.#writtenAt = this.#now();
    if (rows > 0) this.#rate.add(this.#writtenAt, rows);
    for (const one of this.#waiting) if (one.revision <= revision) one.resolve();
  }

  status(): WritingStatus {
    const isBehind = this.#hub.revision > this.#written;
    const now = this.#now();
    return { perSecond: this.#rate.perSecond(now), lagMs: isBehind ? now - this.#writtenAt : 0, lost: this.#lost() };
  }

  async flush(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const one = { revision: this.#hub.revision, resolve };
    this.#waiting.add(one);
    await within(promise, flushDeadlineMs);
    this.#waiting.delete(one);
  }
}
