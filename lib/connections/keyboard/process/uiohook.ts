// Hears keys on Windows and macOS, by uiohook-napi: it has one code for each key, and one name for each code.

import { eitherSide, keys } from '../key-table.ts';
import type { KeyListener } from './hotkeys.ts';
import { missing } from './missing.ts';

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
