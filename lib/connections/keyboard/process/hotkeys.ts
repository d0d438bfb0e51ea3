// Decides when a hotkey fires (D-10): once, when the first of its keys is released after all of its keys were held down together with
// exactly its modifiers. This module has no side effects: it converts key events to hotkeys.

import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../../model/error.ts';
import { modifiers, physicalKeys } from '../key-table.ts';

/**
 * Receives key events, which contain key codes. `names` contains all names that the key has when it goes down, including modifiers with
 * their side.
 */
export interface KeyListener {
  down(code: number, names: readonly string[]): void;
  up(code: number): void;
}

interface Hotkey {
  /** The keys of the combination. Each key is a list of the physical keys that count as this key. */
  readonly places: readonly (readonly string[])[];
  readonly keys: ReadonlySet<string>;
  readonly isModifiersOnly: boolean;
}

/**
 * Tracks the keys that are held down and finds the hotkeys that fire. Keys have the names from the key table, with left and right
 * distinguished (`lctrl`), and keep the names that they had when they went down. A hotkey is armed when the last of its keys goes down
 * while no other modifier is held. Another modifier disarms it, so that releasing shift first does not turn ctrl+shift+F1 into ctrl+F1. A
 * hotkey that consists only of modifiers is disarmed by any other key.
 */
export class Hotkeys {
  readonly #hotkeys: readonly Hotkey[];
  /** The names of the keys that are held down, keyed by key code. */
  readonly #held = new Map<number, readonly string[]>();
  readonly #armed = new Set<Hotkey>();

  constructor(combinations: readonly (readonly string[])[]) {
    this.#hotkeys = combinations.map((names) => {
      const places = names.map(physicalKeys);
      const keys = new Set(places.flat());
      return { places, keys, isModifiersOnly: [...keys].every((key) => modifiers.has(key)) };
    });
  }

  /** Handles a key that goes down, with all its names. Repeated events for a held key have no effect. */
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

  /** Handles a key that goes up. Returns the indexes of the hotkeys that fire, in the list of combinations. */
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

// Presses and releases single keys by code, and whole combinations, after which no key is down

/**
 * The pause between two key events, in milliseconds. A combination of two keys takes about 20 ms, which is long enough for programs that
 * poll.
 */
const keyDelayMs = 5;

export interface Presser {
  /**
   * Returns the key codes for names. A code stays valid when the layout changes. Errors: `Error` with a readable message if the keyboard
   * lacks a key.
   */
  find(names: readonly string[]): Promise<readonly number[]>;
  press(code: number): Promise<void>;
  /** Releases a key. Does nothing if the key is not down. */
  release(code: number): Promise<void>;
}

/**
 * Presses the keys in order and releases them in reverse order. Resolves when none of the keys is down: with '' or, if a key could not be
 * pressed, with the reason. Rejects if a key could not be released.
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
