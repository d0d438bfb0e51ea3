// Writes for one control at a limited rate. The first write is sent immediately. After that, at most one write is in progress, and only the
// newest write waits. Therefore, the final value always arrives, and outdated values do not congest a slow link.
import type { Value } from '../../../client/index.ts';

/** The minimum time between two writes for one control, in milliseconds. */
export const writeIntervalMs = 50;

interface Writer {
  /** Whether a write of this control is in progress or waiting. */
  readonly isBusy: boolean;
  write(value: Value): void;
}

interface WriterOptions {
  /** Sends one value to the hub. Errors: any error from the write. */
  readonly send: (value: Value) => Promise<void>;
  /** Called when the newest value has arrived, or when the last write has failed. */
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
