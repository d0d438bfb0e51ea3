// The time of day, read once per round of the event loop, since to read the clock costs more than the rest of a write.

/** Creates a clock: milliseconds since 1970, the same for everything that happens in one round of the event loop. */
export function createRoundClock(): () => number {
  let now = 0;
  const expire = () => {
    now = 0;
  };
  return () => {
    if (now === 0) {
      now = Date.now();
      setImmediate(expire);
    }
    return now;
  };
}
