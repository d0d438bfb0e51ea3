// Document type declarations: the grammar of XML 1.0, whose productions the rows are in the order of, and its constraints.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { maxParameterText, readDoctype } from '../../../lib/connections/xml-file-output/doctype/doctype.ts';
import { Mistake, maxDepth } from '../../../lib/connections/xml-file-output/doctype/doctype-declarations.ts';
import { createFolder } from '../../support/folder.ts';
import { refusedByXmllint } from '../../support/xml/xmllint.ts';

const read = (text: string, isStandalone = false) => readDoctype(text, 0, isStandalone);

const right = [
  '<!DOCTYPE a>',
  '<!DOCTYPE a:b []>',
  '<!DOCTYPE a SYSTEM "b>">',
  '<!DOCTYPE\n a PUBLIC \'-//b\' "" [ ] >',
  '<!DOCTYPE a [<!--]>\'--> <?p ]>"?><?p?>]>',
  '<!DOCTYPE a [<!ELEMENT a EMPTY><!ELEMENT b ANY><!ELEMENT c (#PCDATA)><!ELEMENT d (#PCDATA)*>]>',
  '<!DOCTYPE a [<!ELEMENT a ( #PCDATA | b|c )*><!ELEMENT d (b)><!ELEMENT e (b?,(c|d*)+,( e ))* >]>',
  '<!DOCTYPE a [<!ATTLIST a><!ATTLIST a b CDATA #REQUIRED c:d (1|-x) "1" e NOTATION ( n | m ) #IMPLIED >]>',
  "<!DOCTYPE a [<!ATTLIST a b ID #IMPLIED c IDREFS #IMPLIED d NMTOKENS #FIXED '&lt;&#60; > % '>]>",
  '<!DOCTYPE a [<!ENTITY b "<c>&undeclared;"><!ENTITY % d SYSTEM "e"><!ENTITY f PUBLIC "g" "h" NDATA i >]>',
  '<!DOCTYPE a [<!NOTATION b PUBLIC "c"><!NOTATION d PUBLIC "e" "f"><!NOTATION g SYSTEM "h" >]>',
  '<!DOCTYPE a [<!ENTITY b "x&#38;lt;"><!ATTLIST a c CDATA "&b;">]>',
  '<!DOCTYPE a [<!ENTITY % b "<!ELEMENT a ANY>"> %b; %b;]>',
  '<!DOCTYPE a [<!ENTITY % b "&#37;c;"><!ENTITY % c "<!ENTITY d \'e\'>"> %b; <!ATTLIST a f CDATA "&d;">]>',
  '<!DOCTYPE a [<!ENTITY % c SYSTEM "c"> %c; %d; <!ATTLIST a b CDATA "&perhaps;">]>',
  '<!DOCTYPE a SYSTEM "b" [<!ATTLIST a b CDATA "&perhaps;">]>',
];
for (const doctype of right) test(`reads ${doctype}`, (t) => t.is(read(`${doctype} ]>`).end, doctype.length));

