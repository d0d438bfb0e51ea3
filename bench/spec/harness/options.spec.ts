import { resolve } from 'node:path';
import test from 'ava';
import { readOptions, usage } from '../../harness/options.ts';

const root = resolve(import.meta.dirname, '../../..');

test('omitted options have the defaults of the help, for this source tree', (t) => {
  const options = readOptions([])!;
  t.deepEqual(options.sockets, [100, 1000, 5000]);
  t.is(options.rounds, undefined);
  t.is(options.hubFolder, root);
  t.is(options.resultsFolder, resolve(root, 'bench/results'));
  t.is(options.profileFolder, undefined);
  t.regex(usage, /--sockets <n,…>\s+plain-fan-out: sockets \(100,1000,5000\)/);
});

test('a quick run is small and has one round, unless other options are given', (t) => {
  const options = readOptions(['v1-fan-out', '--quick', '--rounds', '3', '--sockets', '5,7', '--window=16'])!;
  t.deepEqual(options.subjects, ['v1-fan-out']);
  t.is(options.rounds, 3);
  t.deepEqual(options.sockets, [5, 7]);
  t.is(options.window, 16);
  t.true(options.idleClients < 1000 && options.measureMs < 1000);
  t.is(readOptions(['--quick'])!.rounds, 1);
});

test('help is printed on request', (t) => {
  t.is(readOptions(['--help']), undefined);
});

test('anything but whole numbers above 0, a list in place of one number, one number in place of two, and unknown options are mistakes', (t) => {
  for (const [args, says] of [
    [['--rounds', '0'], /^--rounds: expected a whole number above 0, got "0"$/],
    [['--window', '8,16'], /^--window: expected a whole number above 0, got "8,16"$/],
    [['--sockets', '5,x'], /^--sockets: expected whole numbers above 0, got "5,x"$/],
    [['--resume-parameters', '1000'], /^--resume-parameters: expected two numbers or more, got "1000"$/],
    [['--socket', '5'], /--socket/],
  ] as const)
    t.throws(() => readOptions(args), { message: says });
});

test('the help lists every number that can be set', (t) => {
  for (const name of ['measure', 'v1-window', 'nats-window', 'stall', 'kills', 'idle-clients', 'hub', 'into'])
    t.true(usage.includes(`--${name} `), name);
});
