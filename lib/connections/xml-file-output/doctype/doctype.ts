// Reads the document type declaration of a template (XML 1.0 section 2.8). Readers of the output file reject a malformed declaration,
// including a malformed internal subset, and saxes does not check the declaration. Other files that the declaration names are not read.

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

/** The maximum total length of all parameter entities used in a subset, in UTF-16 code units, counted once per use. */
export const maxParameterText = 2 ** 20;

export interface Doctype {
  /** The position after the declaration. */
  readonly end: number;
  /** The names of the entities that the declaration declares. */
  readonly entities: ReadonlySet<string>;
}

/** The content that may precede the declaration, which is checked when the whole document is parsed. */
const prolog = /^\ufeff?(?:[ \t\r\n]+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)*/;
const standalone = /^\ufeff?<\?xml\s[^>]*\sstandalone\s*=\s*["']yes["']/;

/** Reads the declaration of a document, if there is one. Errors: `Mistake`. */
export function findDoctype(text: string): Doctype | undefined {
  const [before] = prolog.exec(text)!;
  if (!text.startsWith('<!DOCTYPE', before.length)) return undefined;
  return readDoctype(text, before.length, standalone.test(before));
}

/** Reads the declaration [28] at a position in the text. Errors: `Mistake`. */
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

  /** Records that a file that may declare entities is not read, unless the document is standalone. */
  open(): void {
    if (!this.#isStandalone) this.entities.open();
  }

  /** Reads an internal subset [28b] up to its `]`, or [31] for the text of a parameter entity between declarations. */
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
   * Reads a reference to a parameter entity [69]. An internal entity is read in place; it must contain whole declarations (the constraint
   * PE Between Declarations).
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

/** Reads the rest of a comment [15] after `<!--`. */
function readComment(scanner: Scanner): void {
  scanner.skipTo('--');
  scanner.expect('-->');
}

/** Reads the rest of a processing instruction [16], [17] after `<?`. */
function readInstruction(scanner: Scanner): void {
  const at = scanner.at;
  const target = scanner.expect(tokens.simpleName);
  if (target.toLowerCase() === 'xml') throw new Mistake(at, `expected no XML declaration here, got "${target}"`);
  if (scanner.skip('?>')) return;
  scanner.expect(tokens.space);
  scanner.skipTo('?>');
  scanner.expect('?>');
}
