// The program of the keyboard's own process. Both libraries are native code, which ends the process at once when the display is
// missing or goes away; the hub survives that. The process lives as long as its channel to the hub.

import { messageOf } from '../../../model/error.ts';
import { eitherSide, keys } from '../key-table.ts';
import type { FromProcess, ToProcess } from '../messages.ts';
import { Hotkeys } from './hotkeys.ts';
import { missing } from './missing.ts';
import { openNutJs } from './nut-js.ts';
import { type Presser, pressCombination } from './presser.ts';
import { XServer } from './x11/server.ts';
import { openXTest } from './x11/xtest.ts';

let presser: Presser | undefined;
let work = Promise.resolve();

process.on('message', (message: ToProcess) => {
  work = work.then(() => ('press' in message ? press(message.press) : start(message))).catch(giveUp);
});
process.on('disconnect', () => void work.then(() => process.exit()));
// These signals end the hub, and this process ends after it: it has keys to release.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {});

async function start({ listen, presses, release }: Extract<ToProcess, { listen: unknown }>): Promise<void> {
  const open = await findKeyboard();
  if (presses) presser = await open();
  for (const code of release) await presser?.release(code);
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
  uIOhook.start(); // without hotkeys as well: it notices when the display goes away
  await tell({ ready: true });
}

/** Finds the display before the library that hears keys needs it. What it returns opens the presser. */
async function findKeyboard(): Promise<() => Promise<Presser>> {
  if (process.platform === 'win32' || process.platform === 'darwin') return openNutJs;
  const display = process.env.DISPLAY;
  if (!display) throw new Error('there is no display: DISPLAY is not set');
  await tell({ opening: display });
  const server = await XServer.open(display, process.env.XAUTHORITY || undefined);
  return () => openXTest(server);
}

async function press(names: readonly string[]): Promise<void> {
  if (presser === undefined) return;
  let codes: readonly number[];
  try {
    codes = await presser.find(names);
  } catch (error) {
    return tell({ pressed: true, failure: messageOf(error) });
  }
  await tell({ holding: codes });
  await tell({ pressed: true, failure: await pressCombination(presser, codes) });
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
