// Any XML document with placeholders, and any values: fast-check arbitraries that know what a reader has to read.

import fc from 'fast-check';
import { codePoint } from '../any-text.ts';
import type { Reading } from './saxes.ts';

export interface TemplateCase {
  readonly text: string;
  /** What the declaration says; undefined: there is none. */
  readonly encoding: string | undefined;
  /** What any parser reads in the file that these values make of the template. */
  read(values: ReadonlyMap<string, string>): Reading;
}

/** A literal as it is written and as it is read, or a placeholder. */
type Part = { readonly raw: string } & ({ readonly read: string } | { readonly name: string });
type Content = { readonly raw: string; read(values: ReadonlyMap<string, string>): string };
type Node = { readonly raw: string; read(values: ReadonlyMap<string, string>): string[] };

const names = ['X', 'Y', 'Ton2', 'Künstler'];
const encodings = [undefined, 'UTF-8', 'utf-8', 'UTF-16', 'UTF-16LE', 'UTF-16BE', 'ISO-8859-1', 'US-ASCII'];
const troublemakers =
  ']]> ] > < & $X &#36; " \' \r \n \t \r\n \0 \x01 \x7f \x85 \u2028 \ud800 \udfff \ufffe \uffff <![CDATA[ --> é € 😀 a'.split(
    ' ',
  );

/** Any string at all: code units without sense, code points, and what hurts XML. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.constantFrom(...troublemakers), maxLength: 6 }),
  fc.string({ unit: codePoint, maxLength: 10 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
);

/** A value for some of the placeholders; the others are never set. */
export const anyValues: fc.Arbitrary<ReadonlyMap<string, string>> = fc
  .array(fc.tuple(fc.constantFrom(...names), anyText), { maxLength: 6 })
  .map((entries) => new Map(entries));

const shared = { a: 'a', '0': '0', ' ': ' ', ']': ']', é: 'é', '€': '€', '😀': '😀', '$ ': '$ ' };
const references = { '&amp;': '&', '&lt;': '<', '&#36;X': '$X', '&#13;': '\r', '&#x20AC;': '€' };
const lines = { '\n': '\n', '\r\n': '\n', '\t': '\t' };
const spaces = { '\n': ' ', '\r\n': ' ', '\t': ' ' };

const textContent = content({ ...shared, ...references, ...lines, '>': '>', '"': '"', "'": "'" });
const cdataContent = content({ ...shared, ...lines, '>': '>', '<': '<', '&': '&', '&#36;X': '&#36;X' });
const attributeTokens = { ...shared, ...references, ...spaces, '>': '>' };
const attribute = fc.oneof(
  content({ ...attributeTokens, "'": "'" }).map((value) => ({ ...value, raw: `"${value.raw}"` })),
  content({ ...attributeTokens, '"': '"' }).map((value) => ({ ...value, raw: `'${value.raw}'` })),
);
const silent: fc.Arbitrary<Node> = fc
  .constantFrom('<!-- $X -->', '<?page $X "?>', '<!--]]&gt; <a b="$Y"/> -->')
  .map((raw) => ({ raw, read: () => [] }));
const text: fc.Arbitrary<Node> = textContent.map(({ raw, read }) => ({ raw, read: (values) => [`"${read(values)}`] }));
const cdata: fc.Arbitrary<Node> = cdataContent.map(({ raw, read }) => ({
  raw: `<![CDATA[${raw}]]>`,
  read: (values) => [`"${read(values)}`],
}));

const { element } = fc.letrec<{ element: Node }>((tie) => ({
  element: fc
    .tuple(
      fc.constantFrom('a', 'b-c', 'n:e'),
      fc.dictionary(fc.constantFrom('k', 'n:k', 'long.name'), attribute, { maxKeys: 3 }),
      fc.array(fc.oneof({ maxDepth: 3 }, text, cdata, silent, tie('element')), { maxLength: 5 }),
    )
    .map(([name, attributes, children]) => createElement(name, attributes, withoutNeighbours(children))),
}));

