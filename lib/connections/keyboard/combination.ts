// Key combinations as users write them: key names joined by hyphens, such as `ctrl-f1` or `shift-media-play` (S-17). Case does not matter.
// The order of the keys matters only for presses.

import { closest, distance } from 'fastest-levenshtein';
import { describe, HubError } from '../../model/error.ts';
import { type Key, keyByName, physicalKeys, type Side, supportOf } from './key-table.ts';

/** A key combination. `written` is the name of its parameter; `keys` contains the key names in the order in which the keys are pressed. */
export interface Combination {
  readonly written: string;
  readonly keys: readonly string[];
}

export const maxKeys = 8;

/** Common key names that are not accepted, with the names that the error message suggests instead. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['', 'minus'],
  ['+', 'equal'],
  ['=', 'equal'],
  [',', 'comma'],
  ['.', 'period'],
  ['/', 'slash'],
  ['\\', 'backslash'],
  [';', 'semicolon'],
  ["'", 'quote'],
  ['`', 'backquote'],
  ['[', 'bracketleft'],
  [']', 'bracketright'],
  ['control', 'ctrl'],
  ['cmd', 'meta'],
  ['command', 'meta'],
  ['option', 'alt'],
  ['super', 'meta'],
  ['win', 'meta'],
  ['esc', 'escape'],
  ['del', 'delete'],
  ['ins', 'insert'],
  ['pgup', 'pageup'],
  ['pgdn', 'pagedown'],
  ['return', 'enter'],
  ['spacebar', 'space'],
]);

const firstWords = new Set(
  [...keyByName.keys()].filter((name) => name.includes('-')).map((name) => name.split('-')[0]),
);

/**
 * Parses a combination that is to be detected (`input`) or pressed (`output`). Errors: `bad-flow` if a key is unknown (the message suggests
 * the most similar name) or is supported only on the other side.
 */
export function readCombination(written: string, side: Side): Combination {
  const keys = splitNames(written.toLowerCase()).map((name) => findKey(name, written, side).name);
  if (keys.length > maxKeys)
    throw new HubError('bad-flow', `expected at most ${maxKeys} keys, got ${keys.length} in ${describe(written)}`);
  const physical = keys.flatMap(physicalKeys);
  const twice = physical.find((name, index) => physical.indexOf(name) !== index);
  if (twice !== undefined)
    throw new HubError('bad-flow', `expected each key once, got "${twice}" twice in ${describe(written)}`);
  return { written, keys };
}

/** Returns a string that is the same for all spellings of a combination, such as `ctrl-f1` and `F1-Ctrl`. */
export function identityOf({ keys }: Combination): string {
  return [...keys].sort().join('-');
}

function splitNames(text: string): string[] {
  const words = text.split('-');
  const names: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const isFirst = firstWords.has(words[index]!) && index + 1 < words.length;
    names.push(isFirst ? `${words[index]}-${words[++index]}` : words[index]!);
  }
  return names;
}

function findKey(name: string, written: string, side: Side): Key {
  const key = keyByName.get(name);
  if (key === undefined) throw new HubError('bad-flow', unknownKey(name, written));
  if (supportOf(name, side) === 'no')
    throw new HubError(
      'bad-flow',
      side === 'input'
        ? `expected a key that can be detected, but "${name}" can only be pressed (an output key)`
        : `expected a key that can be pressed, but "${name}" can only be detected (an input key)`,
    );
  return key;
}

function unknownKey(name: string, written: string): string {
  const near = closest(name, [...keyByName.keys()]);
  const meant = otherNames.get(name) ?? (distance(name, near) <= Math.max(2, name.length / 3) ? near : undefined);
  const hint = meant === undefined ? '; see patchbay keys' : `, did you mean "${meant}"?`;
  return `unknown key "${name}" in ${describe(written)}${hint}`;
}
