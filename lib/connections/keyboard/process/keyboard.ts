// The keyboard of this machine: an X server, or by two libraries, as the platform has it.

import { env, platform } from 'node:process';
import { physicalKeys, type Side, supportOf } from '../key-table.ts';
import { hearByLibrary, openNutJs } from './desktop-libraries.ts';
import type { KeyListener } from './hotkeys.ts';
import type { Presser } from './presser.ts';
import { Layout } from './x11/layout.ts';
import { hearRawKeys, openXTest } from './x11/raw-keys.ts';
import { XServer } from './x11/server.ts';

export interface Keyboard {
  /** Errors: one sentence, when keys cannot be pressed. */
  openPresser(): Promise<Presser>;
  /** Errors: one sentence, when keys cannot be heard. */
  hear(listener: KeyListener): Promise<void>;
  /** Why a combination cannot be heard or pressed now; empty: it can. */
  whyNot(names: readonly string[], side: Side): string;
  /** Calls back whenever names may stand on other keys. */
  onChange(changed: () => void): void;
  /** Resolves when the keyboard is gone, with the reason. */
  readonly ended: Promise<Error>;
}

/** Opens the X server that DISPLAY names, or what Windows and macOS have. Errors: one sentence. */
export async function openKeyboard(opening: (display: string) => Promise<void>): Promise<Keyboard> {
  if (platform === 'win32' || platform === 'darwin') return byLibraries;
  const display = env.DISPLAY;
  if (!display) throw new Error('there is no display: DISPLAY is not set');
  await opening(display);
  const server = await XServer.open(display, env.XAUTHORITY || undefined);
  const layout = await Layout.open(server);
  return {
    openPresser: () => openXTest(server, layout),
    hear: (listener) => hearRawKeys(server, layout, listener),
    whyNot: (names, side) => whyNotIn(layout, names, side),
    onChange: (changed) => {
      layout.changed = changed;
    },
    ended: server.ended,
  };
}

const byLibraries: Keyboard = {
  openPresser: openNutJs,
  hear: hearByLibrary,
  whyNot: (names, side) => {
    const foreign = names.find((name) => supportOf(name, side) === 'only under X11');
    return foreign === undefined ? '' : `the key "${foreign}" is one of X11 only`;
  },
  onChange: () => {},
  ended: new Promise(() => {}),
};

/** A hotkey takes either side of a modifier. Two names on one key can neither be heard nor pressed as two. */
function whyNotIn(layout: Layout, names: readonly string[], side: Side): string {
  const owners = new Map<number, string>();
  for (const name of names) {
    const codes =
      side === 'input'
        ? physicalKeys(name).flatMap((key) => layout.heardAs(key))
        : [layout.pressedFor(name)].filter((code) => code !== undefined);
    if (codes.length === 0) return `the keyboard layout has no key "${name}"`;
    const other = codes.map((code) => owners.get(code)).find((owner) => owner !== undefined);
    if (other !== undefined) return `the keyboard layout has "${other}" and "${name}" on one key`;
    for (const code of codes) owners.set(code, name);
  }
  return '';
}
