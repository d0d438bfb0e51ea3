// The parsed template for an XML file, and the code that fills it with values.
import { SaxesParser } from 'saxes';
import { parameterIdMistake } from '../../model/address.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { type Doctype, findDoctype } from './doctype/doctype.ts';
import { lineAndColumn, Mistake } from './doctype/doctype-declarations.ts';
import type { Encoding, TemplateSource } from './encoding.ts';

/** The maximum length of a template, in bytes for a file or in UTF-16 code units for a setting. */
export const maxTemplateLength = 2 ** 20;
/** The maximum length of the output file, in UTF-16 code units. libxml2, the strictest known parser, refuses text of 10 MB. */
export const maxFileLength = 2 ** 21;

export interface Template {
  /** The names of the placeholders, without duplicates, in the order of their first use. */
  readonly names: readonly string[];
  readonly encoding: Encoding;
  /** The whole template as a sequence of literals and of stretches that contain placeholders. */
  readonly pieces: readonly (string | Stretch)[];
}

/**
 * A part of the template with placeholders in one context, such as `["a ", "Title", " b"]`. Literals have even indexes, and names of
 * placeholders have odd indexes.
 */
interface Stretch {
  readonly context: Context;
  readonly parts: readonly string[];
}

/**
 * Fills in a template with values that are keyed by placeholder name. A placeholder without a value becomes empty. Errors: `Error` if the
 * result would be too long.
 */
