// Conditions and expressions of rules (D-21).

import test from 'ava';
import fc from 'fast-check';
import {
  compileExpression,
  explainFailure,
  freeNames,
  isLanguageName,
  missingName,
} from '../../lib/expression/expression.ts';
import { expressionSchema } from '../../lib/expression/regex-pattern.ts';
import { localTime } from '../../lib/model/time/zone-time.ts';
import type { Value, ValueType } from '../../lib/model/value.ts';
import { bestOf, processorTimeOf } from '../support/system/machine.ts';

const variables: Record<string, ValueType> = { value: 'F', flag: 'B', text: 'S' };
const scope = { value: 3.5, flag: true, text: '5,6' };

const results: [string, Value][] = [
  ['value * 2', 7],
  ['2 * value', 7],
  ['value + 1', 4.5],
  ['7 / 2', 3.5],
  ['value % 2', 1.5],
  ['-value', -3.5],
  ['value == 3', false],
  ['value in [1, 2, 3.5]', true],
  ['value > 0.5 && flag', true],
  ['!flag', false],
  ['flag ? 1 : 0.5', 1],
  ['flag ? "on" : "off"', 'on'],
  ['30000', 30_000],
  ['text + "!"', '5,6!'],
  ['text.size()', 3],
  ['text.size() == 3', true],
  ['text.size() + 1', 4],
  ['text.substring(0, 1)', '5'],
  ['text.split(",")[1]', '6'],
  ['double(text.split(",")[1]) + 1', 7],
  ['string(value)', '3.5'],
  ['min(value, 2)', 2],
  ['max(1, value)', 3.5],
  ['round(value)', 4],
  ['floor(7 / 2)', 3],
  ['abs(-5)', 5],
  ['[1, 2].exists(x, x > 1)', true],
  ['value.round()', 4],
  ['[1, 2, 3][value > 3 ? 2 : 0]', 3],
  ['[4, 5].map(x, x * 2)[1] + 1', 11],
  ["{'a': 1}['a'] / 2", 0.5],
  ['int(value) / 2', 1.5],
  ['text.indexOf(",") / 2', 0.5],
  ['duration("1h") > duration("5m")', true],
  ['timestamp("2026-11-22T03:00:00.5+01:00").getHours()', 2],
  ['timestamp(0).getFullYear()', 1970],
  ['(duration("1s") + timestamp(0)).getSeconds()', 1],
  ['duration("1s") + timestamp(0) == timestamp(1)', true],
  ['timestamp(90) - timestamp(0) == duration("1m30s")', true],
  ['timestamp(90) - duration("1m") == timestamp(30)', true],
  ['duration("1.5h").getMinutes() + duration("-1m").getSeconds()', 30],
  ['string(duration("90.5s")) + string(timestamp("2026-11-22T03:00:00+01:00"))', '90.5s2026-11-22T02:00:00Z'],
  ['int(timestamp("1970-01-01T00:01:00.9Z"))', 60],
  ['timestamp("2026-11-22T03:00:00Z").getHours("-02:30")', 0],
  ['timestamp("0001-01-02T00:00:00Z").getFullYear("Europe/Berlin")', 1],
  ['timestamp("0099-06-01T00:00:00Z").getDayOfYear("Asia/Tokyo")', 151],
  ['.5 + .25', 0.75],
  ['value > .5 && [.5, 1.5][0] < 1', true],
  ['flag ? .5:.25', 0.5],
  ["'.5' + '1 .5'", '.51 .5'],
  ['[].all(e, e > 0)', true],
  ['[].exists(e, e == "a" || e < 1)', false],
  ['[].map(e, e * 2).size() + [].filter(e, e > 1).size()', 0],
  ['cel.bind(l, [], l.all(e, e >= 1))', true],
  ['{}.all(k, k > 0)', true],
  ['[[], [1]].exists(l, size(l) > 0)', true],
  ['(flag ? [] : [1]) == []', true],
  ['{1: 2, 3: 4}.all(k, k > 0)', true],
  ["{'constructor': 1, '__proto__': 2}['constructor']", 1],
  ["{'toString': 1}.size() == 1 && !('valueOf' in {'toString': 1})", true],
  ["'\uFFFD' < '😀'", true],
  ["'a' < 'b' && 'B' < 'a' && 'z' < 'ä' && 'ab' > 'a' && !('a' < 'a') && 'a' <= 'a'", true],
  ["['\uFFFD'].all(t, t < '😀' && '😀' >= t)", true],
  ["lowerAscii('ÆÄA') + upperAscii('æäa')", 'ÆÄaæäA'],
  ["'\u0085\u2003text\u00a0'.trim()", 'text'],
];

