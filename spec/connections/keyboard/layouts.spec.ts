// Keys by what stands on them, in whatever layout: hotkeys and presses mean the same key, also when the layout changes while they run.

import test from 'ava';
import { keys, physicalKeys } from '../../../lib/connections/keyboard/key-table.ts';
import { Layout } from '../../../lib/connections/keyboard/process/x11/keyboard-layout.ts';
import { XServer } from '../../../lib/connections/keyboard/process/x11/x-server.ts';
import { eventually } from '../../support/deadline.ts';
import { fires, next, type RunningKeyboard, startKeyboard, state } from '../../support/keyboard/keyboard.ts';
import { shareXServer } from '../../support/keyboard/x-server.ts';
import { sampled } from '../../support/random.ts';

const sharedServer = shareXServer();

const logged = ({ lines }: RunningKeyboard) => lines.map(({ level, message }) => `${level}: ${message}`);
/** `press a 10` → `a`, whether NumLock is on or not */
const keysymOf = (heard: string) => heard.split(' ')[1];
/** The first key of the row of letters, and the one below it. */
const [upper, lower] = ['24', '38'];
const [leftControl, capsLock] = ['37', '66'];

/** What stands on those two keys, and where the digit 1 is: on all of these, on the first key of its row. */
const letters: readonly (readonly [layout: readonly string[], upper: string, lower: string])[] = [
  [['us'], 'q', 'a'],
  [['fr'], 'a', 'q'],
  [['de'], 'q', 'a'],
  [['cz'], 'q', 'a'],
  [['be'], 'a', 'q'],
  [['us', '-variant', 'dvorak'], 'quote', 'a'],
  [['us', '-variant', 'colemak'], 'q', 'a'],
  [['fr', '-variant', 'bepo'], 'b', 'a'],
  [['de', '-variant', 'neo'], 'x', 'u'],
  [['tr', '-variant', 'f'], 'f', 'u'],
];

test.serial(
  'in each layout, ctrl and the key with a letter is ctrl with that letter, for hotkeys and presses',
  async (t) => {
    const x = await sharedServer();
    const isTried = sampled(t, 3);
    for (const [index, [layout, onUpper, onLower]] of letters.entries()) {
      if (!isTried(index)) continue;
      await x.setxkbmap(...layout);
      const combinations = [`ctrl-${onUpper}`, `ctrl-${onLower}`];
      const connection = startKeyboard(t, { inputKeys: combinations, outputKeys: combinations });
      await state(connection, 'running');
      await x.xdotool('key', `ctrl+${upper}`, 'key', `ctrl+${lower}`);
      await fires(connection, 2);
      connection.write(`output/${combinations[1]}`, true);
      connection.write(`output/${combinations[0]}`, true);
      await fires(connection, 4);
      const [one, other] = combinations.map((written) => `input/${written}`);
      t.deepEqual(connection.fired, [one, other, other, one], layout.join(' '));
      t.deepEqual(logged(connection), []);
      await connection.stop();
    }
  },
);

const layouts = [
  ['us', '-variant', 'dvorak'],
  ['de', '-variant', 'neo'],
  ...['us', 'gb', 'fr', 'de', 'cz', 'br', 'ru'].map((one) => [one]),
];
test.serial('in each layout, every key is heard as what was pressed, or is said to be missing', async (t) => {
  const x = await sharedServer();
  const isTried = sampled(t, 3);
  for (const [index, layout] of layouts.entries()) {
    if (!isTried(index)) continue;
    await x.setxkbmap(...layout);
    const names = keys.map(({ name }) => name);
    const heardNames = names.filter((name) => name !== 'fn');
    const connection = startKeyboard(t, { inputKeys: heardNames, outputKeys: names });
    await state(connection, 'running');
    const missing = new Map(
      connection.lines.flatMap(({ message }) => {
        const [, name, reason] = /^output\/(\S+) cannot be pressed: (.*)$/.exec(message) ?? [];
        return name === undefined ? [] : [[name, reason!] as const];
      }),
    );
    for (const [name, reason] of missing) t.is(reason, `the keyboard layout has no key "${name}"`);
    const server = await XServer.open(x.display);
    t.teardown(() => server.close());
    const read = await Layout.open(server);
    t.true(names.length - missing.size > 75);
    for (const name of names.filter((one) => !missing.has(one))) {
      const before = connection.fired.length;
      const borne = read.namesOf(read.pressedFor(name)!);
      const expected = heardNames
        .filter((other) => physicalKeys(other).some((key) => borne.includes(key)))
        .map((other) => `input/${other}`);
      t.true(
        physicalKeys(name).some((key) => borne.includes(key)),
        name,
      );
      connection.write(`output/${name}`, true);
      await fires(connection, before + expected.length).catch(() => t.log(`${name} was not heard`));
      t.deepEqual(connection.fired.slice(before), expected, `${layout.join(' ')}: ${name}`);
    }
    for (const name of names.filter((one) => /lock/.test(one) && !missing.has(one))) {
      const before = connection.fired.length;
      connection.write(`output/${name}`, true); // caps lock is off again for the next test
      await fires(connection, before + 1);
    }
    await connection.stop();
  }
  await x.setxkbmap('us');
});

