import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { sourceOfBytes, sourceOfText } from '../../../lib/connections/xml-file-output/encoding.ts';
import { fillTemplate, maxFileLength, parseTemplate } from '../../../lib/connections/xml-file-output/xml-template.ts';
import { createFolder } from '../../support/folder.ts';
import { anySoup, anyTemplate, anyText, anyValues } from '../../support/xml/any-document.ts';
import { type Reading, readXml } from '../../support/xml/saxes.ts';
import { readByXmllint } from '../../support/xml/xmllint.ts';

const parse = (text: string) => parseTemplate(sourceOfText('template', text));
const fill = (text: string, values: Record<string, string>) =>
  fillTemplate(parse(text), new Map(Object.entries(values)));

/** Files written one by one, to be read by xmllint in one call. */
async function createBatch(t: ExecutionContext) {
  const folder = await createFolder(t);
  const readings: Reading[] = [];
  const paths: string[] = [];
  return {
    add(bytes: Uint8Array, reading: Reading) {
      const path = join(folder, `${paths.length}.xml`);
      writeFileSync(path, bytes);
      paths.push(path);
      readings.push(reading);
    },
    paths,
    readings,
  };
}

test('D-23, law: any template and any values make a file that saxes and libxml2 read as the same values', async (t) => {
  const batch = await createBatch(t);
  fc.assert(
    fc.property(anyTemplate, anyValues, ({ text, read }, values) => {
      const template = parse(text);
      const bytes = template.encoding.encode(fillTemplate(template, values));
      const expected = read(values);
      t.deepEqual(readXml(template.encoding.decode(Buffer.from(bytes))), expected);
      batch.add(bytes, expected);
    }),
    { numRuns: 300 },
  );
  t.deepEqual(readByXmllint(batch.paths), batch.readings);
});

test('law: files of any accepted template can be parsed', async (t) => {
  const batch = await createBatch(t);
  fc.assert(
    fc.property(anySoup, anyText, anyText, (text, x, y) => {
      let template: ReturnType<typeof parse>;
      try {
        template = parse(text);
      } catch {
        return;
      }
      const filled = fillTemplate(template, new Map(Object.entries({ X: x, Y: y })));
      batch.add(Buffer.from(filled), readXml(filled));
    }),
    { numRuns: 1500 },
  );
  t.true(batch.paths.length > 30, `only ${batch.paths.length} of 1500 are XML`);
  t.deepEqual(readByXmllint(batch.paths), batch.readings);
});

test('law: filled with its own placeholders, a template stays unchanged, to the byte', (t) => {
  fc.assert(
    fc.property(anyTemplate, ({ text, encoding }) => {
      fc.pre(encoding === undefined || encoding.toUpperCase().startsWith('UTF'));
      const template = parse(text);
      const bytes = template.encoding.encode(sourceOfText('', text).text);
      const own = new Map(template.names.map((name) => [name, `$${name}`]));
      t.deepEqual(template.encoding.encode(fillTemplate(template, own)), bytes);
      const fromBytes = parseTemplate(sourceOfBytes('file', Buffer.from(bytes)));
      t.deepEqual(fromBytes.encoding.encode(fillTemplate(fromBytes, own)), bytes);
    }),
  );
});

test('placeholders count in text, CDATA and attribute values, each name once, in order', (t) => {
  t.deepEqual(
    parse(
      '<!DOCTYPE a SYSTEM "$No"><a xmlns="$No" xmlns:n="$No" b="$B1" n:c=\'$C\'><!-- $No --><?p $No?>$D$Künstler<![CDATA[$E]]>$D</a>',
    ).names,
    ['B1', 'C', 'D', 'Künstler', 'E'],
  );
  t.deepEqual(parse('<a>$ $$A $-b &#36;No $_ $B_c</a>').names, ['A', 'B']);
  t.deepEqual(parse('<a/>').names, []);
});