for (const [expression, expected] of results)
  test(`${expression} is ${expected}`, (t) => t.is(compileExpression(expression, variables).evaluate(scope), expected));

const refused: [expression: string, offset: number, message: RegExp][] = [
  ['value +', 6, /^expected a value after \+, got the end$/],
  ['1 + nope', 4, /^unknown name "nope", the names are value, flag, text; text needs quotes: 'nope'$/],
  [
    'desk/mic > 1',
    0,
    /^unknown name "desk": an expression here cannot read a parameter by its address \(desk\/mic\), the names are value, flag, text$/,
  ],
  ['text + 1', 7, /^text \+ number: use string\(1\)$/],
  ['!value', 0, /^expected a condition after !, got a number: compare it, as in value == 0$/],
  ['flag + 1', 0, /^true\/false \+ number: use \(flag \? 1 : 0\)$/],
  ['null', 0, /^expected text, a number or true\/false as the result, got null$/],
  ['[value]', 0, /got a list of numbers$/],
  [
    "value > 1 && timestamp('Studio 7').getHours() > 2",
    23,
    /^expected a point in time such as "2026-11-22T03:00:00Z", got "Studio 7"/,
  ],
  ["timestamp('2026-02-30T00:00:00Z').getHours()", 10, /^expected a point in time/],
  ["duration('Studio 7').getHours()", 9, /^expected a duration such as "1h30m" or "1.5s", got "Studio 7"/],
  ['.5 + .25 + nope', 11, /^unknown name "nope"/],
  [
    "{'a': 1, 2: 3}.size()",
    9,
    /^expected a single type for all items of a list or map, got a number among items of another type$/,
  ],
  ['value.all(x, x)', 0, /^expected a list to iterate over, got a number$/],
  ["has({'a': 1}.a)", 4, /^expected has\(map\.key\)/],
  ["['a'].length", 0, /^a list of texts has no \.length: use size\(\['a'\]\)$/],
  ['1 + [1].constructor', 4, /^a list of numbers has no \.constructor$/],
  ['timestamp(0).constructor', 0, /^a point in time has no \.constructor$/],
  ['cel.bind(t, timestamp(0), t.ms)', 26, /^a point in time has no \.ms$/],
  ["duration('1h').hours", 0, /^a duration has no \.hours$/],
  ['[].map(x, x.a)', 10, /^a value of unknown type has no \.a$/],
  ['1e999', 0, /^expected a number up to 1\.8e308, got 1e999$/],
  ["timestamp(0) < 'now'", 15, /^point in time < text: use timestamp\('now'\)$/],
  ['[]', 0, /got a list$/],
  ["'2026-11-22'.timestamp().getHours()", 0, /^expected a point in time/],
  ['x'.repeat(20_000), 0, /^expected an expression of at most 10000 characters, got 20000$/],
  [`${'-'.repeat(3000)}1`, 0, /^expected a shorter expression: at most 1000 names, values and operators$/],
  [`${'('.repeat(60)}1${')'.repeat(60)}`, 0, /^expected a shorter expression: at most 50 levels of brackets$/],
  [Array(2000).fill('1').join('+'), 0, /^expected a shorter expression: at most 1000 names, values and operators$/],
];

for (const [expression, offset, message] of refused)
  test(`${expression.slice(0, 20)} is refused at load`, (t) => {
    t.like(
      t.throws(() => compileExpression(expression, variables), { message }),
      { code: 'bad-flow', offset },
    );
  });

