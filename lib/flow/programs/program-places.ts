// Finds locations in the source code of a TypeScript flow: a setting, a string or a throw. The code is not parsed as TypeScript, so a
// location is only likely: the first match, or the match for the list item in question.
import type { SettingPath } from '../../json5/mistake.ts';
import { type Position, positionAt } from '../../json5/positions.ts';

/**
 * Returns the location of a setting. If the value of the setting is a string, returns the location of the value or, with an offset, of a
 * character in the value. Returns undefined if the setting is not found.
 */
export function placeOfSetting(
  text: string,
  path: SettingPath,
  value?: unknown,
  offset?: number,
): Position | undefined {
  if (typeof value === 'string') {
    const [given] = findAll(text, literalOf(value));
    if (given !== undefined && offset !== undefined) return positionAt(text, given + 1 + offset);
    const [set = given] = findAll(text, settingOf(`${path.at(-1)}`, value));
    if (set !== undefined) return positionAt(text, set);
  }
  let from = 0;
  let place: number | undefined;
  let item = 0;
  for (const part of path) {
    if (typeof part === 'number') {
      item = part;
      continue;
    }
    const found = findAll(text, keyOf(part)).filter((offset) => offset >= from);
    place = found[Math.min(item, found.length - 1)] ?? place;
    from = place ?? from;
    item = 0;
  }
  return place === undefined ? undefined : positionAt(text, place);
}

/** Finds where the code throws a value that is not an Error and thus has no stack. */
export function placeOfThrow(text: string, thrown: string): Position | undefined {
  const written = thrown === 'null' || thrown === 'undefined' ? `\\b${thrown}\\b` : literalOf(thrown).source;
  const [first] = findAll(text, new RegExp(`\\bthrow\\s+(?:${written})`, 'g'));
  return first === undefined ? undefined : positionAt(text, first);
}

function findAll(text: string, pattern: RegExp): number[] {
  return Array.from(text.matchAll(pattern), ({ index }) => index);
}

function keyOf(name: string): RegExp {
  return new RegExp(`(?<![\\w$.])['"]?${escaped(name)}['"]?(?=\\s*[:(,}])`, 'g');
}

/** Returns a pattern that matches a setting with the given name and string value in source code. */
function settingOf(name: string, value: string): RegExp {
  return new RegExp(`(?<![\\w$.])['"]?${escaped(name)}['"]?\\s*:\\s*${literalOf(value).source}`, 'g');
}

function literalOf(value: string): RegExp {
  return new RegExp(`(['"\`])${escaped(value)}\\1`, 'g');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
