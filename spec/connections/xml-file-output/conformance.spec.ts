// Must show: no document of the W3C's suite that is not well-formed is taken for a template, and all others are, but for
// what templates cannot have. libxml2 judges what stands in other files, which neither it nor the hub reads here.

import test from 'ava';
import { sourceOfBytes } from '../../../lib/connections/xml-file-output/encoding.ts';
import { parseTemplate } from '../../../lib/connections/xml-file-output/xml-template.ts';
import { messageOf } from '../../../lib/model/error.ts';
import { type TestDocument, testDocuments } from '../../support/xml/conformance.ts';
import { refusedByXmllint } from '../../support/xml/xmllint.ts';

const documents = [...testDocuments()].filter(({ editions }) => editions === '' || editions.includes('5'));

/** Why a document is refused; undefined: it is accepted. */
function mistakeOf({ bytes }: TestDocument): string | undefined {
  try {
    parseTemplate(sourceOfBytes('document', bytes));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

test('a document that is not well-formed is refused, unless the mistake is in another file', (t) => {
  const wrong = documents.filter(({ type }) => type === 'not-wf');
  const accepted = wrong.filter((document) => mistakeOf(document) === undefined).map(({ path }) => path);
  t.log(`${wrong.length} documents, of which ${accepted.length} are wrong in another file`);
  t.true(wrong.length > 1100);
  t.true(accepted.length < 60);
  t.deepEqual([...refusedByXmllint(accepted)], []);
});

/** What templates cannot have, as they are told. */
const reasons = [
  /expected XML of version 1.0, got/,
  /entity &.*; is declared, but|unknown entity &/,
  /expected one of the encodings/,
  /unbound namespace prefix/, // by Namespaces in XML it is not well-formed
];

test('a well-formed document is accepted, unless it has content that templates must not have', (t) => {
  const right = documents
    .filter(({ type }) => type === 'valid' || type === 'invalid')
    .filter(({ recommendation, hasNamespaces }) => !recommendation.includes('1.1') && hasNamespaces);
  const mistakes = right.flatMap((document) => mistakeOf(document) ?? []);
  t.log(
    `${right.length} documents of XML 1.0 with namespaces, of which ${mistakes.length} have what templates cannot have`,
  );
  t.true(right.length > 900);
  t.deepEqual(
    mistakes.filter((mistake) => !reasons.some((reason) => reason.test(mistake))),
    [],
  );
});
