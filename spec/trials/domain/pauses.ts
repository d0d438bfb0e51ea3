// How long this process stood still at most: a machine that is too busy delays everything, and no fault of a hub explains that.

const everyMs = 20;

export interface Pauses {
  /** The longest pause in milliseconds. */
  end(): number;
}

export function watchPauses(): Pauses {
  let lastMs = performance.now();
  let longestMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, everyMs);
  return {
    end() {
      clearInterval(timer);
      return Math.round(longestMs);
    },
  };
}
