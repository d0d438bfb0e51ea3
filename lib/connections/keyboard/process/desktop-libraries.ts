// What the operator reads when an optional package is not there.
import { messageOf } from '../../../model/error.ts';
import { eitherSide, keyByName, keys } from '../key-table.ts';
import type { KeyListener } from './hotkeys.ts';
import type { Presser } from './presser.ts';

/** Errors: always. */
function missing(library: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`the optional package ${library} is not installed or does not load: ${messageOf(error)}`);
  };
}

// Presses keys on Windows and macOS, where the code of a key in nut-js names the same key in every layout.

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

// Hears keys on Windows and macOS, by uiohook-napi: it has one code for each key, and one name for each code.

/** Errors: one sentence, when the optional package is not there. */
export async function hearByLibrary(listener: KeyListener): Promise<void> {
  const { uIOhook } = await import('uiohook-napi').catch(missing('uiohook-napi'));
  const rows = keys.filter(({ name }) => !eitherSide.has(name));
  const namesOfCode = new Map(rows.flatMap(({ heardAs, name }) => heardAs.map((code) => [code, [name]])));
  // A key of the pad has two codes, and may be pressed with one and released with the other.
  const firstCodes = new Map(rows.flatMap(({ heardAs }) => heardAs.map((code) => [code, heardAs[0]!])));
  uIOhook.on('keydown', ({ keycode }) =>
    listener.down(firstCodes.get(keycode) ?? keycode, namesOfCode.get(keycode) ?? []),
  );
  uIOhook.on('keyup', ({ keycode }) => listener.up(firstCodes.get(keycode) ?? keycode));
  uIOhook.start();
}