const functionResults: [string, Value][] = [
  ['min([3, 2, 4]) + max(1, 2, 3)', 5],
  ['clamp(12, 0, 10)', 10],
  ['round(-2.5)', -3],
  ['round(-2.5, 0)', -3],
  ['round(-0.4)', 0],
  ['string(round(-0.4))', '0'],
  ['fixed(-0.04, 1) + fixed(-2.5, 0)', '0.0-3'],
  ['round(1.005, 2)', 1.01],
  ['round(-1234, -2)', -1200],
  ['round(-1.005, 2)', -1.01],
  ['round(1795814225123, 4)', 1795814225123],
  ['round(123456789.12345679, 10)', 123456789.12345679],
  ['round(9007199254740991, 1)', 9007199254740991],
  ['round(1e-7, 7) + round(4e-8, 7)', 1e-7],
  ['fixed(1795814225.123, 6) + " " + fixed(9007199254740991, 2)', '1795814225.123000 9007199254740991.00'],
  ['sqrt(9) + pow(2, 3) + log10(100) + log(1) + exp(0)', 14],
  ['bitAnd(6, 3) + bitOr(4, 1) + bitXor(6, 3) + shiftLeft(1, 4) + shiftRight(256, 8)', 29],
  ['bitNot(0)', 4294967295],
  ['bit(5, 2) && !bit(5, 1)', true],
  ['double(flag) + int("7") + int(-1.5)', 7],
  ['bool("true") && bool(value)', true],
  ['pad(7, 2) + pad(-7, 2) + pad("a", 2)', '07-070a'],
  ['fixed(3.14, 1) + fixed(2, 2)', '3.12.00'],
  ['replace("a.b.c", ".", "$&")', 'a$&b$&c'],
  ['"a,b,c".split(",", 2)[1]', 'b,c'],
  ['join(["a", "b"]) + join(["a", "b"], "-")', 'aba-b'],
  ['" a ".trim().upperAscii() + "B".lowerAscii()', 'Ab'],
  ['"abc".startsWith("a") && "abc".endsWith("c") && "abc".contains("b") && "abc".matches("^a.c$")', true],
  ['"abcabc".lastIndexOf("b") + "abcabc".indexOf("b", 2)', 8],
  ['size("👍🏽👨‍👩‍👧🇩🇪é") + size([1, 2])', 6],
  ['"a👨‍👩‍👧b".substring(1, 2)', '👨‍👩‍👧'],
  ['"👍b".indexOf("b")', 1],
  // 2026-03-29 00:30 UTC: half an hour before the clocks of Berlin go from 2 to 3
  ["pad(hour('Europe/Berlin'), 2) + ':' + pad(minute(), 2) + ':' + pad(second('UTC'), 2)", '01:30:07'],
  ["date('America/New_York') + ' ' + string(weekday('America/New_York')) + string(weekday('UTC'))", '2026-03-28 67'],
  ['timestamp(now / 1000).getHours("Europe/Berlin") / 2', 0.5],
  ['timestamp("2026-03-29T00:30:07Z").getDayOfYear()', 87],
];

for (const [expression, expected] of functionResults)
  test(`function: ${expression} is ${expected}`, (t) => {
    const now = Date.UTC(2026, 2, 29, 0, 30, 7);
    const { evaluate } = compileExpression(expression, { ...variables, now: 'F' }, undefined, () => undefined);
    t.is(evaluate({ ...scope, now }), expected);
  });

test('the local time of a zone changes with its clocks, also by half an hour', (t) => {
  const hours = (zone: string, ...times: string[]) =>
    times.map((time) => localTime(Date.parse(time), zone).toISOString().slice(11, 16));
  t.deepEqual(hours('Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'), ['01:59', '03:00']);
  t.deepEqual(hours('America/New_York', '2026-11-01T05:59:59Z', '2026-11-01T06:00:00Z'), ['01:59', '01:00']);
  t.deepEqual(hours('Australia/Lord_Howe', '2026-04-04T14:59:59Z', '2026-04-04T15:00:00Z'), ['01:59', '01:30']);
});

const found = (expression: string, types: Record<string, ValueType> = { 'a/b': 'F', 'a/go': 'T' }) =>
  compileExpression(expression, variables, undefined, (address) => types[address]);

test('the runtime fills in the names of param and known, each once', (t) => {
  const { lookedUp, type } = found("param('a/b', 0) + param('a/b') + (known('a/b') ? 1 : 0)");
  t.deepEqual(
    lookedUp.map(({ address, asks }) => [address, asks]),
    [
      ['a/b', 'value'],
      ['a/b', 'known'],
    ],
  );
  t.is(type, 'F');
});

