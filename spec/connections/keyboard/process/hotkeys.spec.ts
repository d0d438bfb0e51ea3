// D-10 as rows of key events: +key goes down, -key goes up, and ! follows each event upon which the hotkey fires. A key that bears
// two names is written with both: 6/minus.

import test from 'ava';
import fc from 'fast-check';
import { Hotkeys } from '../../../../lib/connections/keyboard/process/hotkeys.ts';

const codes = new Map<string, number>();
/** Any code, the same for the same key. */
function codeOf(key: string): number {
  if (!codes.has(key)) codes.set(key, codes.size);
  return codes.get(key)!;
}

/** Feeds a row to one hotkey and returns the row as it came out, each event that fired marked with `!`. */
function play(keys: readonly string[], row: string): string {
  const hotkeys = new Hotkeys([keys]);
  return row
    .split(' ')
    .map((event) => {
      const key = event.replace('!', '').slice(1);
      if (event.startsWith('-')) return `-${key}${'!'.repeat(hotkeys.up(codeOf(key)).length)}`;
      hotkeys.down(codeOf(key), key.split('/'));
      return event;
    })
    .join(' ');
}

const rows: readonly (readonly [what: string, keys: string, row: string])[] = [
  ['fires when its key is released first', 'ctrl f1', '+lctrl +f1 -f1! -lctrl'],
  ['fires when its modifier is released first', 'ctrl f1', '+lctrl +f1 -lctrl! -f1'],
  ['does not mind which of its keys came first', 'ctrl f1', '+f1 +lctrl -f1! -lctrl'],
  ['takes either side of a modifier', 'ctrl f1', '+rctrl +f1 -f1! -rctrl'],
  ['takes both sides of a modifier', 'ctrl f1', '+lctrl +rctrl +f1 -f1! -rctrl -lctrl'],
  ['fires again for each press while the modifier is held', 'ctrl f1', '+lctrl +f1 -f1! +f1 -f1! -lctrl'],
  ['fires once for a key that repeats', 'ctrl f1', '+lctrl +f1 +f1 +f1 -f1! -lctrl'],
  ['is silent without its modifier', 'ctrl f1', '+f1 -f1'],
  ['is silent without its key', 'ctrl f1', '+lctrl -lctrl'],
  ['is silent when its keys were down one after the other', 'ctrl f1', '+lctrl -lctrl +f1 -f1'],
  ['is silent with another modifier', 'ctrl f1', '+lctrl +lshift +f1 -f1 -lshift -lctrl'],
  ['stays silent when the other modifier is released first', 'ctrl f1', '+lctrl +lshift +f1 -lshift -f1 -lctrl'],
  ['is silent when another modifier joins late', 'ctrl f1', '+lctrl +f1 +lshift -f1 -lshift -lctrl'],
  ['is silent when another modifier comes and goes', 'ctrl f1', '+lctrl +f1 +lshift -lshift -f1 -lctrl'],
  ['is not woken by a key that repeats', 'ctrl f1', '+lctrl +f1 +lshift -lshift +f1 -f1 -lctrl'],
  ['wakes with the next press after another modifier', 'ctrl f1', '+lctrl +lshift +f1 -f1 -lshift +f1 -f1! -lctrl'],
  ['does not mind another key', 'ctrl f1', '+lctrl +x +f1 +y -y -f1! -x -lctrl'],
  ['takes the named side only', 'lctrl f1', '+rctrl +f1 -f1 -rctrl +lctrl +f1 -f1! -lctrl'],
  ['has the other side for another modifier', 'lctrl f1', '+lctrl +rctrl +f1 -f1 -rctrl -lctrl'],
  ['may be one key', 'f1', '+f1 -f1! +lctrl +f1 -f1 -lctrl'],
  ['may be several keys', 'a b', '+a +b -a! -b +b +a -b! -a'],
  ['may be one modifier', 'rctrl', '+rctrl -rctrl! +lctrl -lctrl'],
  ['of modifiers alone is silent when they serve another key', 'ctrl', '+lctrl +f1 -f1 -lctrl +lctrl -lctrl!'],
  ['hears a key by any of its names', 'ctrl 6', '+lctrl +minus/6 -minus/6! -lctrl'],
  ['of modifiers alone is silent when they serve a key with two names', 'ctrl', '+lctrl +minus/6 -minus/6 -lctrl'],
  ['of two modifiers needs both', 'ctrl shift', '+lctrl +rshift -lctrl! -rshift +lctrl -lctrl'],
  ['ignores the release of a key that went down before it listened', 'ctrl f1', '-f1 -lctrl +lctrl +f1 -f1! -lctrl'],
];

