// Writes for one control at a bounded rate. The first write is sent immediately. Then at most one is under way, and only the newest waits.
// So the final value always arrives, and old ones do not fill a slow link.
import type { Value } from '../../../client/index.ts';

/** Minimum time between two writes of one control. */
export const writeIntervalMs = 50;

interface Writer {
  /** Whether a write is under way or waits. */
  readonly isBusy: boolean;
  write(value: Value): void;
}

interface WriterOptions {
  /** Carries out one write. */
  readonly send: (value: Value) => Promise<void>;
  /** Everything has arrived, or the last write has failed. */
  readonly settled: (error: unknown) => void;
}

export function createWriter({ send, settled }: WriterOptions): Writer {
  let isBusy = false;
  let waiting: { value: Value } | undefined;

  const run = async (first: Value) => {
    isBusy = true;
    waiting = { value: first };
    let error: unknown;
    while (waiting !== undefined) {
      const { value } = waiting;
      waiting = undefined;
      const pause = new Promise((resolve) => setTimeout(resolve, writeIntervalMs));
      error = await send(value).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      await pause;
    }
    isBusy = false;
    settled(error);
  };
  return {
    get isBusy() {
      return isBusy;
    },
    write(value) {
      if (isBusy) waiting = { value };
      else void run(value);
    },
  };
}
