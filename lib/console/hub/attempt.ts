// What people have the hub do: whether it is at it, and why that failed.

import { type Accessor, createSignal } from 'solid-js';
import { messageOf } from '../../model/error.ts';

export interface Attempt {
  readonly isBusy: Accessor<boolean>;
  /** Why the last one has failed, as a sentence; empty: it has not. */
  readonly failure: Accessor<string>;
  /** Does it, and refreshes what people see, also after a failure. Never rejects. */
  run(work: () => Promise<unknown>): Promise<void>;
}

export function createAttempt(refresh: () => void): Attempt {
  const [isBusy, setBusy] = createSignal(false);
  const [failure, setFailure] = createSignal('');
  return {
    isBusy,
    failure,
    async run(work) {
      setBusy(true);
      setFailure('');
      try {
        await work();
      } catch (error) {
        setFailure(messageOf(error));
      }
      setBusy(false);
      refresh();
    },
  };
}
