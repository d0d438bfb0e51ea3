// By how much the event loop is late: what a client waits at least.

import { Durations } from '../../../model/time/duration.ts';

/** Each look wakes a hub that has nothing to do. */
const everyMs = 100;

let delays: Durations | undefined;

/** Watches the event loop of this process, from the first call on. */
export function loopDelays(): Durations {
  delays ??= watch();
  return delays;
}

function watch(): Durations {
  const found = new Durations();
  let dueMs = performance.now() + everyMs;
  const look = () => {
    const now = performance.now();
    found.add(Math.max(0, now - dueMs) / 1000);
    dueMs = now + everyMs;
  };
  setInterval(look, everyMs).unref();
  return found;
}
