// Parses the document type declaration of a template (XML 1.0, section 2.8). Programs that read the output file reject a malformed
// declaration, and saxes does not check declarations. Other files that the declaration names are not read.

import {
  checkDepth,
  Entities,
  Mistake,
  readAttributes,
  readElement,
  readEntity,
  readExternalId,
  readNotation,
  Scanner,
  tokens,
} from './doctype-declarations.ts';

/** The maximum total length of the parameter entities that a subset uses, in UTF-16 code units. An entity counts once for each use. */
export const maxParameterText = 2 ** 20;

export interface Doctype {
  /** The offset of the first character after the declaration. */
  readonly end: number;
  /** The names of the general entities that the internal subset declares. */
  readonly entities: ReadonlySet<string>;
}

/** Matches the content that may precede the declaration. This content is checked when the whole document is parsed. */
const prolog = /^\ufeff?(?:[ \t\r\n]+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)*/;
const standalone = /^\ufeff?<\?xml\s[^>]*\sstandalone\s*=\s*["']yes["']/;

/** Parses the document type declaration of a document, or returns undefined if there is none. Errors: `Mistake`. */
export function findDoctype(text: string): Doctype | undefined {
  const [before] = prolog.exec(text)!;
  if (!text.startsWith('<!DOCTYPE', before.length)) return undefined;
  return readDoctype(text, before.length, standalone.test(before));
}

/** Parses the document type declaration [28] that begins at an offset in the text. Errors: `Mistake`. */
export function readDoctype(text: string, start: number, isStandalone: boolean): Doctype {
  const scanner = new Scanner(text, start);
  const subset = new Subset(isStandalone);
  scanner.expect('<!DOCTYPE');
  scanner.expect(tokens.space);
  scanner.expect(tokens.name);
  if (scanner.space() && readExternalId(scanner)) subset.open();
  scanner.space();
  if (scanner.skip('[')) {
    subset.read(scanner);
    scanner.expect(']');
    scanner.space();
  }
  scanner.expect('>');
  return { end: scanner.at, entities: subset.entities.names };
}

class Subset {
  readonly entities = new Entities();
  readonly #isStandalone: boolean;
  #parameterText = 0;

  constructor(isStandalone: boolean) {
    this.#isStandalone = isStandalone;
  }

  /** Records that a file that may declare entities is not read. Has no effect if the document is standalone. */
  open(): void {
    if (!this.#isStandalone) this.entities.open();
  }

  /** Parses an internal subset [28b] up to its `]`, or the text of a parameter entity between declarations [31]. */
  read(scanner: Scanner, through: readonly string[] = []): void {
    for (;;) {
      scanner.space();
      const at = scanner.at;
      if (scanner.skip('<!--')) readComment(scanner);
      else if (scanner.skip('<?')) readInstruction(scanner);
      else if (scanner.skip('<!ELEMENT')) readElement(scanner);
      else if (scanner.skip('<!ATTLIST')) readAttributes(scanner, this.entities);
      else if (scanner.skip('<!ENTITY')) readEntity(scanner, this.entities);
      else if (scanner.skip('<!NOTATION')) readNotation(scanner);
      else if (scanner.skip('%')) this.#readParameter(scanner, at, through);
      else if (scanner.isAtEnd || (scanner.text[at] === ']' && through.length === 0)) return;
      else scanner.fail('a declaration or "]"');
    }
  }

  /**
   * Parses a reference to a parameter entity [69]. The text of an internal entity is parsed in its place and must contain complete
   * declarations (constraint PE Between Declarations).
   */
  #readParameter(scanner: Scanner, at: number, through: readonly string[]): void {
    const name = scanner.expect(tokens.simpleName);
    scanner.expect(';');
    checkDepth(through, name, at, `%${name};`);
    const entity = this.entities.parameter(name, at);
    if (entity === undefined || typeof entity === 'string') {
      this.open();
      return;
    }
    this.#parameterText += entity.value.length;
    if (this.#parameterText > maxParameterText)
      throw new Mistake(at, `expected parameter entities of at most ${maxParameterText} characters in total`);
    try {
      this.read(new Scanner(entity.value), [...through, name]);
    } catch (error) {
      throw error instanceof Mistake ? new Mistake(at, `in %${name};: ${error.message}`) : error;
    }
  }
}

/** Parses the rest of a comment [15] after `<!--`. */
function readComment(scanner: Scanner): void {
  scanner.skipTo('--');
  scanner.expect('-->');
}

/** Parses the rest of a processing instruction [16], [17] after `<?`. */
function readInstruction(scanner: Scanner): void {
  const at = scanner.at;
  const target = scanner.expect(tokens.simpleName);
  if (target.toLowerCase() === 'xml') throw new Mistake(at, `expected no XML declaration here, got "${target}"`);
  if (scanner.skip('?>')) return;
  scanner.expect(tokens.space);
  scanner.skipTo('?>');
  scanner.expect('?>');
}
