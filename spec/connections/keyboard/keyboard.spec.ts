// The keyboard against a real X server: what a person presses fires, what the hub presses arrives, and whatever ends the
// keyboard's process or the server leaves the connection degraded until it is back.

import test from 'ava';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { keys, physicalKeys } from '../../../lib/connections/keyboard/key-table.ts';
import { fires, next, startKeyboard, state } from '../../support/keyboard/keyboard.ts';
import { hideDisplay, shareXServer, startXServer } from '../../support/keyboard/x-server.ts';
import { keyboardPids } from '../../support/system/hub-process.ts';

const sharedServer = shareXServer();

const ctrlF2 = ['press Control_L 0', 'press F2 4', 'release F2 4', 'release Control_L 4'];

test.serial(
  'S-17, D-10: ctrl+F1 fires once, on release; neither ctrl+shift+F1 nor F1 alone does; 100 presses in a row are 100 triggers, and a key that repeats while it is held is one',
  async (t) => {
    const x = await sharedServer();
    const connection = startKeyboard(t, { inputKeys: ['ctrl-f1', 'a', 'ctrl-f12', 'f12'] });
    await state(connection, 'running');
    await x.xdotool('key', 'ctrl+shift+F1', 'key', 'F1');
    await x.xdotool('keydown', 'ctrl', 'keydown', 'F1', 'key', 'F12');
    await fires(connection, 1);
    t.deepEqual(connection.fired, ['input/ctrl-f12']);
    await x.xdotool('keyup', 'F1', 'keyup', 'ctrl', 'key', 'F12');
    await fires(connection, 3);
    t.deepEqual(connection.fired, ['input/ctrl-f12', 'input/ctrl-f1', 'input/f12']);

    await x.xdotool('key', '--delay', '0', ...Array<string>(100).fill('ctrl+F1'));
    await x.xdotool('keydown', 'a', 'sleep', '1', 'keyup', 'a', 'key', 'F12');
    await fires(connection, 105);
    t.deepEqual(connection.fired.slice(3), [...Array<string>(100).fill('input/ctrl-f1'), 'input/a', 'input/f12']);
  },
);

test.serial(
  'S-17: output/ctrl-f2 reaches an X client: keys pressed in order, released in reverse; a key that the layout lacks is said, and no other key of its combination is pressed',
  async (t) => {
    const x = await sharedServer();
    const outputKeys = ['ctrl-f2', 'shift-a', 'ctrl-f13', 'ctrl-fn', 'f2'];
    const connection = startKeyboard(t, { inputKeys: ['media-play', 'f13', 'clear'], outputKeys });
    await state(connection, 'running');
    const heard = next(await x.keys$(), 14);
    for (const keys of ['ctrl-f2', 'shift-a', 'ctrl-f2', 'ctrl-f13', 'ctrl-fn', 'f2'])
      connection.write(`output/${keys}`, true);
    const shiftA = ['press Shift_L 0', 'press A 1', 'release A 1', 'release Shift_L 1'];
    t.deepEqual(await heard, [...ctrlF2, ...shiftA, ...ctrlF2, 'press F2 0', 'release F2 0']);
    t.deepEqual(
      connection.lines.map(({ message }) => message),
      [
        'input/clear cannot be detected: the keyboard layout has no key "clear"',
        'output/ctrl-f13 cannot be pressed: the keyboard layout has no key "f13"',
        'output/ctrl-fn cannot be pressed: the keyboard layout has no key "fn"',
        'a key press failed: the keyboard layout has no key "f13"',
        'a key press failed: the keyboard layout has no key "fn"',
      ],
    );
  },
);

test.serial('every key of the list is heard as what was pressed, or is said not to be there', async (t) => {
  await sharedServer();
  const isMissing = (name: string) => /^f(1[3-9]|2\d)$|^clear$|^fn$|^media-(repeat|random)$/.test(name);
  const names = keys.map(({ name }) => name).filter((name) => !isMissing(name));
  t.is(names.length, keys.length - 16);
  const connection = startKeyboard(t, { inputKeys: names, outputKeys: names });
  await state(connection, 'running');
  // Twice: the first round ends with NumLock on, the second with NumLock off.
  for (const name of [...names, ...names]) {
    const before = connection.fired.length;
    const [pressed] = physicalKeys(name); // of `ctrl` the left one, which is heard as `lctrl` too
    const expected = names.filter((other) => physicalKeys(other).includes(pressed!)).map((other) => `input/${other}`);
    connection.write(`output/${name}`, true);
    await fires(connection, before + expected.length).catch(() => t.log(`${name} was not heard`));
    t.deepEqual(connection.fired.slice(before), expected);
  }
});