/** Each subset is wrong where its `¦` stands. */
const wrong: readonly (readonly [subset: string, message: string])[] = [
  ['¦x', 'expected a declaration or "]", got "x]>" (string)'],
  ['<!ELEMENT¦S a>', 'expected white space, got "S a>]>" (string)'],
  ['<!--a¦--->', 'expected "-->", got "--->]>" (string)'],
  ['<?¦XML ?>', 'expected no XML declaration here, got "XML"'],
  ['<?¦p:q ?>', 'expected a name without a colon, got "p:q ?>]>" (string)'],
  ['<?p¦<?>', 'expected white space, got "<?>]>" (string)'],
  ['<!ELEMENT a¦>', 'expected white space, got ">]>" (string)'],
  ['<!ELEMENT ¦a:b:c ANY>', 'expected a name, got "a:b:c ANY>]>" (string)'],
  ['<!ELEMENT a ¦any>', 'expected EMPTY, ANY or "(", got "any>]>" (string)'],
  ['<!ELEMENT a (#PCDATA|b)¦>', 'expected "*", got ">]>" (string)'],
  ['<!ELEMENT a (#PCDATA¦,b)*>', 'expected ")", got ",b)*>]>" (string)'],
  ['<!ELEMENT a (¦)>', 'expected "(" or a name, got ")>]>" (string)'],
  ['<!ELEMENT a (b,c¦|d)>', 'expected ")" or ",", got "|d)>]>" (string)'],
  ['<!ELEMENT a (b ¦?)>', 'expected ")" or "|" or ",", got "?)>]>" (string)'],
  ['<!ATTLIST a b CDATA #IMPLIED¦c CDATA #IMPLIED>', 'expected white space or ">", got "c CDATA #IMP" (string)'],
  ['<!ATTLIST a b ¦STRING #IMPLIED>', 'expected the type of an attribute, got "STRING #IMPL" (string)'],
  ['<!ATTLIST a b (c¦,d) #IMPLIED>', 'expected ")", got ",d) #IMPLIED" (string)'],
  [
    '<!ATTLIST a b CDATA ¦IMPLIED>',
    'expected #REQUIRED, #IMPLIED, #FIXED or text in quotes, got "IMPLIED>]>" (string)',
  ],
  ['<!ATTLIST a b CDATA "x¦<">', 'expected no "<" in the value of an attribute: write &lt;'],
  ['<!ATTLIST a b CDATA "x¦& ">', 'expected a reference such as &amp; or &#38;, got "&" (write &amp;)'],
  ['<!ATTLIST a b CDATA "¦&#8;">', 'expected a character that XML allows, got &#8;'],
  ['<!ATTLIST a b CDATA "¦&c;">', 'expected an entity that was declared earlier, got &c;'],
  ['<!ENTITY c SYSTEM "d"><!ATTLIST a b CDATA "¦&c;">', 'expected an entity whose text is in the template, got &c;'],
  [
    '<!ENTITY c "&#60;"><!ATTLIST a b CDATA "¦&c;">',
    'in &c;: expected no "<" in the value of an attribute: write &lt;',
  ],
  [
    '<!ENTITY c "&d;"><!ENTITY d "&c;"><!ATTLIST a b CDATA "¦&c;">',
    'in &c;: in &d;: expected no entity that refers to itself, got &c;',
  ],
  ['<!ENTITY b "100 ¦%">', 'expected no "%" in the value of an entity: write &#37;'],
  ['<!ENTITY b "¦%c;">', 'expected no "%" in the value of an entity: write &#37;'],
  ['<!ENTITY b "¦&#xD800;">', 'expected a character that XML allows, got &#xD800;'],
  ['<!ENTITY b ¦c>', 'expected text in quotes, SYSTEM or PUBLIC, got "c>]>" (string)'],
  ['<!ENTITY ¦b:c "">', 'expected a name without a colon, got "b:c \\"\\">]>" (string)'],
  ['<!ENTITY % b SYSTEM "c" ¦NDATA d>', 'expected ">", got "NDATA d>]>" (string)'],
  ['<!ENTITY b PUBLIC "c"¦>', 'expected white space, got ">]>" (string)'],
  ['<!ENTITY b PUBLIC ¦"{" "">', 'expected a public identifier in quotes, got "\\"{\\" \\"\\">]>" (string)'],
  ['<!NOTATION b ¦"c">', 'expected SYSTEM or PUBLIC, got "\\"c\\">]>" (string)'],
  ['<!ELEMENT ¦%b; ANY>', 'expected a name, got "%b; ANY>]>" (string)'],
  ['¦<![INCLUDE[]]>', 'expected a declaration or "]", got "<![INCLUDE[]" (string)'],
  ['¦%b; <!ENTITY % b "">', 'expected an entity that was declared earlier, got %b;'],
  [
    '<!ENTITY % d "">%d;<!ATTLIST a b CDATA "¦&c;"><!ENTITY c "">',
    'expected an entity that was declared earlier, got &c;',
  ],
  ['<!ENTITY % b "<!ELEMENT a">\n ¦%b;', 'in %b;: expected white space, got the end of the text'],
  ['<!ENTITY % b "&#37;b;">¦%b;', 'in %b;: expected no entity that refers to itself, got %b;'],
];
for (const [subset, message] of wrong)
  test(`refuses [${subset}]`, (t) => {
    const before = '<!DOCTYPE a [';
    const error = t.throws(() => read(`${before}${subset.replace('¦', '')}]>`), { instanceOf: Mistake, message });
    t.is(error?.at, before.length + subset.indexOf('¦'));
  });

test('in a standalone document nothing is declared elsewhere', (t) => {
  for (const subset of ['%b;', '%c; <!ATTLIST a b CDATA "&b;">', '<!ATTLIST a b CDATA "&b;">']) {
    const text = `<!DOCTYPE a SYSTEM "x" [<!ENTITY % c SYSTEM "c">${subset}]>`;
    t.notThrows(() => read(text));
    t.throws(() => read(text, true), { message: /^expected an entity that was declared earlier, got [%&]b;$/ });
  }
});