for (const [what, keys, row] of rows)
  test(`a hotkey ${what}: ${keys} ${row}`, (t) => t.is(play(keys.split(' '), row), row));

test('several hotkeys fire by the same release', (t) => {
  const hotkeys = new Hotkeys([
    ['ctrl', 'f1'],
    ['shift', 'f1'],
    ['f1', 'lctrl'],
  ]);
  hotkeys.down(1, ['lctrl']);
  hotkeys.down(2, ['f1']);
  t.deepEqual(hotkeys.up(2), [0, 2]);
});

test('a released key keeps the name of its press, even if the layout has changed', (t) => {
  const hotkeys = new Hotkeys([['a'], ['q']]);
  hotkeys.down(38, ['a']);
  hotkeys.down(38, ['q']); // it repeats, in another layout
  t.deepEqual(hotkeys.up(38), [0]);
  hotkeys.down(38, ['q']);
  t.deepEqual(hotkeys.up(38), [1]);
});

test('for any presses, a hotkey fires as D-10 defines for the whole history', (t) => {
  const names = ['lctrl', 'rctrl', 'lshift', 'a', 'b'];
  const modifiers = ['lctrl', 'rctrl', 'lshift'];
  const hotkeys = [['ctrl', 'a'], ['lctrl', 'shift', 'a'], ['a', 'b'], ['b']];
  const own = (keys: readonly string[], key: string) => keys.includes(key) || keys.includes(key.slice(1));

  /** The keys that are down before event `index`. */
  const held = (history: readonly string[], index: number) =>
    names.filter((name) =>
      history
        .slice(0, index)
        .findLast((event) => event.slice(1) === name)
        ?.startsWith('+'),
    );
  const isExact = (keys: readonly string[], down: readonly string[]) =>
    keys.every((key) => down.some((name) => name === key || (modifiers.includes(name) && name.slice(1) === key))) &&
    down.every((name) => !modifiers.includes(name) || own(keys, name));
  const mayFire = (keys: readonly string[], history: readonly string[]) => {
    const release = history.at(-1)!.slice(1);
    const isOwn = (key: string) => own(keys, key) && (modifiers.includes(key) || keys.includes(key));
    if (!isOwn(release)) return false;
    for (let index = history.length - 2; index >= 0; index--) {
      const key = history[index]!.slice(1);
      if (history[index]!.startsWith('-')) {
        if (isOwn(key)) return false;
      } else if (!held(history, index).includes(key)) {
        if (isOwn(key) && isExact(keys, held(history, index + 1))) return true;
        if (modifiers.includes(key) && !isOwn(key)) return false;
      }
    }
    return false;
  };

  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...names.flatMap((name) => [`+${name}`, `-${name}`])), { maxLength: 40 }),
      (events) => {
        const machine = new Hotkeys(hotkeys);
        // The release of a key that is not down is none.
        const history = events.filter(
          (event, index) => event[0] === '+' || held(events, index).includes(event.slice(1)),
        );
        history.forEach((event, index) => {
          if (event.startsWith('+')) machine.down(codeOf(event.slice(1)), [event.slice(1)]);
          else {
            const expected = hotkeys.flatMap((keys, number) =>
              mayFire(keys, history.slice(0, index + 1)) ? [number] : [],
            );
            t.deepEqual(machine.up(codeOf(event.slice(1))), expected, history.slice(0, index + 1).join(' '));
          }
        });
      },
    ),
    { numRuns: 500 },
  );
});