const rows: [title: string, template: string, values: Record<string, string>, file: string][] = [
  ['never set is empty (D-09)', '<a b="$X">$Y</a>', {}, '<a b=""></a>'],
  ['&#36; stays a dollar (D-09)', '<a>&#36;X $X</a>', { X: '1' }, '<a>&#36;X 1</a>'],
  ['a value is no template', '<a>$X</a>', { X: '$X $Y' }, '<a>$X $Y</a>'],
  ['text', '<a>$X</a>', { X: '<b> & "\'\r\n\t' }, '<a>&lt;b&gt; &amp; "\'&#13;\n\t</a>'],
  ['double quotes', '<a b="$X"/>', { X: '<"\'&\r\n\t>' }, '<a b="&lt;&quot;\'&amp;&#13;&#10;&#9;&gt;"/>'],
  ['single quotes', "<a b='$X'/>", { X: '"\'' }, "<a b='\"&#39;'/>"],
  ['CDATA', '<a><![CDATA[$X]]></a>', { X: '<b>&amp;' }, '<a><![CDATA[<b>&amp;]]></a>'],
  ['CDATA end in a value', '<a><![CDATA[$X]]></a>', { X: 'a]]>b' }, '<a><![CDATA[a]]]]><![CDATA[>b]]></a>'],
  ['CDATA end of two halves', '<a><![CDATA[]$X>]]></a>', { X: ']' }, '<a><![CDATA[]]]]><![CDATA[>]]></a>'],
  ['CDATA left whole', '<a><![CDATA[<i k=$X>]]></a>', { X: '1' }, '<a><![CDATA[<i k=1>]]></a>'],
  ['carriage return in CDATA', '<a><![CDATA[$X]]></a>', { X: '\r' }, '<a><![CDATA[]]>&#13;<![CDATA[]]></a>'],
  ['text end of two halves', '<a>]$X]$Y></a>', {}, '<a>]]&gt;</a>'],
  ['forbidden characters', '<a>$X</a>', { X: '\0\ud800\uffff\x7f' }, '<a>\ufffd\ufffd\ufffd\x7f</a>'],
  ['white space as written', "\n<a\tb = '$X'\r\n>\r\n</a >\n", { X: '1' }, "\n<a\tb = '1'\r\n>\r\n</a >\n"],
];
for (const [title, template, values, file] of rows) test(title, (t) => t.is(fill(template, values), file));

test('characters outside an encoding are written as references, in CDATA next to the section', (t) => {
  const template = parse('<?xml version="1.0" encoding="ISO-8859-1"?><a b="€$X"><![CDATA[€$X]]></a>');
  t.is(
    Buffer.from(template.encoding.encode(fillTemplate(template, new Map([['X', 'é😀']])))).toString('latin1'),
    '<?xml version="1.0" encoding="ISO-8859-1"?><a b="&#8364;é&#128512;"><![CDATA[]]>&#8364;<![CDATA[é]]>&#128512;<![CDATA[]]></a>',
  );
});