test('unlimited growth or nesting is refused immediately', (t) => {
  const chain = (length: number, sign: string, first: string) => {
    const declare = (name: string, value: string) => `<!ENTITY ${sign === '%' ? '% ' : ''}${name} "${value}">`;
    const links = Array.from({ length }, (_, link) =>
      declare(`e${link + 1}`, `&#${sign.charCodeAt(0)};e${link};`.repeat(10)),
    );
    return [declare('e0', first), ...links].join('');
  };
  const bomb = `<!DOCTYPE a [${chain(15, '%', ' '.repeat(100))} %e15;]>`;
  t.throws(() => read(bomb), {
    message: new RegExp(`expected parameter entities of at most ${maxParameterText} char`),
  });
  t.notThrows(() => read(`<!DOCTYPE a [${chain(15, '&', '')} <!ATTLIST a b CDATA "&e15;">]>`));
  for (const [sign, use] of [
    ['%', '%e99;'],
    ['&', '<!ATTLIST a b CDATA "&e99;">'],
  ] as const) {
    const deep = `<!DOCTYPE a [${chain(99, sign, '')} ${use}]>`;
    t.throws(() => read(deep), {
      message: new RegExp(`expected entities to be nested at most ${maxDepth} levels deep`),
    });
  }
  const groups = '('.repeat(100_000);
  t.notThrows(() => read(`<!DOCTYPE a [<!ELEMENT a ${groups}b${groups.replaceAll('(', ')')}>]>`));
});

/** libxml2 forgets what an entity that it does not read may declare, and fails by itself when one is referred to twice. */
const isBeyondLibxml2 = (doctype: string) =>
  doctype.split('%c;').length > 2 || (/SYSTEM|PUBLIC/.test(doctype) && doctype.includes('%c;'));

test('law: libxml2 accepts every accepted declaration', async (t) => {
  const folder = await createFolder(t);
  const pieces = [
    ...[
      '<!ELEMENT a ',
      '<!ATTLIST a ',
      '<!ENTITY b ',
      '<!ENTITY % c ',
      '<!NOTATION d ',
      '>',
      '>',
      '>',
      '<!--',
      '-->',
      '<?p ',
      '?>',
    ],
    ...[
      '(',
      ')',
      '(b|c)',
      '(b,c?)*',
      '|',
      ',',
      '*',
      '#PCDATA',
      'ANY',
      'EMPTY',
      'e CDATA ',
      'f (g|h) ',
      '#IMPLIED',
      '#FIXED ',
    ],
    ...[
      'SYSTEM ',
      'PUBLIC ',
      'NDATA d',
      '"x"',
      "'&b;'",
      '"&#38;b;"',
      '"<!ELEMENT b ANY>"',
      ' ',
      ' ',
      '%c;',
      '&b;',
      '"',
      '-',
      ']',
      'i',
    ],
  ];
  const whole = fc.constantFrom(
    ...[
      '<!ELEMENT a (b|c)>',
      '<!ATTLIST a e CDATA "&b;">',
      '<!ENTITY b "x">',
      '<!ENTITY b "&#60;">',
      '<!NOTATION d SYSTEM "">',
    ],
    ...['<!ENTITY % c "<!-- -->">', '<!ENTITY % c SYSTEM "c">', '%c; ', '<?p?>', '<!--x-->'],
  );
  const any = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((drawn) => drawn.join(''));
  const paths: string[] = [];
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ arbitrary: any, weight: 1 }, { arbitrary: whole, weight: 3 }), { maxLength: 4 }),
      (drawn) => {
        const doctype = `<!DOCTYPE a [${drawn.join('')}]>`;
        try {
          if (read(doctype).end < doctype.length || isBeyondLibxml2(doctype)) return;
        } catch {
          return;
        }
        paths.push(join(folder, `${paths.length}.xml`));
        writeFileSync(paths.at(-1)!, `${doctype}<a/>`);
      },
    ),
    { numRuns: 2000 },
  );
  t.true(paths.length > 200, `only ${paths.length} of 2000 are XML`);
  t.deepEqual(
    [...refusedByXmllint(paths)].map((path) => readFileSync(path, 'utf8')),
    [],
  );
});
