// The program that runs in the keyboard process. On some platforms, the libraries are native code, which may crash this process but not the
// hub. The process lives as long as its channel to the hub.

import { messageOf } from '../../../model/error.ts';
import type { Side } from '../key-table.ts';
import type { FromProcess, ToProcess } from '../keyboard-messages.ts';
import { type Keyboard, openKeyboard } from './desktop-keyboard.ts';
import { Hotkeys, type Presser, pressCombination } from './hotkeys.ts';

let presser: Presser | undefined;
let work = Promise.resolve();

process.on('message', (message: ToProcess) => {
  work = work.then(() => ('listen' in message ? start(message) : press(message.press))).catch(giveUp);
});
process.on('disconnect', () => void work.then(() => process.exit()));
// These signals end the hub. This process must end after the hub, because it has to release the keys.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {});

async function start({ listen, press: toPress, release }: Extract<ToProcess, { listen: unknown }>): Promise<void> {
  const keyboard = await openKeyboard((opening) => sendToHub({ opening }));
  keyboard.ended.then(giveUp); // needed even without hotkeys, to notice when the display disappears
  if (toPress.length > 0 || release.length > 0) presser = await keyboard.openPresser();
  for (const code of release) await presser?.release(code);
  const hotkeys = new Hotkeys(listen);
  await keyboard.listen({
    down: (code, names) => hotkeys.down(code, names),
    up: (code) => {
      for (const fired of hotkeys.up(code)) sendToHub({ fired });
    },
  });
  const report = () =>
    sendToHub({ unusable: [...unusable(keyboard, listen, 'input'), ...unusable(keyboard, toPress, 'output')] });
  keyboard.onChange(() => void report());
  await report();
  await sendToHub({ ready: true });
}

/** Returns the combinations that cannot be detected or pressed with the current layout, identified by their indexes. */
function unusable(keyboard: Keyboard, combinations: readonly (readonly string[])[], side: Side) {
  const all = combinations.map((names, place) => ({ side, place, reason: keyboard.whyNot(names, side) }));
  return all.filter(({ reason }) => reason !== '');
}

async function press(names: readonly string[]): Promise<void> {
  if (presser === undefined) return;
  let codes: readonly number[];
  try {
    codes = await presser.find(names);
  } catch (error) {
    return sendToHub({ pressed: true, failure: messageOf(error) });
  }
  await sendToHub({ holding: codes });
  await sendToHub({ pressed: true, failure: await pressCombination(presser, codes) });
}

function sendToHub(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, () => resolve());
    else resolve();
  });
}

async function giveUp(error: unknown): Promise<void> {
  await sendToHub({ fault: messageOf(error) });
  process.exit(1);
}
