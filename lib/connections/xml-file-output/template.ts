// The template of an XML file, parsed once into literals and stretches with placeholders, and filled for each file.
// Literals stay as their author wrote them, to the character (spec.md "XML File Output connection", D-09).

import { SaxesParser } from 'saxes';
import { parameterIdMistake } from '../../model/address.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { type Doctype, findDoctype } from './doctype/doctype.ts';
import { lineAndColumn, Mistake } from './doctype/scanner.ts';
import type { Encoding, TemplateSource } from './encoding.ts';
import { type Context, escapeStretch, escapeValue } from './escape.ts';

/** The longest template, in bytes of a file or UTF-16 code units of a setting. */
export const maxTemplateLength = 2 ** 20;
/** The longest file, in UTF-16 code units; libxml2, the strictest reader we know, refuses a text of 10 MB. */
export const maxFileLength = 2 ** 21;

export interface Template {
  /** The placeholders' names, each once, in the order in which they first appear. */
  readonly names: readonly string[];
  readonly encoding: Encoding;
  /** The whole text: literals, and stretches with placeholders. */
  readonly pieces: readonly (string | Stretch)[];
}

/** Text of one context, `["a ", "Title", " b"]`: literals at even places, names of placeholders at odd ones. */
interface Stretch {
  readonly context: Context;
  readonly parts: readonly string[];
}

const predefinedEntities = { amp: '&', gt: '>', lt: '<', quot: '"', apos: "'" };
const known = '&amp; &lt; &gt; &quot; &apos; and references by number (&#160;)';
const undefinedEntity = 'undefined entity.';

const nameSource = '[\\p{L}\\p{Nd}][\\p{L}\\p{M}\\p{Nd}]*';
const placeholder = new RegExp(`\\$(${nameSource})`, 'u');
const wholeName = new RegExp(`^${nameSource}$`, 'u');

/** Whether a text could be the name of a placeholder: letters and digits of any script. */
export function isPlaceholderName(text: string): boolean {
  return wholeName.test(text);
}

/**
 * Parses a template. Placeholders count in text, CDATA and attribute values; a namespace declaration names, it holds
 * no value. Errors: `cannot-start`, `template:3:7: unclosed tag: b`, with line and column.
 */
export function parseTemplate({ name, text, encoding }: TemplateSource): Template {
  const parser = new SaxesParser({ xmlns: true, fileName: name });
  const fail = (message: string): never => {
    throw parser.makeError(message);
  };
  const pieces: (string | Stretch)[] = [];
  const names = new Set<string>();
  let start = 0;

  const addLiteral = (end: number) => {
    const literal = text.slice(start, end);
    start = end;
    if (literal === '') return;
    const missing = encoding.missing && literal.match(encoding.missing)?.[0];
    if (missing !== undefined) fail(`expected ${encoding.name} in markup, which cannot hold "${missing}"`);
    pieces.push(literal);
  };
  const addStretch = (context: Context, end: number) => {
    const parts = text.slice(start, end).split(placeholder);
    for (const [index, part] of parts.entries()) {
      if (index % 2 === 0) continue;
      const mistake = parameterIdMistake(part);
      if (mistake) fail(mistake);
      names.add(part);
    }
    pieces.push({ context, parts });
    start = end;
  };
  const addMarkup = () => addLiteral(parser.position);

  // Its own table has the names of Object.prototype as well.
  Object.assign(Object.setPrototypeOf(parser.ENTITIES, null), predefinedEntities);
  let doctype: Doctype | undefined;
  parser.on('error', (error) => {
    if (!error.message.endsWith(undefinedEntity)) throw error;
    const entity = text.slice(text.lastIndexOf('&', parser.position - 1), parser.position);
    fail(
      doctype?.entities.has(entity.slice(1, -1))
        ? `entity ${entity} is declared, but not every reader reads declarations: a template has only ${known}`
        : `entity ${entity} is not known; XML knows only ${known}`,
    );
  });
  parser.on('xmldecl', ({ version }) => {
    if (version !== '1.0') fail(`expected XML of version 1.0, got "${version}"`);
    addMarkup();
  });
  parser.on('doctype', () => {
    if (parser.position !== doctype?.end) fail('expected the doctype to end where its brackets and quotes do');
    addMarkup();
  });
  parser.on('processinginstruction', addMarkup);
  parser.on('comment', () => addLiteral(parser.position + '>'.length));
  parser.on('opentag', addMarkup);
  parser.on('closetag', addMarkup);
  parser.on('text', () => addStretch('text', parser.position - '<'.length));
  parser.on('cdata', () => {
    addLiteral(start + '<![CDATA['.length);
    addStretch('cdata', parser.position - ']]>'.length);
    addMarkup();
  });
  parser.on('attribute', ({ name: attribute }) => {
    if (attribute === 'xmlns' || attribute.startsWith('xmlns:')) return;
    const end = parser.position - 1;
    const quote = text[end] as '"' | "'";
    addLiteral(text.lastIndexOf(quote, end - 1) + 1);
    addStretch(quote, end);
  });

  try {
    if (!text.isWellFormed()) fail('expected Unicode text, got half of a surrogate pair');
    doctype = findDoctype(text);
    parser.write(text).close();
  } catch (error) {
    const where = error instanceof Mistake ? `${name}:${lineAndColumn(text, error.at)}: ` : '';
    throw new HubError('cannot-start', `${where}${messageOf(error)}`, { cause: error });
  }
  addLiteral(text.length);
  return { names: [...names], encoding, pieces };
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
