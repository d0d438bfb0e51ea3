// The keyboard's own process. Both libraries are native and end it at once when the display is missing or goes away,
// which the hub survives. It lives as long as its channel to the hub.

import { messageOf } from '../../model/error.ts';
import { findXServer } from './display.ts';
import { Hotkeys } from './hotkeys.ts';
import { eitherSide, keyByName, keys } from './key-table.ts';
import type { FromProcess, ToProcess } from './messages.ts';

/** Between two key events of a press; a combination of two keys takes about 20 ms, which programs that poll notice. */
const keyDelayMs = 5;

let pressKeys: ((names: readonly string[]) => Promise<void>) | undefined;
let work = Promise.resolve();

process.on('message', (message: ToProcess) => {
  work = work.then(() => ('press' in message ? press(message.press) : start(message))).catch(giveUp);
});
process.on('disconnect', () => void work.then(() => process.exit()));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {}); // the hub ends by them, then this

async function start({ listen, presses, release }: Extract<ToProcess, { listen: unknown }>): Promise<void> {
  if (process.platform !== 'win32' && process.platform !== 'darwin') {
    if (!process.env.DISPLAY) throw new Error('there is no display: DISPLAY is not set');
    await tell({ opening: process.env.DISPLAY });
    await findXServer(process.env.DISPLAY);
  }
  const { uIOhook } = await import('uiohook-napi').catch(missing('uiohook-napi'));
  const hotkeys = new Hotkeys(listen);
  const nameOfCode = new Map(
    keys
      .filter(({ name }) => !eitherSide.has(name))
      .flatMap(({ heardAs, name }) => heardAs.map((code) => [code, name])),
  );
  const heard = (code: number, handle: (name: string) => void) => {
    const name = nameOfCode.get(code);
    if (name !== undefined) handle(name);
  };
  uIOhook.on('keydown', ({ keycode }) => heard(keycode, (name) => hotkeys.down(name)));
  uIOhook.on('keyup', ({ keycode }) =>
    heard(keycode, (name) => {
      for (const fired of hotkeys.up(name)) tell({ fired });
    }),
  );
  uIOhook.start(); // also without hotkeys: it notices when the display goes away
  if (presses) pressKeys = await openPresses(release);
  await tell({ ready: true });
}

async function openPresses(release: readonly string[]): Promise<typeof pressKeys> {
  const library = '@nut-tree-fork/nut-js';
  const { keyboard, Key, providerRegistry } = await import('@nut-tree-fork/nut-js').catch(missing(library));
  keyboard.config.autoDelayMs = keyDelayMs;
  providerRegistry.getKeyboard().setKeyboardDelay(0); // its own delay would block this process
  const codeOf = (name: string) => Key[keyByName.get(name)?.pressedAs as keyof typeof Key];
  for (const name of release) await keyboard.releaseKey(codeOf(name));
  return async (names) => {
    const down: number[] = [];
    try {
      for (const name of names) {
        await keyboard.pressKey(codeOf(name));
        down.unshift(codeOf(name));
      }
    } finally {
      for (const code of down) await keyboard.releaseKey(code);
    }
  };
}

async function press(names: readonly string[]): Promise<void> {
  let failure = '';
  try {
    await pressKeys?.(names);
  } catch (error) {
    failure = messageOf(error);
  }
  await tell({ pressed: true, failure });
}

function missing(library: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`the optional package ${library} is not installed or does not load: ${messageOf(error)}`);
  };
}

function tell(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, () => resolve());
    else resolve();
  });
}

async function giveUp(error: unknown): Promise<void> {
  await tell({ fault: messageOf(error) });
  process.exit(1);
}
