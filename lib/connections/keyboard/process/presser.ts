// Presses and releases keys, each by the code under which it was found; and a whole combination, of which nothing stays
// down.

import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../../model/error.ts';

/** Between two key events of a press; a combination of two keys takes about 20 ms, which programs that poll notice. */
const keyDelayMs = 5;

export interface Presser {
  /** The codes of keys, which stay theirs when the layout changes. Errors: one sentence, of a key that is not there. */
  find(names: readonly string[]): Promise<readonly number[]>;
  press(code: number): Promise<void>;
  /** Releases a key; one that is not down stays as it is. */
  release(code: number): Promise<void>;
}

/**
 * Presses the keys first to last and releases them in reverse. Resolves with why one of them could not be pressed, empty
 * when all were; no key is down then. Errors: one could not be released.
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
