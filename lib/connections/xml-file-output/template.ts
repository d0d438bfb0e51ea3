// The template of an XML file, once it is parsed, and how it is filled with values.

import type { Encoding } from './encoding.ts';
import { type Context, escapeStretch, escapeValue } from './escape.ts';

/** The longest template, in bytes of a file or UTF-16 code units of a setting. */
export const maxTemplateLength = 2 ** 20;
/** The longest file, in UTF-16 code units; libxml2, the strictest reader we know, refuses a text of 10 MB. */
export const maxFileLength = 2 ** 21;

export interface Template {
  /** The names of the placeholders, each once, in the order in which they first appear. */
  readonly names: readonly string[];
  readonly encoding: Encoding;
  /** The whole text: literals, and stretches with placeholders. */
  readonly pieces: readonly (string | Stretch)[];
}

/** Text of one context, `["a ", "Title", " b"]`: literals at even places, names of placeholders at odd ones. */
export interface Stretch {
  readonly context: Context;
  readonly parts: readonly string[];
}

/** Fills a template; a placeholder without a value is the empty string. Errors: any, when the file would be too long. */
export function fillTemplate({ pieces, encoding }: Template, values: ReadonlyMap<string, string>): string {
  let length = 0;
  const count = (text: string) => {
    length += text.length;
    if (length > maxFileLength)
      throw new Error(`expected a file of at most ${maxFileLength} characters, it grew longer`);
    return text;
  };
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return count(piece);
      const { context, parts } = piece;
      const filled = parts.map((part, index) =>
        count(index % 2 === 0 ? part : escapeValue(context, values.get(part) ?? '')),
      );
      return escapeStretch(context, filled.join(''), encoding.missing);
    })
    .join('');
}
