// The redraw rate for a list of rows. Initially, changes are drawn often, so that the eye can follow a value. Values that keep changing are
// drawn rarely: they are not readable anyway, and drawing costs processor time, possibly on the hub's machine.

/** The number of redraws per second at first. */
export const livelyRate = 3;
/** The number of redraws per second while values keep changing. */
export const calmRate = 1;
/** How long changes have to continue before the calm rate applies, in milliseconds. */
export const calmAfterMs = 3000;
/** The length of the pause after which the lively rate applies again, in milliseconds. */
export const pauseMs = 2000;

export interface Pace {
  /** Records a change at a time in milliseconds, on a clock that never jumps. Returns the number of redraws per second from now on. */
  rateAt(nowMs: number): number;
  /** Starts over with the lively rate, because other rows are shown. */
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
