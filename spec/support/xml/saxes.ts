// A reader of XML that knows nothing of ours: saxes.

import { SaxesParser } from 'saxes';

/** Everything that a reader of a document is told: `['a', '@b=1', 'text of a', '/a']`. */
export type Reading = readonly string[];

/** Reads a document as a namespace-aware parser does. Errors: any, when it does not parse. */
export function readXml(text: string): Reading {
  const reading: string[] = [];
  let content = '';
  let depth = 0;
  const add = (item: string) => {
    if (content !== '') reading.push(`"${content}`);
    content = '';
    reading.push(item);
  };
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    add(name);
    depth++;
    for (const [attribute, { value }] of Object.entries(attributes)) add(`@${attribute}=${value}`);
  });
  parser.on('closetag', ({ name }) => {
    add(`/${name}`);
    depth--;
  });
  const addContent = (text: string) => {
    if (depth > 0) content += text;
  };
  parser.on('text', addContent);
  parser.on('cdata', addContent);
  parser.write(text).close();
  return reading;
}
