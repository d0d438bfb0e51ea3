// The mean of a number over the last parts of time, in which it counts as long as it lasts. Of each part it holds one sum, however
// often the number changes.

export interface MeanOverTime {
  put(number: number, nowMs: number): void;
  /** Ends the present part, and tells the mean of the last ones; settled: the number has been the same in all of them. */
  take(nowMs: number): { readonly number: number; readonly isSettled: boolean };
}

interface Part {
  /** Number × milliseconds. */
  readonly area: number;
  readonly ms: number;
}

export function createMean(most: number, partMs: number): MeanOverTime {
  let parts: Part[] = [];
  let present: number | undefined;
  let sinceMs = 0;
  let area = 0;
  let ms = 0;
  /** How many parts have ended since the number has changed. */
  let quiet = Infinity;
  const pass = (nowMs: number) => {
    area += (present ?? 0) * (nowMs - sinceMs);
    ms += nowMs - sinceMs;
    sinceMs = nowMs;
  };
  return {
    put(number, nowMs) {
      if (quiet > most && present !== undefined) {
        parts = Array.from({ length: most }, () => ({ area: present! * partMs, ms: partMs }));
        sinceMs = nowMs;
      } else if (present === undefined) sinceMs = nowMs;
      else pass(nowMs);
      present = number;
      quiet = 0;
    },
    take(nowMs) {
      pass(nowMs);
      parts.push({ area, ms });
      if (parts.length > most) parts.shift();
      [area, ms] = [0, 0];
      const isSettled = ++quiet > most;
      if (isSettled) return { number: present!, isSettled };
      const sum = parts.reduce((all, part) => ({ area: all.area + part.area, ms: all.ms + part.ms }));
      return { number: Number((sum.area / sum.ms).toPrecision(12)), isSettled };
    },
  };
}