for (const [expression, known, expected] of [
  ["param('a/b', 7)", {}, 7],
  ["param('a/b', 7)", { value: 1, known: true }, 1],
  ["flag || param('a/b') > 1", {}, true],
  ["flag ? 3 : param('a/b')", {}, 3],
  ["!flag && param('a/b') > 1", {}, false],
] as const)
  test(`${expression} reads only what it needs: ${JSON.stringify(known)}`, (t) => {
    const { evaluate, lookedUp } = found(expression);
    const asked: Record<string, Value> = { known: false, ...known };
    const names = lookedUp.flatMap(({ name, asks }) => (asks in asked ? [[name, asked[asks]!]] : []));
    t.is(evaluate({ ...scope, ...Object.fromEntries(names) }), expected);
  });

test('an evaluation with a missing value names it', (t) => {
  const { evaluate, lookedUp } = found("flag && param('a/b') > 1");
  t.is(missingName(t.throws(() => evaluate(scope))), lookedUp[0]!.name);
});

test('an expression is compiled once, unless its variables differ or it looks something up', (t) => {
  const { evaluate } = compileExpression('value * 2 + 1', { value: 'F' });
  t.is(compileExpression('value * 2 + 1', { value: 'F' }).evaluate, evaluate);
  t.not(compileExpression('value * 2 + 1', { value: undefined }).evaluate, evaluate);
  t.throws(() => compileExpression('value * 2 + 1', { value: 'S' }));
  t.throws(() => compileExpression('value * 2 + 1', { value: 'F' }, 'B'));
  t.is(found("param('a/b')", { 'a/b': 'S' }).type, 'S');
  t.is(found("param('a/b')", { 'a/b': 'F' }).type, 'F');
});

test('expressions that differ only in addresses look up their own addresses, even if some are the same', (t) => {
  const ids = ['a', 'b', 'c'];
  const given: Record<string, number> = { a: 5, c: 7 }; // b is unknown
  for (const one of ids)
    for (const two of ids)
      for (const three of ids) {
        const text = `known('d/${one}') ? 1 : param('d/${two}', param('d/${three}', 2))`;
        const { evaluate, lookedUp } = compileExpression(text, {}, undefined, () => 'F');
        const scope: Record<string, Value> = {};
        for (const { name, address, asks } of lookedUp) {
          const value = given[address.slice(2)];
          if (asks === 'known') scope[name] = value !== undefined;
          else if (value !== undefined) scope[name] = value;
        }
        t.is(evaluate(scope), given[one] === undefined ? (given[two] ?? given[three] ?? 2) : 1, text);
      }
});

test('param refuses a trigger, which has no value', (t) => {
  t.like(
    t.throws(() => found("1 + param('a/go')"), { message: /"a\/go" is a trigger/ }),
    { offset: 11 },
  );
});

test('the pattern of the JSON Schema accepts every valid expression', (t) => {
  const isMarked = ({ pattern, not }: { pattern?: string; not?: { pattern: string } }, expression: string) =>
    (pattern !== undefined && !new RegExp(pattern, 'u').test(expression)) ||
    (not !== undefined && new RegExp(not.pattern, 'u').test(expression));
  const right = [...results, ...functionResults].map(([expression]) => expression);
  t.deepEqual(
    right.filter((expression) =>
      [expressionSchema, ...expressionSchema.allOf].some((one) => isMarked(one, expression)),
    ),
    [],
  );
});

test('a condition must be a boolean', (t) => {
  t.true(compileExpression('value > 1', variables, 'B').evaluate(scope));
  t.throws(() => compileExpression('value', variables, 'B'), { message: /expected true\/false/ });
});

test('a failure on a value of unknown type is explained in words', (t) => {
  const failure = (expression: string, x: Value) => {
    const { evaluate } = compileExpression(expression, { x: undefined });
    return (explainFailure(t.throws(() => evaluate({ x }))) as Error).message;
  };
  t.is(failure('x * 2', 'a'), 'expected values that * accepts, got text * number');
  t.is(failure('x < 2', 'a'), 'expected values that < accepts, got text < number');
  t.is(failure('!x', 'a'), 'expected a condition after !, got text');
  t.is(failure('x.round()', 'a'), 'expected arguments that round accepts, got round(text)');
  t.is(failure('x && true', 'a'), 'expected a condition, got text');
  t.is(failure("x < 'a' ? 1 : 2", 2), 'expected values that < accepts, got number < text');
  t.is(failure("{'a': 1}[x]", 'b'), 'expected a key of the map, got "b"');
});

