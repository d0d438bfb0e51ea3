// What a flow file with a MIDI connection is told, and the codec on its own.

import test from 'ava';
import { keyOf, Listener, messagesFor, readMessage, showMessage } from '../../../lib/connections/midi/messages.ts';
import { mistakesOf } from '../../support/core.ts';

const flow = (settings: object) => ({ connections: { desk: { type: 'midi', tcp: '127.0.0.1:9', ...settings } } });

const wrong: readonly (readonly [object, RegExp])[] = [
  [{ port: 'X' }, /expected exactly one of `port`, `virtual`, `path`, `tcp`, `serial`/],
  [{ parameters: { a: {} } }, /parameters\.a: expected exactly one of `note`, `control`/],
  [{ parameters: { a: { note: 1, control: 2 } } }, /expected exactly one of `note`, `control`/],
  [{ parameters: { a: { note: 128 } } }, /note: expected an integer 0\.\.127/],
  [{ parameters: { 'a/{n:1..3}': { note: 126 } } }, /note: expected 0\.\.127 for a\/3, got 128/],
  [{ parameters: { 'a/{n:1..17}': { bend: true } } }, /channel: expected 1\.\.16 for a\/17, got 17/],
  [{ parameters: { a: { control: 40, bits: 14 } } }, /control: expected 0\.\.31 for a, got 40/],
  [{ parameters: { a: { note: 1, bits: 14 } } }, /expected `bits` only for a control change/],
  [{ parameters: { a: { sysex: 'F0 ?? F7', direction: 'out' } } }, /expected a message without \?\?/],
  [{ parameters: { a: { sysex: 'loud' } } }, /bytes in hex from F0 to F7/],
  [{ parameters: { a: { note: 1 }, '{x:a|b}': { note: 1 } } }, /expected unique IDs, got "a" \(string\) twice/],
  [{ parameters: { a: { realTime: 'start', direction: 'both' } } }, /expected in or out/],
  [{ parameters: { a: { control: 1, range: [1, 1] } } }, /two different numbers/],
];

for (const [settings, message] of wrong)
  test(`a mistake is told: ${JSON.stringify(settings)}`, async (t) => {
    t.regex((await mistakesOf(t, flow(settings))).join('\n'), message);
  });

test('every message with a number is read as it was written', (t) => {
  for (const kind of ['note', 'control', 'nrpn', 'rpn', 'keyPressure', 'bend', 'program', 'pressure'] as const)
    for (const is14 of [true, false])
      for (let turn = 0; turn < 2000; turn++) {
        const isWide = kind === 'nrpn' || kind === 'rpn';
        const is14Here = kind === 'bend' || (is14 && ['control', 'nrpn', 'rpn'].includes(kind));
        const channel = 1 + (turn % 16);
        const number = ['bend', 'program', 'pressure'].includes(kind)
          ? 0
          : (turn * 7919) % (isWide ? 16_383 : is14 ? 32 : 128);
        const value = (turn * 104_729) % (is14Here ? 16_384 : 128);
        const listener = new Listener();
        const heard = messagesFor({ kind, channel, number, is14: is14Here }, value).flatMap((bytes) => {
          t.deepEqual([...readMessage(showMessage(bytes))], [...bytes]);
          return listener.read(bytes);
        });
        const key = keyOf({ kind, channel, number, is14: is14Here });
        const last = heard.filter((one) => one.key === key).at(-1)!;
        t.is(last.number, value, key);
      }
});
