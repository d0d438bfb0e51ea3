// The redraw rate for a list of rows. Initially, changes are drawn often, so that the eye can follow a value. Values that keep changing are
// drawn rarely: they are not readable anyway, and drawing costs processor time, possibly on the hub's machine.

/** The numbers of redraws per second. */
export const livelyRate = 3;
export const calmRate = 1;
/** How long changes continue before the calm rate applies, and the length of the pause that ends it, in milliseconds. */
export const calmAfterMs = 3000;
export const pauseMs = 2000;

export interface Pace {
  /** Records a change at a time on a monotonic clock. Returns the number of redraws per second. */
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
