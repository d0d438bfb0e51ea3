// Parses the markup declarations in an internal subset (XML 1.0, sections 3.2, 3.3, 4.2 and 4.7). The declarations must be well-formed but
// need not be valid. Numbers in brackets refer to the productions of the specification.
import { describe } from '../../../model/error.ts';

// Scans text from left to right, token by token (XML 1.0, fifth edition; numbers in brackets refer to the specification's productions)

/** A mistake in XML text, with its offset in the text. */
export class Mistake extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/**
 * Formats an offset as line and column in the same way as the parser `saxes`: `3:14`. Lines are numbered from 1, and the column includes
 * the character at the offset.
 */
export function lineAndColumn(text: string, at: number): string {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${lines.length}:${[...lines.at(-1)!].length + 1}`;
}

const nameStart =
  'A-Z_a-z\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const nameRest = `${nameStart}\\-.0-9\\xB7\\u{300}-\\u{36F}\\u{203F}-\\u{2040}`;
/** The NCName production of Namespaces in XML [4], as the source of a regular expression. */
const simpleName = `[${nameStart}][${nameRest}]*`;

/**
 * The tokens, each with the description that messages use. According to Namespaces in XML, a name contains no colon, or one colon between
 * two names without colons.
 */
export const tokens = {
  /** The S production [3]: white space. */
  space: token('white space', '[ \\t\\r\\n]+'),
  /** The name of an entity or a notation, or the target of a processing instruction. */
  simpleName: token('a name without a colon', `${simpleName}(?![:${nameRest}])`),
  /** The QName production of Namespaces in XML [7]: the name of an element or an attribute. */
  name: token('a name', `${simpleName}(?::${simpleName})?(?![:${nameRest}])`),
  /** The Nmtoken production [7]. */
  nameToken: token('a name token', `[:${nameRest}]+`),
  /** The SystemLiteral production [11]: a system identifier in quotation marks. */
  systemLiteral: token('a system identifier in quotes', '"[^"]*"|\'[^\']*\''),
  /** The PubidLiteral production [12], [13]: a public identifier in quotation marks. */
  publicLiteral: token(
    'a public identifier in quotes',
    "\"[ \\r\\na-zA-Z0-9\\-'()+,./:=?;!*#@$_%]*\"|'[ \\r\\na-zA-Z0-9\\-()+,./:=?;!*#@$_%]*'",
  ),
  /** The EntityValue and AttValue productions [9], [10]: any text in quotation marks, whose content is checked later. */
  literal: token('text in quotes', '"[^"]*"|\'[^\']*\''),
} as const;

interface Token {
  readonly what: string;
  readonly pattern: RegExp;
}

const shownCharacters = 12;

export class Scanner {
  readonly text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Skips `literal` if the text continues with it. Returns whether it was skipped. */
  skip(literal: string): boolean {
    if (!this.text.startsWith(literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  /**
   * Skips the first string in the list with which the text continues, and returns it. If one string is the beginning of another, the longer
   * string must come first.
   */
  skipOne<Literal extends string>(literals: readonly Literal[]): Literal | undefined {
    return literals.find((literal) => this.skip(literal));
  }

  /** Skips white space. Returns whether any was skipped. */
  space(): boolean {
    return this.take(tokens.space) !== undefined;
  }

  /** Moves to the next occurrence of `literal`. Errors: `Mistake` if there is no further occurrence. */
  skipTo(literal: string): void {
    const found = this.text.indexOf(literal, this.at);
    if (found < 0) throw new Mistake(this.at, `expected "${literal}" later in the text`);
    this.at = found;
  }

  take({ pattern }: Token): string | undefined {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0];
    if (taken !== undefined) this.at += taken.length;
    return taken;
  }

  /** Reads the expected token or string. Errors: `Mistake` if the text continues with anything else. */
  expect(wanted: Token | string): string {
    if (typeof wanted === 'string') return this.skip(wanted) ? wanted : this.fail(`"${wanted}"`);
    return this.take(wanted) ?? this.fail(wanted.what);
  }

  /** Throws a `Mistake` such as `expected a name, got ">"`. */
  fail(expected: string): never {
    const next = this.text.slice(this.at, this.at + shownCharacters).split(/[\r\n]/)[0];
    throw new Mistake(this.at, `expected ${expected}, got ${this.isAtEnd ? 'the end of the text' : describe(next)}`);
  }
}

function token(what: string, source: string): Token {
  return { what, pattern: new RegExp(source, 'uy') };
}

const wholeTypes = ['CDATA', 'IDREFS', 'IDREF', 'ID', 'ENTITIES', 'ENTITY', 'NMTOKENS', 'NMTOKEN'] as const;

/** Parses the rest of an element declaration [45] after `<!ELEMENT`. */
export function readElement(scanner: Scanner): void {
  scanner.expect(tokens.space);
  scanner.expect(tokens.name);
  scanner.expect(tokens.space);
  if (scanner.skipOne(['EMPTY', 'ANY']) === undefined) {
    if (!scanner.skip('(')) scanner.fail('EMPTY, ANY or "("');
    scanner.space();
    if (scanner.skip('#PCDATA')) readMixed(scanner);
    else readChildren(scanner);
  }
  endDeclaration(scanner);
}

/** Parses the rest of mixed content [51] after `(#PCDATA`. */
function readMixed(scanner: Scanner): void {
  let hasNames = false;
  scanner.space();
  while (scanner.skip('|')) {
    hasNames = true;
    scanner.space();
    scanner.expect(tokens.name);
    scanner.space();
  }
  scanner.expect(')');
  if (hasNames) scanner.expect('*');
  else scanner.skip('*');
}

/** Parses the rest of element content [47] to [50] after `(`. All separators in a group must be the same as its first separator. */
function readChildren(scanner: Scanner): void {
  const groups: { separator: string | undefined }[] = [{ separator: undefined }];
  for (;;) {
    scanner.space();
    if (scanner.skip('(')) {
      groups.push({ separator: undefined });
      continue;
    }
    if (scanner.take(tokens.name) === undefined) scanner.fail('"(" or a name');
    scanner.skipOne(['?', '*', '+']);
    for (;;) {
      scanner.space();
      const group = groups.at(-1)!;
      if (scanner.skip(')')) {
        scanner.skipOne(['?', '*', '+']);
        groups.pop();
        if (groups.length === 0) return;
      } else {
        const expected = group.separator === undefined ? ['|', ','] : [group.separator];
        group.separator = scanner.skipOne(expected) ?? scanner.fail(`")" or "${expected.join('" or "')}"`);
        break;
      }
    }
  }
}

/** Parses the rest of an attribute-list declaration [52] after `<!ATTLIST`. */
export function readAttributes(scanner: Scanner, entities: Entities): void {
  scanner.expect(tokens.space);
  scanner.expect(tokens.name);
  for (;;) {
    const isApart = scanner.space();
    if (scanner.skip('>')) return;
    if (!isApart) scanner.fail('white space or ">"');
    scanner.expect(tokens.name);
    scanner.expect(tokens.space);
    readAttributeType(scanner);
    scanner.expect(tokens.space);
    readDefault(scanner, entities);
  }
}

/** Parses an attribute type [54] to [59]. */
function readAttributeType(scanner: Scanner): void {
  if (scanner.skipOne(wholeTypes) !== undefined) return;
  const isNotation = scanner.skip('NOTATION');
  if (isNotation) scanner.expect(tokens.space);
  if (!scanner.skip('(')) scanner.fail('the type of an attribute');
  do {
    scanner.space();
    scanner.expect(isNotation ? tokens.simpleName : tokens.nameToken);
    scanner.space();
  } while (scanner.skip('|'));
  scanner.expect(')');
}

/** Parses the default declaration [60] of an attribute. */
function readDefault(scanner: Scanner, entities: Entities): void {
  if (scanner.skipOne(['#REQUIRED', '#IMPLIED']) !== undefined) return;
  if (scanner.skip('#FIXED')) scanner.expect(tokens.space);
  const start = scanner.at;
  const literal = scanner.take(tokens.literal) ?? scanner.fail('#REQUIRED, #IMPLIED, #FIXED or text in quotes');
  entities.checkAttribute(literal.slice(1, -1), start + 1);
}

/** Parses the rest of an entity declaration [70] to [76] after `<!ENTITY`, and declares the entity. */
export function readEntity(scanner: Scanner, entities: Entities): void {
  scanner.expect(tokens.space);
  const isParameter = scanner.skip('%');
  if (isParameter) scanner.expect(tokens.space);
  const name = scanner.expect(tokens.simpleName);
  scanner.expect(tokens.space);
  const start = scanner.at;
  const literal = scanner.take(tokens.literal);
  if (literal !== undefined) {
    const value = entityValue(readReferences(literal.slice(1, -1), start + 1, 'entity'));
    entities.declare(isParameter, name, { value });
  } else {
    if (!readExternalId(scanner)) scanner.fail('text in quotes, SYSTEM or PUBLIC');
    const isUnparsed = !isParameter && readNotationOfData(scanner);
    entities.declare(isParameter, name, isUnparsed ? 'unparsed' : 'external');
  }
  endDeclaration(scanner);
}

/** Parses the notation of an unparsed entity [76]. Returns whether there is a notation. */
function readNotationOfData(scanner: Scanner): boolean {
  if (!scanner.space() || !scanner.skip('NDATA')) return false;
  scanner.expect(tokens.space);
  scanner.expect(tokens.simpleName);
  return true;
}

/** Parses the rest of a notation declaration [82] after `<!NOTATION`. */
export function readNotation(scanner: Scanner): void {
  scanner.expect(tokens.space);
  scanner.expect(tokens.simpleName);
  scanner.expect(tokens.space);
  if (!readExternalId(scanner, true)) scanner.fail('SYSTEM or PUBLIC');
  endDeclaration(scanner);
}

/**
 * Parses an external ID [75] or, for a notation, a public ID [83], in which the system identifier may be omitted. Returns whether there is
 * an ID.
 */
export function readExternalId(scanner: Scanner, isOfNotation = false): boolean {
  const keyword = scanner.skipOne(['SYSTEM', 'PUBLIC']);
  if (keyword === undefined) return false;
  scanner.expect(tokens.space);
  if (keyword === 'PUBLIC') {
    scanner.expect(tokens.publicLiteral);
    const isApart = scanner.space();
    if (isOfNotation && scanner.take(tokens.systemLiteral) === undefined) return true;
    if (!isApart) scanner.fail(tokens.space.what);
    if (isOfNotation) return true;
  }
  scanner.expect(tokens.systemLiteral);
  return true;
}

function endDeclaration(scanner: Scanner): void {
  scanner.space();
  scanner.expect('>');
}

// The entities that an internal subset declares, and the references to entities within the subset (XML 1.0, section 4.1). Checks the
// constraints Entity Declared, Parsed Entity, No Recursion, No External Entity References, and No < in Attribute Values.

/** The maximum depth to which entities may refer to other entities. */
export const maxDepth = 20;

/** An entity. An internal entity has a replacement text; an external or unparsed entity is in a file that is not read. */
type Entity = { readonly value: string } | 'external' | 'unparsed';

const predefined = ['amp', 'lt', 'gt', 'apos', 'quot'];

export class Entities {
  readonly #parameters = new Map<string, Entity>();
  readonly #generals = new Map<string, Entity>();
  /** The names of the entities that are known to be valid in attribute values. */
  readonly #checked = new Set(predefined);
  /** Whether entities may also be declared in a file that is not read. */
  #mayBeElsewhere = false;

  /** The names of the declared general entities. A template must not use these entities. */
  get names(): ReadonlySet<string> {
    return new Set(this.#generals.keys());
  }

  /** Declares an entity, unless it is already declared: only the first declaration counts (section 4.2). */
  declare(isParameter: boolean, name: string, entity: Entity): void {
    const entities = isParameter ? this.#parameters : this.#generals;
    if (!entities.has(name)) entities.set(name, entity);
  }

  /** Records that the declarations after this point may be in a file that is not read, so that unknown entities are allowed. */
  open(): void {
    this.#mayBeElsewhere = true;
  }

  /** Returns a parameter entity, or undefined if it may be declared in a file that is not read. Errors: `Mistake` if it is not declared. */
  parameter(name: string, at: number): Entity | undefined {
    return this.#known(this.#parameters.get(name), `%${name};`, at);
  }

  /** Checks the default value of an attribute, which begins at offset `at` in the text. Errors: `Mistake`. */
  checkAttribute(value: string, at: number, through: readonly string[] = []): void {
    for (const part of readReferences(value, at, 'attribute'))
      if (part.kind === 'entity' && !this.#checked.has(part.name)) this.#check(part.name, at, through);
  }

  #check(name: string, at: number, through: readonly string[]): void {
    const entity = this.#known(this.#generals.get(name), `&${name};`, at);
    checkDepth(through, name, at, `&${name};`);
    if (typeof entity === 'string')
      throw new Mistake(at, `expected an entity whose text is in the template, got &${name};`);
    if (entity !== undefined)
      try {
        this.checkAttribute(entity.value, 0, [...through, name]);
      } catch (error) {
        throw error instanceof Mistake ? new Mistake(at, `in &${name};: ${error.message}`) : error;
      }
    this.#checked.add(name);
  }

  #known(entity: Entity | undefined, written: string, at: number): Entity | undefined {
    if (entity !== undefined || this.#mayBeElsewhere) return entity;
    throw new Mistake(at, `expected an entity that was declared earlier, got ${written}`);
  }
}

/** Checks the well-formedness constraint "No Recursion" and the maximum depth. Errors: `Mistake`. */
export function checkDepth(through: readonly string[], name: string, at: number, written: string): void {
  if (through.includes(name)) throw new Mistake(at, `expected no entity that refers to itself, got ${written}`);
  if (through.length >= maxDepth)
    throw new Mistake(at, `expected entities to be nested at most ${maxDepth} levels deep, got ${written}`);
}

// Parses the references in the values of entities and attributes (XML 1.0, section 4.1) and replaces them (section 4.4)

/** A part of a value: text, a character from a numeric reference, or a reference to an entity. */
type Part =
  | { readonly kind: 'text' | 'character'; readonly text: string }
  | { readonly kind: 'entity'; readonly text: string; readonly name: string };

/** A reference [66], [68]: a decimal or hexadecimal number, or the name of an entity. */
const reference = new RegExp(`&(?:#(\\d+)|#x([\\da-fA-F]+)|(${simpleName}));`, 'uy');

/**
 * Splits the value of an entity [9] or an attribute [10] into parts. `at` is the offset of the value, which mistakes refer to. The value of
 * an entity must not contain `%`, because references to parameter entities are valid there only in external subsets.
 */
function readReferences(value: string, at: number, what: 'entity' | 'attribute'): Part[] {
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
      throw new Mistake(at + found, 'expected a reference such as &amp; or &#38;, got "&" (write &amp;)');
    start = found + text.length;
    if (name !== undefined) parts.push({ kind: 'entity', text, name });
    else parts.push({ kind: 'character', text: characterOf(text, decimal, hexadecimal, at + found) });
  }
}

const mistakes = {
  '<': 'expected no "<" in the value of an attribute: write &lt;',
  '%': 'expected no "%" in the value of an entity: write &#37;',
};

/** Returns the replacement text of an entity (section 4.5), in which numeric references are replaced and references to entities remain. */
function entityValue(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('');
}

/** Matches a character that XML does not allow, that is, a character other than Char [2]. */
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** Returns the character for a numeric reference. Errors: `Mistake` if the character violates the constraint Legal Character. */
function characterOf(text: string, decimal: string | undefined, hexadecimal: string | undefined, at: number): string {
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number.parseInt(decimal, 10);
  const isCharacter = code <= 0x10ffff && !forbidden.test(String.fromCodePoint(code));
  if (!isCharacter) throw new Mistake(at, `expected a character that XML allows, got ${text}`);
  return String.fromCodePoint(code);
}