export const anyTemplate: fc.Arbitrary<TemplateCase> = fc
  .record({
    encoding: fc.constantFrom(...encodings),
    hasMark: fc.boolean(),
    prolog: fc.array(
      fc.oneof(
        silent.map(({ raw }) => raw),
        fc.constantFrom('\n', '\r\n'),
      ),
      { maxLength: 3 },
    ),
    doctype: fc.constantFrom('', '<!DOCTYPE root>', '<!DOCTYPE root SYSTEM "$X.dtd">\n'),
    root: element,
  })
  .map(({ encoding, hasMark, prolog, doctype, root }) => {
    const isUnicode = encoding === undefined || /^utf-(8|16)$/i.test(encoding);
    const mark = hasMark && isUnicode ? '\ufeff' : '';
    const declaration = encoding === undefined ? '' : `<?xml version="1.0" encoding="${encoding}"?>`;
    return {
      text: `${mark}${declaration}${prolog.join('')}${doctype}<root xmlns:n="urn:$X">${root.raw}</root>`,
      encoding,
      read: (values) => ['root', '@xmlns:n=urn:$X', ...joinTexts(root.read(values)), '/root'],
    };
  });

/** Any pieces of XML in any order; few of these texts are XML. */
export const anySoup: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      ...[
        '$X',
        '$Y',
        '$',
        ']',
        '>',
        ']]>',
        '<![CDATA[',
        '<!--',
        '--',
        '-->',
        '<?p ',
        '?>',
        '&amp;',
        '&',
        ';',
        'x',
        ' ',
      ],
      ...[
        '<b a="',
        '"/>',
        '"',
        "'",
        "<b a='",
        "'/>",
        '<c>',
        '</c>',
        '<c',
        ' d="',
        'xmlns="urn:$X"',
        '<c/>',
        '\r',
        '&#36;',
      ],
    ),
    { maxLength: 9 },
  )
  .map((pieces) => `<r>${pieces.join('')}</r>`);

function createElement(name: string, attributes: Record<string, Content>, children: readonly Node[]): Node {
  const written = Object.entries(attributes).map(([key, { raw }]) => ` ${key}=${raw}`);
  return {
    raw: `<${name}${written.join('')}>${children.map(({ raw }) => raw).join('')}</${name}>`,
    read: (values) => [
      name,
      ...Object.entries(attributes).map(([key, { read }]) => `@${key}=${read(values)}`),
      ...children.flatMap(({ read }) => read(values)),
      `/${name}`,
    ],
  };
}

/** Literals and placeholders in any order; a literal never makes a name longer or ends a `]]>`. */
function content(tokens: Readonly<Record<string, string>>): fc.Arbitrary<Content> {
  const part: fc.Arbitrary<Part> = fc.oneof(
    fc.constantFrom(...Object.entries(tokens)).map(([raw, read]) => ({ raw, read })),
    fc.constantFrom(...names).map((name) => ({ raw: `$${name}`, name })),
    fc.constantFrom(']', '>').map((raw) => ({ raw, read: raw })), // for the many ways to make ]]>
  );
  return fc.array(part, { maxLength: 8 }).map((drawn) => {
    const parts: Part[] = [];
    let raw = '';
    for (const next of drawn) {
      const last = parts.at(-1);
      const isLonger = last !== undefined && 'name' in last && /^[\p{L}\p{M}\p{Nd}]/u.test(next.raw);
      if (isLonger || (raw + next.raw).endsWith(']]>')) continue;
      parts.push(next);
      raw += next.raw;
    }
    const readPart = (each: Part, values: ReadonlyMap<string, string>) =>
      'name' in each ? asRead(values.get(each.name) ?? '') : each.read;
    return { raw, read: (values) => parts.map((each) => readPart(each, values)).join('') };
  });
}

/** Two texts side by side would be one, and could make a longer name or `]]>` of their ends. */
function withoutNeighbours(children: readonly Node[]): Node[] {
  return children.filter((child, index) => index === 0 || isMarkup(child) || isMarkup(children[index - 1]!));
}

function isMarkup({ raw }: Node): boolean {
  return raw.startsWith('<');
}

/** A value as every parser of XML 1.0 may read it. */
function asRead(value: string): string {
  return [...value].map((character) => (isAllowed(character.codePointAt(0)!) ? character : '\ufffd')).join('');
}

function isAllowed(point: number): boolean {
  if (point < 0x20) return point === 9 || point === 10 || point === 13;
  return point < 0xd800 || (point > 0xdfff && point < 0xfffe) || point > 0xffff;
}

function joinTexts(items: readonly string[]): string[] {
  const joined: string[] = [];
  for (const item of items) {
    if (!item.startsWith('"')) joined.push(item);
    else if (joined.at(-1)?.startsWith('"')) joined[joined.length - 1] += item.slice(1);
    else joined.push(item);
  }
  return joined.filter((item) => item !== '"');
}
