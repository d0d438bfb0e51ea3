// Reads the markup declarations of an internal subset (XML 1.0 sections 3.2, 3.3, 4.2 and 4.7). They have to be well-formed;
// whether they are valid does not matter. Numbers in brackets are those of the productions.

import type { Entities } from './entities.ts';
import { entityValue, readReferences } from './references.ts';
import { type Scanner, tokens } from './scanner.ts';

const wholeTypes = ['CDATA', 'IDREFS', 'IDREF', 'ID', 'ENTITIES', 'ENTITY', 'NMTOKENS', 'NMTOKEN'] as const;

/** [45] `<!ELEMENT` was read. */
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

/** [51] `(#PCDATA` was read. */
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

/** [47] to [50]: `(` was read. Each open group keeps the separator that it began with. */
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

/** [52] `<!ATTLIST` was read. */
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

/** [54] to [59] */
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

/** [60] */
function readDefault(scanner: Scanner, entities: Entities): void {
  if (scanner.skipOne(['#REQUIRED', '#IMPLIED']) !== undefined) return;
  if (scanner.skip('#FIXED')) scanner.expect(tokens.space);
  const start = scanner.at;
  const literal = scanner.take(tokens.literal) ?? scanner.fail('#REQUIRED, #IMPLIED, #FIXED or a text in quotes');
  entities.checkAttribute(literal.slice(1, -1), start + 1);
}

/** [70] to [76]: `<!ENTITY` was read. */
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
    if (!readExternalId(scanner)) scanner.fail('a text in quotes, SYSTEM or PUBLIC');
    const isUnparsed = !isParameter && readNotationOfData(scanner);
    entities.declare(isParameter, name, isUnparsed ? 'unparsed' : 'external');
  }
  endDeclaration(scanner);
}

/** [76] */
function readNotationOfData(scanner: Scanner): boolean {
  if (!scanner.space() || !scanner.skip('NDATA')) return false;
  scanner.expect(tokens.space);
  scanner.expect(tokens.simpleName);
  return true;
}

/** [82] `<!NOTATION` was read. */
export function readNotation(scanner: Scanner): void {
  scanner.expect(tokens.space);
  scanner.expect(tokens.simpleName);
  scanner.expect(tokens.space);
  if (!readExternalId(scanner, true)) scanner.fail('SYSTEM or PUBLIC');
  endDeclaration(scanner);
}

/** [75], or [83] for a notation, where the system identifier may be left out. Returns whether there is one. */
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
