// Timers of the page, each of which ends with the scope that calls it.
import { onCleanup } from 'solid-js';

/** Does work again and again. */
export function useInterval(work: () => void, intervalMs: number): void {
  const timer = setInterval(work, intervalMs);
  onCleanup(() => clearInterval(timer));
}

interface Delay {
  /** Does work later, instead of what was to be done. */
  start(delayMs: number, work: () => void): void;
  stop(): void;
}

/** One piece of work at a time that is put off. */
export function useDelay(): Delay {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  onCleanup(stop);
  return {
    start(delayMs, work) {
      stop();
      timer = setTimeout(work, delayMs);
    },
    stop,
  };
}
