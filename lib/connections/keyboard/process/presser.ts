// Presses and releases keys by their codes, and whole combinations, of which no key stays down.

import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../../model/error.ts';

/** The pause between two key events. A combination of two keys takes about 20 ms, so that programs that poll notice it. */
const keyDelayMs = 5;

export interface Presser {
  /**
   * Finds the codes of keys; a code stays the same when the layout changes. Errors: one sentence, for a key that is not
   * there.
   */
  find(names: readonly string[]): Promise<readonly number[]>;
  press(code: number): Promise<void>;
  /** Releases a key; one that is not down stays as it is. */
  release(code: number): Promise<void>;
}

/**
 * Presses the keys first to last and releases them in reverse. Resolves when no key is down, with why one of them could not be
 * pressed, or with an empty text. Errors: when one could not be released.
 */
export async function pressCombination(presser: Presser, codes: readonly number[]): Promise<string> {
  const down: number[] = [];
  let failure = '';
  try {
    for (const code of codes) {
      down.unshift(code);
      await presser.press(code);
      await setTimeout(keyDelayMs);
    }
  } catch (error) {
    failure = messageOf(error);
  }
  for (const code of down) {
    await presser.release(code);
    await setTimeout(keyDelayMs);
  }
  return failure;
}
