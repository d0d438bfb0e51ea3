// Decides which hotkey fires when (D-10): once, when the first of its keys is released after all of them were down together, with
// exactly its modifiers. It is pure: key downs and key ups go in, hotkeys come out.

import { modifiers, physicalKeys } from '../key-table.ts';

interface Hotkey {
  /** The keys of the combination, each with the physical keys that stand for it. */
  readonly places: readonly (readonly string[])[];
  readonly keys: ReadonlySet<string>;
  readonly isModifiersOnly: boolean;
}

/**
 * Follows a keyboard. Keys have their names of the key table, left and right apart (`lctrl`). A hotkey is armed when the last of
 * its keys goes down while no other modifier is held. Another modifier disarms it: releasing shift first does not turn
 * ctrl+shift+F1 into ctrl+F1. A hotkey of modifiers alone is disarmed by any other key.
 */
export class Hotkeys {
  readonly #hotkeys: readonly Hotkey[];
  readonly #held = new Set<string>();
  readonly #armed = new Set<Hotkey>();

  constructor(combinations: readonly (readonly string[])[]) {
    this.#hotkeys = combinations.map((names) => {
      const places = names.map(physicalKeys);
      const keys = new Set(places.flat());
      return { places, keys, isModifiersOnly: [...keys].every((key) => modifiers.has(key)) };
    });
  }

  /** A key goes down; a repeat of a held key changes nothing. */
  down(key: string): void {
    if (this.#held.has(key)) return;
    this.#held.add(key);
    for (const hotkey of this.#hotkeys) {
      if (hotkey.keys.has(key)) {
        if (this.#isComplete(hotkey)) this.#armed.add(hotkey);
      } else if (modifiers.has(key) || hotkey.isModifiersOnly) this.#armed.delete(hotkey);
    }
  }

  /** A key goes up; returns which hotkeys fire, as places in the list of combinations. */
  up(key: string): number[] {
    this.#held.delete(key);
    const fired = this.#hotkeys.filter((hotkey) => hotkey.keys.has(key) && this.#armed.delete(hotkey));
    return fired.map((hotkey) => this.#hotkeys.indexOf(hotkey));
  }

  #isComplete({ places, keys }: Hotkey): boolean {
    return (
      places.every((keysForIt) => keysForIt.some((key) => this.#held.has(key))) &&
      [...this.#held].every((key) => keys.has(key) || !modifiers.has(key))
    );
  }
}
