// Presses keys on Windows and macOS, where the code of a key in nut-js names the same key in every layout.

import { keyByName } from '../key-table.ts';
import { missing } from './missing.ts';
import type { Presser } from './presser.ts';

const library = '@nut-tree-fork/nut-js';

/** Errors: one sentence, when the optional package is not there. */
export async function openNutJs(): Promise<Presser> {
  const { keyboard, Key, providerRegistry } = await import('@nut-tree-fork/nut-js').catch(missing(library));
  keyboard.config.autoDelayMs = 0;
  providerRegistry.getKeyboard().setKeyboardDelay(0); // its own delay would block this process
  return {
    find: async (names) => names.map((name) => Key[keyByName.get(name)?.pressedAs as keyof typeof Key]),
    press: async (code) => void (await keyboard.pressKey(code)),
    // It errs for a key that it does not know, and has not pressed.
    release: async (code) => void (await keyboard.releaseKey(code).catch(() => {})),
  };
}
