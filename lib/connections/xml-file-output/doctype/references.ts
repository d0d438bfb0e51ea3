// Reads the references in values of entities and attributes (XML 1.0 section 4.1), and replaces them (section 4.4).

import { Mistake, simpleName } from './scanner.ts';

/** A part of a value: text, the character of a reference by number, or a reference to an entity. */
export type Part =
  | { readonly kind: 'text' | 'character'; readonly text: string }
  | { readonly kind: 'entity'; readonly text: string; readonly name: string };

/** A reference [66], [68]: by number, decimal or hexadecimal, or by the name of an entity. */
const reference = new RegExp(`&(?:#(\\d+)|#x([\\da-fA-F]+)|(${simpleName}));`, 'uy');

/**
 * Reads the value of an entity [9] or of an attribute [10]. It begins at the place `at`, which mistakes tell. The value of an entity
 * has no `%`: references to parameter entities may stand there in external subsets only.
 */
export function readReferences(value: string, at: number, what: 'entity' | 'attribute'): Part[] {
  const parts: Part[] = [];
  const special = what === 'entity' ? /[&%]/g : /[&<]/g;
  let start = 0;
  for (;;) {
    special.lastIndex = start;
    const found = special.exec(value)?.index ?? value.length;
    if (found > start) parts.push({ kind: 'text', text: value.slice(start, found) });
    if (found === value.length) return parts;
    if (value[found] !== '&') throw new Mistake(at + found, mistakes[value[found] as keyof typeof mistakes]);
    reference.lastIndex = found;
    const [text, decimal, hexadecimal, name] = reference.exec(value) ?? [];
    if (text === undefined)
      throw new Mistake(at + found, 'expected a reference such as &amp; or &#38;, got "&" (to be written &amp;)');
    start = found + text.length;
    if (name !== undefined) parts.push({ kind: 'entity', text, name });
    else parts.push({ kind: 'character', text: characterOf(text, decimal, hexadecimal, at + found) });
  }
}

const mistakes = {
  '<': 'expected no "<" in the value of an attribute: it is written &lt;',
  '%': 'expected no "%" in the value of an entity: it is written &#37;',
};

/** The replacement text of an entity (section 4.5): references by number are replaced, references to entities stay. */
export function entityValue(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('');
}

/** Matches a character that is no Char [2]. */
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** The constraint Legal Character. */
function characterOf(text: string, decimal: string | undefined, hexadecimal: string | undefined, at: number): string {
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number.parseInt(decimal, 10);
  const isCharacter = code <= 0x10ffff && !forbidden.test(String.fromCodePoint(code));
  if (!isCharacter) throw new Mistake(at, `expected a character of XML, got ${text}`);
  return String.fromCodePoint(code);
}
