// No key stays down, whatever happens in the middle of a press: to the layout, the keyboard's process, the hub, or the X
// server. KEYBOARD_ROUNDS=200 runs more of what depends on the moment.

import test from 'ava';
import { firstValueFrom, interval } from 'rxjs';
import { exhaustMap, filter, timeout } from 'rxjs/operators';
import { deadlineMs } from '../../support/deadline.ts';
import { fires, next, startKeyboard, state } from '../../support/keyboard/keyboard.ts';
import { shareXServer, startXServer, type XServer } from '../../support/keyboard/x-server.ts';
import { keyboardPids, startHubProcess } from '../../support/system/hub-process.ts';

const rounds = Number(process.env.KEYBOARD_ROUNDS ?? 2);
const layouts = ['fr', 'de', 'ru', 'us'];

const sharedServer = shareXServer();

/** Waits until keys are down, or until none is. */
function keysAre({ keysDown }: XServer, where: 'up' | 'down'): Promise<unknown> {
  return firstValueFrom(
    interval(5).pipe(
      exhaustMap(keysDown),
      filter((codes) => codes.length > 0 === (where === 'down')),
      timeout(deadlineMs),
    ),
  );
}

test.serial(
  'layouts that change all the time leave no key down; a key that moves while it is down comes up, and is found anew for the next press',
  async (t) => {
    const x = await sharedServer();
    const outputKeys = ['a', 'q', 'z', 's-d-f-g-h', 'shift-1', 'ralt-bracketleft', 'ctrl-y', 'quote', 'f12'];
    const keyboard = startKeyboard(t, { inputKeys: ['f12'], outputKeys });
    await state(keyboard, 'running');
    for (let round = 0; round < rounds * layouts.length; round++) {
      const fired = fires(keyboard, round + 1);
      const changed = x.setxkbmap(layouts[round % layouts.length]!);
      for (const keys of outputKeys) keyboard.write(`output/${keys}`, true);
      await Promise.all([fired, changed]);
      await keysAre(x, 'up');
    }
    const said = keyboard.lines.map(({ message }) => message.replace(/".*"/, '…').replace(/^output.* can/, 'it can'));
    // Cyrillic has no Latin letters
    t.deepEqual(
      [...new Set(said)].filter((line) => !line.startsWith('it can')),
      ['a key press failed: the keyboard layout has no key …'],
    );
    t.true(said.includes('it cannot be pressed: the keyboard layout has no key …'));
    t.true(said.includes('it can be pressed again'));

    const keys$ = await x.keys$();
    const heard = next(keys$, 4);
    const isPressed = next(keys$, 1);
    keyboard.write('output/a', true);
    // Who hears a press names it by the layout of that moment, so the layout waits until it is heard.
    await isPressed;
    await x.setxkbmap('fr');
    keyboard.write('output/a', true);
    // Its release is heard as a or as q, as the layout is by then.
    t.deepEqual(
      (await heard).map((event) => event.replace(/^release .*/, 'release')),
      ['press a 0', 'release', 'press a 0', 'release'],
    );
    t.deepEqual(await x.keysDown(), []);
  },
);

test.serial(
  'a process that is killed or stopped in the middle of a press leaves no key down, nor does a connection that ends while its process stands still',
  async (t) => {
    const x = await sharedServer();
    const keyboard = startKeyboard(t, { outputKeys: ['s-d-f-g-h'] });
    for (let round = 1; round <= rounds; round++) {
      await state(keyboard, 'running', round);
      await press(x, keyboard);
      const [pid] = await keyboardPids(process.pid);
      await x.setxkbmap(layouts[round % 2]!);
      process.kill(pid!, 'SIGKILL');
      t.regex(await state(keyboard, 'degraded', round), /^the keyboard process ended while (pressing|listening)/);
      await keysAre(x, 'up');
    }
    await state(keyboard, 'running', rounds + 1);
    await stopInPress(x, keyboard);
    t.is(
      await state(keyboard, 'degraded', rounds + 1),
      'the keyboard process stopped responding while pressing s-d-f-g-h',
    );
    await keysAre(x, 'up');

    await state(keyboard, 'running', rounds + 2);
    await stopInPress(x, keyboard);
    await keyboard.stop();
    t.deepEqual(await x.keysDown(), []);
    t.deepEqual(await keyboardPids(process.pid), []);
  },
);

test.serial('a connection that is stopped just as its process is killed leaves no key down', async (t) => {
  const x = await sharedServer();
  for (let round = 0; round < rounds; round++) {
    const keyboard = startKeyboard(t, { outputKeys: ['s-d-f-g-h'] });
    await state(keyboard, 'running');
    await press(x, keyboard);
    const [pid] = await keyboardPids(process.pid);
    process.kill(pid!, 'SIGKILL');
    if (round % 2 === 1) await state(keyboard, 'degraded'); // its successor is starting
    await keyboard.stop();
    t.deepEqual(await x.keysDown(), []);
  }
});

test.serial('a hub that is killed in the middle of a press leaves no key down', async (t) => {
  const x = await sharedServer();
  const hub = await startHubProcess(
    t,
    {
      connections: {
        api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
        keys: { type: 'keyboard', outputKeys: ['s-d-f-g-h'] },
      },
    },
    x,
  );
  await hub.logged(/"keys" is running/);
  const update = () => hub.get('/update?parameter=keys/output/s-d-f-g-h&value=true').catch(() => 'killed');
  const updates = Array.from({ length: 40 }, update);
  await keysAre(x, 'down');
  process.kill(hub.pid, 'SIGKILL');
  await Promise.all(updates);
  await t.notThrowsAsync(keysAre(x, 'up'));
});

test.serial('an X server that is killed in the middle of a press has no key down when it is back', async (t) => {
  const x = await startXServer(t);
  const keyboard = startKeyboard(t, { outputKeys: ['s-d-f-g-h', 'f2'] });
  await state(keyboard, 'running');
  await press(x, keyboard);
  await x.kill();
  await state(keyboard, 'degraded');
  const back = await startXServer(t, x);
  await state(keyboard, 'running', 2);
  const heard = next(await back.keys$(), 2);
  keyboard.write('output/f2', true);
  t.deepEqual(await heard, ['press F2 0', 'release F2 0']);
  t.deepEqual(await back.keysDown(), []);
});

/** Begins to press, so often that this process cannot miss it; what is left of that goes with the keyboard's process. */
async function press(x: XServer, keyboard: ReturnType<typeof startKeyboard>): Promise<void> {
  for (let count = 0; count < 100; count++) keyboard.write('output/s-d-f-g-h', true);
  await keysAre(x, 'down');
}

/** Stops the process of a keyboard, which goes on existing, in the middle of a press. */
async function stopInPress(x: XServer, keyboard: ReturnType<typeof startKeyboard>): Promise<void> {
  const [pid] = await keyboardPids(process.pid);
  await press(x, keyboard);
  process.kill(pid!, 'SIGSTOP');
}
