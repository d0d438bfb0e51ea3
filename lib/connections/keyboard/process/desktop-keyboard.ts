// The keyboard of this machine, which is accessed through an X server or through two libraries, depending on the platform.
import { env, platform } from 'node:process';
import { messageOf } from '../../../model/error.ts';
import { eitherSide, keyByName, keys, physicalKeys, type Side, supportOf } from '../key-table.ts';
import type { KeyListener, Presser } from './hotkeys.ts';
import { Layout } from './x11/keyboard-layout.ts';
import { listenToRawKeys, openXTest } from './x11/raw-keys.ts';
import { XServer } from './x11/x-server.ts';

export interface Keyboard {
  /** Prepares the keyboard for pressing keys. Errors: `Error` with a readable message if keys cannot be pressed. */
  openPresser(): Promise<Presser>;
  /** Starts to detect keys. Errors: `Error` with a readable message if keys cannot be detected. */
  listen(listener: KeyListener): Promise<void>;
  /** Returns the reason why a combination currently cannot be detected or pressed, or '' if it can. */
  whyNot(names: readonly string[], side: Side): string;
  /** Registers a function that is called whenever key names may refer to other keys than before. */
  onChange(changed: () => void): void;
  /** Resolves with the reason when the keyboard is no longer available. */
  readonly ended: Promise<Error>;
}

/** Opens the keyboard: the X server in DISPLAY or, on Windows and macOS, the libraries. Errors: `Error` with a readable message. */
export async function openKeyboard(opening: (display: string) => Promise<void>): Promise<Keyboard> {
  if (platform === 'win32' || platform === 'darwin') return byLibraries;
  const display = env.DISPLAY;
  if (!display) throw new Error('no display is available: DISPLAY is not set');
  await opening(display);
  const server = await XServer.open(display, env.XAUTHORITY || undefined);
  const layout = await Layout.open(server);
  return {
    openPresser: () => openXTest(server, layout),
    listen: (listener) => listenToRawKeys(server, layout, listener),
    whyNot: (names, side) => whyNotIn(layout, names, side),
    onChange: (changed) => {
      layout.changed = changed;
    },
    ended: server.ended,
  };
}

const byLibraries: Keyboard = {
  openPresser: openNutJs,
  listen: listenByLibrary,
  whyNot: (names, side) => {
    const foreign = names.find((name) => supportOf(name, side) === 'only under X11');
    return foreign === undefined ? '' : `the key "${foreign}" works only under X11`;
  },
  onChange: () => {},
  ended: new Promise(() => {}),
};

/**
 * Returns the reason why a combination cannot be used with a layout. A hotkey accepts either side of a modifier. Two names for the same key
 * can be neither detected nor pressed as two keys.
 */
function whyNotIn(layout: Layout, names: readonly string[], side: Side): string {
  const owners = new Map<number, string>();
  for (const name of names) {
    const codes =
      side === 'input'
        ? physicalKeys(name).flatMap((key) => layout.detectedAs(key))
        : [layout.pressedFor(name)].filter((code) => code !== undefined);
    if (codes.length === 0) return `the keyboard layout has no key "${name}"`;
    const other = codes.map((code) => owners.get(code)).find((owner) => owner !== undefined);
    if (other !== undefined) return `the keyboard layout has "${other}" and "${name}" on the same key`;
    for (const code of codes) owners.set(code, name);
  }
  return '';
}

// Errors for missing optional packages

/** Returns an error handler that throws a sentence about a missing optional package. */
function missing(library: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`the optional package ${library} is not installed or cannot be loaded: ${messageOf(error)}`);
  };
}

// Presses keys on Windows and macOS, where a nut-js code stands for the same key in every layout

const library = '@nut-tree-fork/nut-js';

/** Loads nut-js. Errors: `Error` with a readable message if the optional package is missing. */
export async function openNutJs(): Promise<Presser> {
  const { keyboard, Key, providerRegistry } = await import('@nut-tree-fork/nut-js').catch(missing(library));
  keyboard.config.autoDelayMs = 0;
  providerRegistry.getKeyboard().setKeyboardDelay(0); // otherwise, nut-js would block this process during its own delay
  return {
    find: async (names) => names.map((name) => Key[keyByName.get(name)?.pressedAs as keyof typeof Key]),
    press: async (code) => void (await keyboard.pressKey(code)),
    // `releaseKey` rejects if the key is unknown. Such a key is never down, because `pressKey` rejects as well.
    release: async (code) => void (await keyboard.releaseKey(code).catch(() => {})),
  };
}

// Detects keys on Windows and macOS with uiohook-napi, in which each key has one code and each code has one name

/** Starts to detect keys with uiohook-napi. Errors: `Error` with a readable message if the optional package is missing. */
async function listenByLibrary(listener: KeyListener): Promise<void> {
  const { uIOhook } = await import('uiohook-napi').catch(missing('uiohook-napi'));
  const rows = keys.filter(({ name }) => !eitherSide.has(name));
  const namesOfCode = new Map(rows.flatMap(({ detectedAs, name }) => detectedAs.map((code) => [code, [name]])));
  // A numpad key has two codes. It may go down with one code and up with the other.
  const firstCodes = new Map(rows.flatMap(({ detectedAs }) => detectedAs.map((code) => [code, detectedAs[0]!])));
  uIOhook.on('keydown', ({ keycode }) =>
    listener.down(firstCodes.get(keycode) ?? keycode, namesOfCode.get(keycode) ?? []),
  );
  uIOhook.on('keyup', ({ keycode }) => listener.up(firstCodes.get(keycode) ?? keycode));
  uIOhook.start();
}