test.serial('without DISPLAY it says so, and presses are dropped and counted, not stored up', async (t) => {
  hideDisplay();
  const connection = startKeyboard(t, { inputKeys: ['ctrl-f1'], outputKeys: ['ctrl-f2', 'f3'] });
  for (let press = 0; press < 50; press++) connection.write('output/f3', true);
  t.is(await state(connection, 'degraded'), 'no display is available: DISPLAY is not set');
  const x = await sharedServer();
  await state(connection, 'running');
  const heard = next(await x.keys$(), 4);
  connection.write('output/ctrl-f2', true);
  t.deepEqual(await heard, ctrlF2);
  const losses = connection.lines.map(({ message }) => message).filter((message) => message.startsWith('dropped '));
  t.deepEqual(losses, ['dropped 1 press: no keyboard is available', 'dropped 49 presses: no keyboard is available']);
});

test.serial(
  'a killed process is a degraded connection and a new process, a killed X server a degraded connection until it is back',
  async (t) => {
    const x = await startXServer(t);
    const connection = startKeyboard(t, { inputKeys: ['ctrl-f1'], outputKeys: ['ctrl-f2'] });
    await state(connection, 'running');
    const [pid] = await keyboardPids(process.pid);
    process.kill(pid!, 'SIGKILL');
    t.is(await state(connection, 'degraded'), 'the keyboard process ended while listening (SIGKILL)');
    await state(connection, 'running', 2);
    await x.xdotool('key', 'ctrl+F1');
    await fires(connection, 1);

    await x.kill();
    t.regex(await state(connection, 'degraded', 2), /^the X server closed the connection|^read ECONNRESET/);
    t.regex(
      await state(connection, 'degraded', 3),
      /^no X server is responding on display :\d+ \(connect ECONNREFUSED/,
    );
    const back = await startXServer(t, x);
    await state(connection, 'running', 3);
    await back.xdotool('key', 'ctrl+F1');
    await fires(connection, 2);
    t.deepEqual(connection.fired, ['input/ctrl-f1', 'input/ctrl-f1']);
  },
);

test.serial('an X server that hangs is found and left', async (t) => {
  const x = await sharedServer();
  let hurry = 1;
  const scheduler: SchedulerLike = {
    now: () => performance.now(),
    schedule: ((work: () => void, delayMs = 0) =>
      asyncScheduler.schedule(work, delayMs / hurry)) as SchedulerLike['schedule'],
  };
  const connection = startKeyboard(t, { outputKeys: ['f2'] }, scheduler);
  await state(connection, 'running');
  hurry = 10;
  process.kill(x.pid, 'SIGSTOP');
  connection.write('output/f2', true);
  t.is(await state(connection, 'degraded'), 'the keyboard process stopped responding while pressing f2');
  t.regex(
    await state(connection, 'degraded', 2),
    /^the keyboard process stopped responding while (starting|opening the display)/,
  );
  hurry = 1;
  process.kill(x.pid, 'SIGCONT');
  await state(connection, 'running', 2);
  t.is((await keyboardPids(process.pid)).length, 1);
});

test.serial(
  'a rule from a hotkey to its own keys presses at the pace of the keyboard, and stops with it; stopping ends the process',
  async (t) => {
    await sharedServer();
    const connection = startKeyboard(t, { inputKeys: ['ctrl-f1'], outputKeys: ['ctrl-f1'] });
    await state(connection, 'running');
    const rule = connection.events$.subscribe((event) => 'set' in event && connection.write('output/ctrl-f1', true));
    connection.write('output/ctrl-f1', true);
    const startedAt = performance.now();
    await fires(connection, 20);
    t.true(performance.now() - startedAt > 20 * 10);
    rule.unsubscribe();
    t.is((await keyboardPids(process.pid)).length, 1);
    await connection.stop();
    t.deepEqual(await keyboardPids(process.pid), []);
  },
);