export function fillTemplate({ pieces, encoding }: Template, values: ReadonlyMap<string, string>): string {
  let length = 0;
  const count = (text: string) => {
    length += text.length;
    if (length > maxFileLength) throw new Error(`expected a file of at most ${maxFileLength} characters, got more`);
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

// Escapes values so that a parser returns the same text (XML 1.0, sections 2.2, 2.4, 2.7, 2.11 and 3.3.3). Contexts differ in the
// characters that end them and in the white space that a parser changes

/** The context of a placeholder: text, a CDATA section, or an attribute value in the given quotation marks. */
type Context = 'text' | 'cdata' | '"' | "'";

/** Matches the characters that XML 1.0 cannot contain, not even as references, including lone surrogates. */
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

const special = { text: /[&<>\r]/g, '"': /[&<>"\t\n\r]/g, "'": /[&<>'\t\n\r]/g };
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/**
 * A stand-in for a carriage return in a CDATA section until the section is complete. Neither templates nor values can contain this
 * character.
 */
const returnMark = '\0';

/** Escapes a value for its context. Characters that XML forbids become U+FFFD. */
function escapeValue(context: Context, value: string): string {
  const allowed = value.replace(forbidden, '\ufffd');
  if (context === 'cdata') return allowed.replaceAll('\r', returnMark);
  return allowed.replace(special[context], (character) => entities[character] ?? reference(character));
}

/**
 * Completes a stretch whose values have been escaped. Ensures that no `]]>` results where literals and values meet. A character that the
 * encoding cannot represent becomes a reference. Because CDATA cannot contain references, the section is closed before the reference and
 * reopened after it.
 */
function escapeStretch(context: Context, stretch: string, missing: RegExp | undefined): string {
  let escaped = stretch;
  if (context === 'text') escaped = escaped.replaceAll(']]>', ']]&gt;');
  if (context === 'cdata')
    escaped = escaped.replaceAll(']]>', `]]${outsideCdata('')}>`).replaceAll(returnMark, outsideCdata(reference('\r')));
  if (missing === undefined) return escaped;
  return escaped.replace(missing, (character) =>
    context === 'cdata' ? outsideCdata(reference(character)) : reference(character),
  );
}

function reference(character: string): string {
  return `&#${character.codePointAt(0)};`;
}

function outsideCdata(text: string): string {
  return `]]>${text}<![CDATA[`;
}

// Parses the template for an XML file once, into literals and stretches with placeholders. Literals are preserved exactly (S-14, D-09)

const predefinedEntities = { amp: '&', gt: '>', lt: '<', quot: '"', apos: "'" };
const known = '&amp; &lt; &gt; &quot; &apos; and references by number (&#160;)';
/** The end of saxes' error message for an unknown entity. */
const undefinedEntity = 'undefined entity.';

const nameSource = '[\\p{L}\\p{Nd}][\\p{L}\\p{M}\\p{Nd}]*';
const placeholder = new RegExp(`\\$(${nameSource})`, 'u');
const wholeName = new RegExp(`^${nameSource}$`, 'u');

/** Returns whether a string is a valid name for a placeholder: letters and digits in any script. */
export function isPlaceholderName(text: string): boolean {
  return wholeName.test(text);
}

/**
 * Parses a template. Placeholders are recognized in text, CDATA sections and attribute values, but not in namespace declarations. Errors:
 * `cannot-start`, which names the line and column: `template:3:7: unclosed tag: b`.
 */
export function parseTemplate(source: TemplateSource): Template {
  return new TemplateParser(source).parse();
}

/** Collects the pieces of a template while saxes parses it. Each saxes event concerns the text up to the current position. */
class TemplateParser {
  readonly #source: TemplateSource;
  readonly #saxes: SaxesParser<{ xmlns: true; fileName: string }>;
  readonly #pieces: (string | Stretch)[] = [];
  readonly #names = new Set<string>();
  #doctype: Doctype | undefined;
  /** The offset of the text that does not belong to any piece yet. */
  #start = 0;

  constructor(source: TemplateSource) {
    this.#source = source;
    this.#saxes = new SaxesParser({ xmlns: true, fileName: source.name });
    // The prototype is removed because saxes' entity table would otherwise inherit names from Object.prototype.
    Object.assign(Object.setPrototypeOf(this.#saxes.ENTITIES, null), predefinedEntities);
    this.#followMarkup();
    this.#followValues();
    this.#saxes.on('error', (error) => this.#explain(error));
  }

  /** Parses the template. Must be called only once. */
  parse(): Template {
    const { name, text, encoding } = this.#source;
    try {
      if (!text.isWellFormed()) this.#fail('expected Unicode text, got a lone surrogate');
      this.#doctype = findDoctype(text);
      this.#saxes.write(text).close();
      this.#addLiteral(text.length);
    } catch (error) {
      const where = error instanceof Mistake ? `${name}:${lineAndColumn(text, error.at)}: ` : '';
      throw new HubError('cannot-start', `${where}${messageOf(error)}`, { cause: error });
    }
    return { names: [...this.#names], encoding, pieces: this.#pieces };
  }

  #followMarkup(): void {
    const saxes = this.#saxes;
    const addMarkup = () => this.#addLiteral(saxes.position);
    saxes.on('xmldecl', ({ version }) => {
      if (version !== '1.0') this.#fail(`expected XML of version 1.0, got "${version}"`);
      addMarkup();
    });
    saxes.on('doctype', () => {
      if (saxes.position !== this.#doctype?.end) this.#fail('expected a doctype with balanced brackets and quotes');
      addMarkup();
    });
    saxes.on('processinginstruction', addMarkup);
    saxes.on('comment', () => this.#addLiteral(saxes.position + '>'.length));
    saxes.on('opentag', addMarkup);
    saxes.on('closetag', addMarkup);
  }

  #followValues(): void {
    const saxes = this.#saxes;
    const { text } = this.#source;
    saxes.on('text', () => this.#addStretch('text', saxes.position - '<'.length));
    saxes.on('cdata', () => {
      this.#addLiteral(this.#start + '<![CDATA['.length);
      this.#addStretch('cdata', saxes.position - ']]>'.length);
      this.#addLiteral(saxes.position);
    });
    saxes.on('attribute', ({ name }) => {
      if (name === 'xmlns' || name.startsWith('xmlns:')) return;
      const end = saxes.position - 1;
      const quote = text[end] as '"' | "'";
      this.#addLiteral(text.lastIndexOf(quote, end - 1) + 1);
      this.#addStretch(quote, end);
    });
  }

  #addLiteral(end: number): void {
    const { text, encoding } = this.#source;
    const literal = text.slice(this.#start, end);
    this.#start = end;
    if (literal === '') return;
    const missing = encoding.missing && literal.match(encoding.missing)?.[0];
    if (missing !== undefined) this.#fail(`expected markup in ${encoding.name}, which cannot encode "${missing}"`);
    this.#pieces.push(literal);
  }

  #addStretch(context: Context, end: number): void {
    const parts = this.#source.text.slice(this.#start, end).split(placeholder);
    for (const [index, part] of parts.entries()) {
      if (index % 2 === 0) continue;
      const mistake = parameterIdMistake(part);
      if (mistake) this.#fail(mistake);
      this.#names.add(part);
    }
    this.#pieces.push({ context, parts });
    this.#start = end;
  }

  /** Throws an error. If the error concerns an entity, the message states which entities a template may use. */
  #explain(error: Error): never {
    if (!error.message.endsWith(undefinedEntity)) throw error;
    const { text } = this.#source;
    const { position } = this.#saxes;
    const entity = text.slice(text.lastIndexOf('&', position - 1), position);
    return this.#fail(
      this.#doctype?.entities.has(entity.slice(1, -1))
        ? `entity ${entity} is declared, but some XML readers ignore declarations: use only ${known}`
        : `unknown entity ${entity}; XML defines only ${known}`,
    );
  }

  /** Throws an error with the current line and column. */
  #fail(message: string): never {
    throw this.#saxes.makeError(message);
  }
}
