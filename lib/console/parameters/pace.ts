// How often a list of rows is drawn while its values move: often as long as someone may follow one of them with the eye, and
// rarely once it goes on and on, since that is work for the machine, which may be the hub's, that nobody can read.

/** Times a second. */
export const livelyRate = 3;
export const calmRate = 1;
/** So long it moves without a pause until it is drawn calmly. */
export const calmAfterMs = 3000;
export const pauseMs = 2000;

export interface Pace {
  /** Something moves at this moment of a monotonic clock; returns how often a second the list is to be drawn. */
  rateAt(nowMs: number): number;
  /** The list is another: what moves now has just begun to. */
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
