// Timers that end with the calling reactive scope.
import { onCleanup } from 'solid-js';

/** Runs work repeatedly at an interval in milliseconds. */
export function useInterval(work: () => void, intervalMs: number): void {
  const timer = setInterval(work, intervalMs);
  onCleanup(() => clearInterval(timer));
}

interface Delay {
  /** Runs work after a delay in milliseconds, in place of any pending work. */
  start(delayMs: number, work: () => void): void;
  stop(): void;
}

/** Creates a timer that delays one piece of work at a time, and ends with the calling reactive scope. */
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
