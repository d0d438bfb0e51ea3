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

/**
 * Asks at each call of what it returns, and again so long after each answer, while the page is seen. `ask` never rejects; it is
 * told how to know whether its answer is still wanted.
 */
export function usePolling(ask: (isWanted: () => boolean) => Promise<void>, intervalMs: number): () => Promise<void> {
  const pause = useDelay();
  let round = 0;
  const poll = async () => {
    pause.stop();
    const own = ++round;
    if (document.hidden) return;
    await ask(() => own === round);
    if (own === round) pause.start(intervalMs, poll);
  };
  document.addEventListener('visibilitychange', poll);
  onCleanup(() => {
    document.removeEventListener('visibilitychange', poll);
    round++;
  });
  return poll;
}

/**
 * Work that takes time, one piece after another: what is asked for meanwhile is done once, afterwards. `work` never rejects; it is
 * told how to know whether its outcome is still wanted.
 */
export function useOneAtATime(work: (isWanted: () => boolean) => Promise<void>): () => void {
  let isBusy = false;
  let isAsked = false;
  let isOver = false;
  onCleanup(() => {
    isOver = true;
  });
  const run = async () => {
    isAsked = true;
    if (isBusy) return;
    isBusy = true;
    while (isAsked && !isOver) {
      isAsked = false;
      await work(() => !isOver);
    }
    isBusy = false;
  };
  return () => void run();
}