test('a name of unknown type is checked at run time', (t) => {
  const { evaluate: double } = compileExpression('x * 2', { x: undefined });
  t.is(double({ x: 4 }), 8);
  t.throws(() => double({ x: 'a' }));
});

test('a result must fit the expected type', (t) => {
  for (const [expression, type, message] of [
    ['value', 'B', /^expected true\/false as the result, got a number/],
    ['value', 'T', /^expected true\/false as the result, got a number/],
    ['flag', 'F', /^expected a number as the result, got true\/false/],
    ['value', 'S', /^expected text as the result, got a number/],
  ] as const)
    t.throws(() => compileExpression(expression, variables, type), { message });
  t.is(compileExpression('size(text)', variables, 'I').evaluate(scope), 3);
});

for (const [expression, message] of [
  ["double('0x10')", /^double: expected a number as text, got "0x10"/],
  ["int('0b11')", /^int: expected a number as text, got "0b11"/],
  [
    "timestamp('Studio ' + '7').getHours()",
    /^timestamp: expected a point in time such as "2026-11-22T03:00:00Z", got "Studio 7" \(string\)$/,
  ],
  ['timestamp(1e15).getHours()', /^expected a time in the years 1 to 9999/],
  ["timestamp(0).getHours('-25:00')", /^expected a time zone such as Europe\/Berlin or \+02:00, got "-25:00"/],
  ["double('Infinity')", /^double: expected a number as text/],
  ["double('1e400')", /^double: expected a number as text/],
  ['shiftLeft(1, 32)', /^shiftLeft: expected an integer from 0 to 31, got 32/],
  ['shiftRight(1, -1)', /^shiftRight: expected an integer from 0 to 31, got -1/],
  ['bit(5, 32)', /^bit: expected an integer from 0 to 31, got 32/],
] as const)
  test(`${expression} is an error, since its result would be wrong`, (t) => {
    t.throws(() => compileExpression(expression, {}).evaluate({}), { message });
  });

const reads = test.macro((t, text: string, names: string[]) => t.deepEqual(freeNames(text), names));

test('names: each is listed once, in order', reads, 'b + a > b ? min(a, c) : -a', ['b', 'a', 'c']);
test('names: parts of texts and names of functions are not listed', reads, '"a b" + size(c)', ['c']);
test('names: the item of a list is not listed, its counterpart is', reads, '[a, 2.0].exists(x, x > level)', [
  'a',
  'level',
]);
test('names: a bound name is listed only outside its binding', reads, 'cel.bind(x, y * 2, x + x) + x', [
  'cel',
  'y',
  'x',
]);
test('names: methods are not listed', reads, 'text.substring(0, 2)', ['text']);

test('names of the language are known', (t) => {
  t.true(isLanguageName('double'));
  t.false(isLanguageName('mic1'));
});

test('bad syntax is an error', (t) => {
  t.throws(() => freeNames('a +'), { code: 'bad-flow', message: /expected a value after \+/ });
});

test('patterns and texts of clients are evaluated quickly; slow ones are errors', async (t) => {
  const { evaluate } = compileExpression('matches(text, pattern)', { text: 'S', pattern: 'S' });
  const slow = 'a'.repeat(65_536);
  const work = () => {
    t.false(evaluate({ text: `${slow.slice(0, 40)}!`, pattern: '^(a+)+$' }));
    t.true(evaluate({ text: slow, pattern: '^(a+)+$' }));
    for (let n = 0; n < 300; n++) t.true(evaluate({ text: `n${n}`, pattern: `^n${n}$` }));
    t.true(evaluate({ text: 'é', pattern: '\\u00e9' }));
    for (const [text, pattern, message] of [
      ['a', '(?=a)a', /invalid or unsupported/],
      ['a', '(?<x>a)\\k<x>', /invalid escape/],
      ['a', '(', /missing closing/],
      ['a', 'a'.repeat(1025), /regular expression of at most 1024 characters, got 1025/],
      ['a', '((a{100}){100}){100}', /of at most 1000 steps/],
      ['a', 'a{999}a{999}', /of at most 1000 steps/],
      [slow, '[ab]{900}', /text of at most \d+ characters for this regular expression, got 65536/],
    ] as const)
      t.throws(() => evaluate({ text, pattern }), { message });
  };
  t.true((await processorTimeOf(work)) < 5000);
  t.throws(() => compileExpression("value.matches('(?=a)')", { value: 'S' }), {
    message: /regular expression \(RE2\)/,
  });
});

