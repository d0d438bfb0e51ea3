// Decides which hotkey fires when (D-10): once, when the first of its keys is released after all of them were down together, with
// exactly its modifiers. It is pure: key downs and key ups go in, hotkeys come out.

import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../../model/error.ts';
import { modifiers, physicalKeys } from '../key-table.ts';

/** Hears keys by their codes; `names` are all that the key bears as it goes down, of modifiers with their side. */
export interface KeyListener {
  down(code: number, names: readonly string[]): void;
  up(code: number): void;
}

interface Hotkey {
  /** The keys of the combination, each with the physical keys that stand for it. */
  readonly places: readonly (readonly string[])[];
  readonly keys: ReadonlySet<string>;
  readonly isModifiersOnly: boolean;
}

/**
 * Follows a keyboard. Keys have their names of the key table, left and right apart (`lctrl`), and keep those that they went down
 * with. A hotkey is armed when the last of its keys goes down while no other modifier is held. Another modifier disarms it:
 * releasing shift first does not turn ctrl+shift+F1 into ctrl+F1. A hotkey of modifiers alone is disarmed by any other key.
 */
export class Hotkeys {
  readonly #hotkeys: readonly Hotkey[];
  /** The names of each key that is down, by its code. */
  readonly #held = new Map<number, readonly string[]>();
  readonly #armed = new Set<Hotkey>();

  constructor(combinations: readonly (readonly string[])[]) {
    this.#hotkeys = combinations.map((names) => {
      const places = names.map(physicalKeys);
      const keys = new Set(places.flat());
      return { places, keys, isModifiersOnly: [...keys].every((key) => modifiers.has(key)) };
    });
  }

  /** A key goes down, which may bear several names; a repeat of a held key changes nothing. */
  down(code: number, names: readonly string[]): void {
    if (this.#held.has(code)) return;
    this.#held.set(code, names);
    const isModifier = names.some((name) => modifiers.has(name));
    for (const hotkey of this.#hotkeys) {
      if (isOf(hotkey, names)) {
        if (this.#isComplete(hotkey)) this.#armed.add(hotkey);
      } else if (isModifier || hotkey.isModifiersOnly) this.#armed.delete(hotkey);
    }
  }

  /** A key goes up; returns which hotkeys fire, as places in the list of combinations. */
  up(code: number): number[] {
    const names = this.#held.get(code) ?? [];
    this.#held.delete(code);
    const fired = this.#hotkeys.filter((hotkey) => isOf(hotkey, names) && this.#armed.delete(hotkey));
    return fired.map((hotkey) => this.#hotkeys.indexOf(hotkey));
  }

  #isComplete(hotkey: Hotkey): boolean {
    const held = [...this.#held.values()];
    return (
      hotkey.places.every((place) => held.some((names) => names.some((name) => place.includes(name)))) &&
      held.every((names) => isOf(hotkey, names) || !names.some((name) => modifiers.has(name)))
    );
  }
}

function isOf({ keys }: Hotkey, names: readonly string[]): boolean {
  return names.some((name) => keys.has(name));
}

// Presses and releases keys by their codes, and whole combinations, of which no key stays down.

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
