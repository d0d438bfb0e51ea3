// Texts, values and JSON that commonly break programs, and mutations of them. Texts that stand for bytes have one character per byte
// (latin1).

import type { Random } from '../../support/random.ts';

/** Addresses of the fuzzed hub, and such as look like some. */
const addresses = [
  ...['desk/text', 'desk/flag', 'desk/count', 'desk/level', 'desk/go', 'desk/a/b/c', 'desk/größe', 'desk/x%20y z'],
  ...['clock/timer/1/start', 'clock/timer/1/trigger', 'clock/pulse/1', 'onair/Title', 'onair/OnAir', 'keys/output/a'],
  ...[
    'keys/input/ctrl-f1',
    'core/lit',
    'core/lit/elapsed',
    'core/share',
    'core/up',
    'core/up/count',
    'loop/a',
    'loop/b',
  ],
  ...[
    'desk/nothing',
    'nobody/text',
    'desk',
    'desk/',
    '/desk/text',
    'desk//text',
    '__proto__/x',
    'constructor',
    '',
    '/',
    '..',
  ],
];

const oddTexts = [
  ...['', ' ', '0', '-0', '1', '-1', '0.5', '1e3', '1e999', '-1e-999', 'NaN', 'Infinity', '0x10', '1_000', '٣', '１'],
  ...[
    '9007199254740993',
    '-9007199254740993',
    '2147483648',
    '4294967296',
    '99999999999999999999999',
    '1.7976931348623157e309',
  ],
  ...[
    'true',
    'false',
    'TRUE',
    'null',
    'undefined',
    '{}',
    '[]',
    '"',
    "'",
    '\\',
    '%',
    '%00',
    '%2e%2e',
    '%ff',
    '%u0041',
    '&=',
    '+',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '\u0000',
    'a\u0000b',
    '\r\n',
    '\n',
    '\t',
    '\u001b[31m',
    '\u009b',
  ],
  ...['\ud800', '\udc00', 'a\ud83d', '😀', '\ufeff', '\ufffe', '\u2028', '\u202e', 'ǅ', 'ß', 'İ', 'e\u0301'],
  ...[
    '../../etc/passwd',
    '..\\',
    '/',
    '//',
    './.',
    'C:\\',
    'file:///etc',
    '$Title',
    '$1',
    '<a>',
    ']]>',
    '&#0;',
    '<!--',
  ],
  ...[
    '.*',
    '(',
    '[',
    '(?i)(.*){1,200}~',
    '(a+)+$',
    '\\',
    '^desk/',
    '**',
    '*',
    '**/**',
    '***',
    'desk/**',
    '{',
    '(?',
    '[[:alpha:]]',
  ],
  ...['\\p{L}', '(?P<n>a)', '(?<=a)', '\\1', 'a{1001}', 'x*'.repeat(50), '['.repeat(200), '*/'.repeat(100)],
];

const oddNumbers = [
  ...[
    0,
    -0,
    1,
    -1,
    0.5,
    1e3,
    -1e-7,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    -(2 ** 53),
    1e21,
    1e308,
    5e-324,
    255,
    65_536,
  ],
];

const numberTexts = [
  '1e999',
  '-1e999',
  '1E400',
  '-0',
  '0.1e-400',
  `1${'0'.repeat(400)}`,
  `0.${'1'.repeat(400)}`,
  '01',
  '+1',
  '.5',
  '5.',
];

export function anAddress(random: Random): string {
  return random.once(20) ? aText(random) : random.pick(addresses);
}

/** Texts: one that is odd, some of them together, a long one, or any characters. */
export function aText(random: Random): string {
  switch (random.below(8)) {
    case 0:
      return `${random.pick(oddTexts)}${random.pick(oddTexts)}`;
    case 1:
      return String.fromCharCode(...random.list(12, () => random.below(random.once(4) ? 65_536 : 256)));
    case 2:
      return random.once(20)
        ? random.pick(oddTexts).repeat(random.below(3000)).slice(0, 70_000)
        : random.pick(oddTexts).repeat(3);
    case 3:
      return random.pick(addresses);
    default:
      return random.pick(oddTexts);
  }
}

/** Any value of JSON, seldom deep. */
export function aValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 5 : 8)) {
    case 0:
      return random.pick([null, true, false]);
    case 1:
    case 2:
      return random.pick(oddNumbers);
    case 5:
      return random.list(4, () => aValue(random, depth + 1));
    case 6:
      return Object.fromEntries(random.list(4, () => [aText(random), aValue(random, depth + 1)]));
    default:
      return aText(random);
  }
}

/** An object as JSON, now and then with a part that is odd as JSON only, and now and then broken. */
export function toJson(random: Random, data: unknown): string {
  let text = JSON.stringify(data) ?? 'undefined';
  if (random.once(30)) text = replaceOne(random, text, /-?\d+(\.\d+)?/g, random.pick(numberTexts));
  if (random.once(30)) text = replaceOne(random, text, /"[^"]*"|\d+|null|true|false/g, deepJson(random));
  if (random.once(40)) text = text.replace('{', `{${text.slice(1, 20)},`);
  if (random.once(40)) text = replaceOne(random, text, /"/g, random.pick(['"\\ud800', '"\\u0000', '"\\x', '\\"', "'"]));
  return random.once(12) ? mutate(random, text) : text;
}

/** JSON that is nested deep, some of it up to what a message may have; some of it has no end. */
export function deepJson(random: Random): string {
  const depth = random.pick([10, 100, 1000, 3000, 5000, 7000, 9000, 12_000, 20_000, 31_000]);
  const isList = random.once(2);
  const inner = random.pick(['', '1', '"x"', '{}']);
  const [open, close] = isList ? ['[', ']'] : [`{"${random.pick(['a', 'p', 'set', 'v'])}":`, '}'];
  const levels = Math.min(depth, Math.floor(60_000 / (open!.length + 1)));
  const end = random.once(4) ? '' : close!.repeat(levels);
  return `${open!.repeat(levels)}${isList || inner !== '' ? inner : '0'}${end}`;
}

/** Bytes with some of them changed, removed, duplicated or inserted. */
export function mutate(random: Random, text: string): string {
  let mutated = text;
  for (let count = 1 + random.below(3); count > 0; count--) {
    const from = random.below(mutated.length + 1);
    const to = Math.min(mutated.length, from + random.below(random.once(3) ? 20 : 3));
    const some = random.pick([
      '',
      String.fromCharCode(random.below(256)),
      mutated.slice(from, to).repeat(2),
      random.pick([
        '\u0000',
        '\r\n',
        '\r\n\r\n',
        ' ',
        '%',
        '"',
        '}',
        ']',
        '\u00ff',
        '\u00c0\u0080',
        '\u00ed\u00a0\u0080',
      ]),
    ]);
    mutated = mutated.slice(0, from) + some + mutated.slice(to);
  }
  return random.once(6) ? mutated.slice(0, random.below(mutated.length + 1)) : mutated;
}

/** The UTF-8 of text, a character per byte. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function replaceOne(random: Random, text: string, pattern: RegExp, by: string): string {
  const matches = [...text.matchAll(pattern)];
  if (matches.length === 0) return text;
  const { index, 0: match } = random.pick(matches);
  return text.slice(0, index) + by + text.slice(index + match.length);
}
