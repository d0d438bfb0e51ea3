// The redraw rate of a list of rows. At first changes are drawn often, so the eye can follow a value. Values that keep changing are
// drawn rarely: they are not readable anyway, and drawing costs processor time, perhaps on the machine of the hub.

/** Redraws per second. */
export const livelyRate = 3;
export const calmRate = 1;
/** The time for which changes continue before the calm rate applies, and the length of a pause that ends it. */
export const calmAfterMs = 3000;
export const pauseMs = 2000;

export interface Pace {
  /** Notes a change at a time of a monotonic clock. Returns the redraws per second. */
  rateAt(nowMs: number): number;
  /** Starts over, for other rows. */
  restart(): void;
}

export function createPace(): Pace {
  let beganMs = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    rateAt(nowMs) {
      if (nowMs - lastMs > pauseMs) beganMs = nowMs;
      lastMs = nowMs;
      return nowMs - beganMs < calmAfterMs ? livelyRate : calmRate;
    },
    restart() {
      lastMs = Number.NEGATIVE_INFINITY;
    },
  };
}