const mistakes: [template: string, message: RegExp][] = [
  ['', /^template:1:0: document must contain a root element/],
  ['<a>\n  <b></a>', /^template:2:9: unexpected close tag/],
  ['<a>$X', /^template:1:5: unclosed tag: a/],
  ['$X<a/>', /^template:1:3: text data outside of root node/],
  ['<a $X="1"/>', /^template:1:4: disallowed character in attribute name/],
  ['<a>\n\n   <b>x &nbsp;</b></a>', /^template:3:14: unknown entity &nbsp;; XML defines only &amp; &lt; &gt; &quot; /],
  ['<a>&amp;&auml;&amp;</a>', /^template:1:14: unknown entity &auml;; .* and references by number \(&#160;\)$/],
  ['<a b="&constructor;"/>', /^template:1:19: unknown entity &constructor;/],
  ['<!DOCTYPE a [<!ENTITY x "y">]>\n<a>&x;</a>', /^template:2:6: entity &x; is declared, but some XML readers ignore/],
  ['<!DOCTYPE a [\r\n<!ELEMENT ½ ANY>]><a/>', /^template:2:11: expected a name, got "½ ANY/],
  [
    '<!-- 😀 --><?p <!DOCTYPE ?><!DOCTYPE a [<!ELEMENT b>]><a/>',
    /^template:1:51: expected white space, got ">\]><a\/>"/,
  ],
  ['<!DOCTYPE a>\n<!DOCTYPE a><a/>', /^template:2:9: inappropriately located doctype/],
  ['<a><n:b/></a>', /^template:1:9: unbound namespace prefix: "n"/],
  ['<a>\ud800</a>', /expected Unicode text, got a lone surrogate/],
  ['<?xml version="1.1"?><a/>', /^template:1:21: expected XML of version 1.0, got "1.1"/],
  [`<a>$${'x'.repeat(256)}</a>`, /^template:1:\d+: expected a Parameter ID of at most 255 characters/],
  ['<?xml version="1.0" encoding="KOI8-R"?><a/>', /^template: expected one of the encodings UTF-8, .*, got "KOI8-R"/],
  ['<?xml version="1.0" encoding="US-ASCII"?>\n<ä/>', /^template:2:4: expected markup in US-ASCII, .*"ä"/],
];
for (const [template, message] of mistakes)
  test(`mistake: ${JSON.stringify(template).slice(0, 60)}`, (t) => {
    t.like(
      t.throws(() => parse(template)),
      { code: 'cannot-start' },
    );
    t.throws(() => parse(template), { message });
  });

test('UTF-16 without a declared byte order begins with the mark, as XML demands', (t) => {
  const start = (encoding: string) => {
    const template = parse(`<?xml version="1.0" encoding="${encoding}"?><a/>`);
    return Buffer.from(template.encoding.encode(fillTemplate(template, new Map())))
      .subarray(0, 4)
      .toString('hex');
  };
  t.is(start('UTF-16'), 'fffe3c00');
  t.is(start('UTF-16LE'), '3c003f00');
  t.is(start('UTF-16BE'), '003c003f');
});

test('the bytes of a template file have to match its declaration', (t) => {
  const of = (bytes: Buffer) => sourceOfBytes('file', bytes).encoding.name;
  const declaring = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><a>é</a>`;
  t.is(of(Buffer.from('<a>é</a>')), 'UTF-8');
  t.is(of(Buffer.from(declaring('iso-8859-1'), 'latin1')), 'ISO-8859-1');
  t.is(of(Buffer.from(`\ufeff${declaring('utf-16')}`, 'utf16le').swap16()), 'UTF-16BE');
  t.is(of(Buffer.from(declaring('UTF-16LE'), 'utf16le')), 'UTF-16LE');
  for (const [bytes, declared] of [
    [Buffer.from('<a>é</a>', 'latin1'), 'UTF-8'],
    [Buffer.from(declaring('UTF-16')), 'UTF-16'],
    [Buffer.from(declaring('US-ASCII')), 'US-ASCII'],
    [Buffer.from(declaring('UTF-8'), 'utf16le'), 'UTF-8'],
    [Buffer.from(`\ufeff${declaring('ISO-8859-1')}`), 'ISO-8859-1'],
  ] as const)
    t.throws(() => of(bytes), { message: `file: expected a file encoded in ${declared}, got another encoding` });
});

test('a file never exceeds its limit', (t) => {
  const text = `<a>${'$X'.repeat(64)}</a>`;
  t.throws(() => fill(text, { X: 'x'.repeat(maxFileLength / 64) }), { message: /^expected a file of at most 2097152/ });
  t.is(fill(text, { X: 'x'.repeat(maxFileLength / 64 - 1) }).length, maxFileLength - 64 + '<a></a>'.length);
});