test.serial(
  'a layout that changes while it runs: keys that are missing are said, and said again when they are back',
  async (t) => {
    const x = await sharedServer();
    await x.setxkbmap('ru');
    const connection = startKeyboard(t, { inputKeys: ['ctrl-a', 'ctrl-f1'], outputKeys: ['ctrl-z', 'f2'] });
    await state(connection, 'running');
    const none = (key: string) => `the keyboard layout has no key "${key}"`;
    const lost = [
      `warn: input/ctrl-a cannot be detected: ${none('a')}`,
      `warn: output/ctrl-z cannot be pressed: ${none('z')}`,
    ];
    t.deepEqual(logged(connection), lost);
    connection.write('output/ctrl-z', true);
    await eventually(() => logged(connection).length === 3);
    t.is(logged(connection)[2], `warn: a key press failed: ${none('z')}`);
    await x.setxkbmap('fr');
    await eventually(() => logged(connection).length === 5);
    t.deepEqual(logged(connection).slice(3), [
      'info: input/ctrl-a can be detected again',
      'info: output/ctrl-z can be pressed again',
    ]);
    await x.xdotool('key', `ctrl+${lower}`, 'key', `ctrl+${upper}`);
    await fires(connection, 1);
    t.deepEqual(connection.fired, ['input/ctrl-a']);
    await x.setxkbmap('us');
  },
);

test.serial('of several layouts the active one counts, and another one for a key that it lacks', async (t) => {
  const x = await sharedServer();
  await x.setxkbmap('us,fr,ru');
  const connection = startKeyboard(t, { inputKeys: ['ctrl-a', 'ctrl-q'], outputKeys: ['a'] });
  await state(connection, 'running');
  const typed = async () => {
    const heard = next(await x.keys$(), 1);
    connection.write('output/a', true);
    return keysymOf((await heard)[0]!);
  };
  const rows = [
    [0, 'a'],
    [1, 'a'],
    [2, 'Cyrillic_ef'], // on the key that has the a of the first layout
    [0, 'a'],
  ] as const;
  for (const [round, [index, pressed]] of rows.entries()) {
    await x.activateLayout(index);
    t.is(await typed(), pressed);
    await x.pressKeys(Number(leftControl), Number(upper));
    await x.pressKeys(Number(leftControl), Number(lower));
    await fires(connection, 2 * (round + 1));
    const expected = index === 1 ? ['input/ctrl-a', 'input/ctrl-q'] : ['input/ctrl-q', 'input/ctrl-a'];
    t.deepEqual(connection.fired.slice(-2), expected, `layout ${index}`);
  }
  t.deepEqual(logged(connection), []);
  await x.setxkbmap('us');
});

test.serial('a key that is down while the layout changes is the one that it was', async (t) => {
  const x = await sharedServer();
  await x.setxkbmap('us');
  const connection = startKeyboard(t, { inputKeys: ['q', 'a'] });
  await state(connection, 'running');
  await x.xdotool('keydown', upper);
  await x.setxkbmap('fr');
  await x.xdotool('keyup', upper, 'key', upper);
  await fires(connection, 2);
  t.deepEqual(connection.fired, ['input/q', 'input/a']);
  await x.setxkbmap('us');
});

test.serial('keys that were given other places are heard and pressed where they are now', async (t) => {
  const x = await sharedServer();
  await x.setxkbmap('us', '-option', 'ctrl:swapcaps');
  const connection = startKeyboard(t, { inputKeys: ['ctrl-a', 'capslock'], outputKeys: ['lctrl'] });
  await state(connection, 'running');
  await x.xdotool('keydown', capsLock, 'key', lower, 'keyup', capsLock);
  await fires(connection, 1);
  await x.xdotool('key', leftControl, 'key', leftControl);
  await fires(connection, 3);
  t.deepEqual(connection.fired, ['input/ctrl-a', 'input/capslock', 'input/capslock']);
  const heard = next(await x.keys$(), 2);
  connection.write('output/lctrl', true);
  t.deepEqual((await heard).map(keysymOf), ['Control_L', 'Control_L']);
  await x.setxkbmap('us', '-option', '');
});

test.serial('F13 to F24 are heard at their place, where the layout names them otherwise', async (t) => {
  const x = await sharedServer();
  await x.setxkbmap('us');
  const connection = startKeyboard(t, { inputKeys: ['f13', 'shift-f24'] });
  await state(connection, 'running');
  await x.pressKeys(191);
  await x.pressKeys(50, 202);
  await fires(connection, 2);
  t.deepEqual(connection.fired, ['input/f13', 'input/shift-f24']);
  t.deepEqual(logged(connection), []);
});

test.serial('a layout that changes all the time is read one at a time, and the last one counts', async (t) => {
  const x = await sharedServer();
  const connection = startKeyboard(t, { inputKeys: ['ctrl-a'] });
  await state(connection, 'running');
  for (let round = 0; round < 4; round++) for (const layout of ['fr', 'de', 'us']) await x.setxkbmap(layout);
  await x.setxkbmap('fr');
  await x.xdotool('key', `ctrl+${lower}`, 'key', `ctrl+${upper}`);
  await fires(connection, 1);
  t.deepEqual(connection.fired, ['input/ctrl-a']);
  await x.setxkbmap('us');
});

test.serial('two names on one key are said', async (t) => {
  const x = await sharedServer();
  await x.setxkbmap('fr');
  const connection = startKeyboard(t, { inputKeys: ['6-minus'], outputKeys: ['minus-6'] });
  await state(connection, 'running');
  t.deepEqual(logged(connection), [
    'warn: input/6-minus cannot be detected: the keyboard layout has "6" and "minus" on the same key',
    'warn: output/minus-6 cannot be pressed: the keyboard layout has "minus" and "6" on the same key',
  ]);
  await x.setxkbmap('us');
});