test('an expression of the greatest length is compiled or refused within 300 ms, whatever it contains', async (t) => {
  const parts = ['-', '!', '- ', '(', '[', '{', '1+', '.5+', '1?', '"\\', "'''\\", 'r"', '[1].all(x, ', 'abs(', '// '];
  for (const part of parts) {
    const text = part.repeat(10_000 / part.length);
    for (const read of [() => compileExpression(`${text}1`.slice(-10_000), variables), () => freeNames(text)])
      t.true((await bestOf(300, () => processorTimeOf(() => t.throws(read)), 3)) < 300, part);
  }
});

test('a list with too many parts is an error: nested lists would take seconds', (t) => {
  const parts = "split(text, ',').all(one, split(text, ',').exists(other, one == other))";
  const { evaluate } = compileExpression(parts, { text: 'S' });
  t.true(evaluate({ text: 'a,b,c' }));
  t.throws(() => evaluate({ text: 'a,'.repeat(32_000) }), { message: /at most 1000 parts, got 32001$/ });
  const rest = compileExpression("size(split(text, ',', 2)[1])", { text: 'S' });
  t.is(rest.evaluate({ text: 'a,'.repeat(32_000) }), 63_998);
});

type Tree = number | 'a' | 'b' | readonly [op: string, left: Tree, right: Tree];
const { tree: trees } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('a' as const, 'b' as const),
    fc.integer({ min: 0, max: 9 }),
    fc.tuple(fc.constantFrom('+', '-', '*', '/', '%'), tie('tree'), tie('tree')),
  ),
}));
const textOf = (tree: Tree): string =>
  typeof tree === 'object' ? `(${textOf(tree[1])} ${tree[0]} ${textOf(tree[2])})` : String(tree);

test('arithmetic and comparisons of numbers are those of JavaScript, however they are nested', (t) => {
  const operator = { '+': 0, '-': 1, '*': 2, '/': 3, '%': 4 } as Record<string, number>;
  const numbers = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, 1e308, -1e308));
  const compute = (tree: Tree, scope: Record<string, number>): number => {
    if (typeof tree !== 'object') return typeof tree === 'number' ? tree : scope[tree]!;
    const [left, right] = [compute(tree[1], scope), compute(tree[2], scope)];
    return [left + right, left - right, left * right, left / right, left % right][operator[tree[0]]!]!;
  };
  const variables = { a: 'F', b: 'F' } as const;
  fc.assert(
    fc.property(trees, trees, numbers, numbers, (one, other, a, b) => {
      const [left, right] = [compute(one, { a, b }), compute(other, { a, b })];
      t.is(compileExpression(textOf(one), variables).evaluate({ a, b }), left);
      for (const [op, expected] of [
        ['<', left < right],
        ['<=', left <= right],
        ['>', left > right],
        ['>=', left >= right],
        ['==', left === right],
        ['!=', left !== right],
      ] as const) {
        const compared = `${textOf(one)} ${op} ${textOf(other)}`;
        t.is(compileExpression(compared, variables).evaluate({ a, b }), expected, compared);
        const combined = `!(${compared}) || a == 1 && -b < 2`;
        const isSo = !expected || (a === 1 && -b < 2);
        t.is(compileExpression(combined, variables).evaluate({ a, b }), isSo, combined);
      }
    }),
    { numRuns: 100 },
  );
});

for (const expression of ['a + 1', 'a * b - 1', '-a', 'a > 1 && b == 1', '!(a == b)', '1 - a'])
  test(`${expression} fails as before if a name has no value, or one of another type`, (t) => {
    const { evaluate } = compileExpression(expression, { a: 'F', b: 'F' });
    t.is(missingName(failureOf(() => evaluate({ b: 1 } as never))), 'a');
    t.regex(String(failureOf(() => evaluate({ a: 'x', b: 1 }))), /not of type 'double'/);
  });

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
