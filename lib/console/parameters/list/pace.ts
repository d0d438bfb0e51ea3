// How often a list of rows is drawn while its values move. At first it is drawn often, for people who follow a value with the eye.
// Values that go on moving are drawn rarely: nobody can read them, and drawing is work for the machine, which may be the hub's.

/** How often a second it is drawn. */
export const livelyRate = 3;
export const calmRate = 1;
/** How long it moves without a pause before it is drawn calmly, and how long a pause is. */
export const calmAfterMs = 3000;
export const pauseMs = 2000;

export interface Pace {
  /** Hears that something moves at this time of a monotonic clock. Returns how often a second to draw the list. */
  rateAt(nowMs: number): number;
  /** The list shows other rows: what moves now has just begun to. */
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
