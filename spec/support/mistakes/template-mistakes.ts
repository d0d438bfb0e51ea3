// Mistakes in `each`, and in the variables of templates.

import { inConnections, inRules, type Made } from './mistake.ts';

/** Rules for both values of n. */
const inEach = (rule: string) => `{ each: { n: [1, 2] }, rules: [${rule}] }`;

export const templateMistakes: readonly Made[] = [
  ...inRules([
    [
      'a variable outside of a template',
      "{ from: 'desk/¦${X}', to: 'desk/lamp' }",
      ['expected no ${X} outside a template', "{ env: 'X' }", '$${X}'],
      'cannot',
    ],
    [
      'a misspelt variable',
      "{ each: { studio: [1, 2] }, rules: [{ from: 'desk/mic', map: 'value == ¦${stduio} || ${studio} > 1', to: 'desk/lamp' }] }",
      ['unknown variable "stduio", did you mean "studio"?', '(studio = 1, and 1 more)'],
      'cannot',
    ],
    [
      'a misspelt address in a template',
      inEach("{ from: 'desk/mic', ¦to: 'desk/out${n}' }"),
      ['unknown parameter "desk/out1", did you mean "desk/out"?', '(n = 1, and 1 more)'],
      'cannot',
    ],
    [
      'a mistake in an expression of a template, after a variable',
      inEach("{ from: 'desk/level', map: 'value * ${n} + ¦vlaue', to: 'desk/out' }"),
      ['did you mean "value"?', '(n = 1, and 1 more)'],
      'cannot',
    ],
    [
      'an unused variable',
      "{ each: { ¦m: [1, 2], n: [1] }, rules: [{ from: 'desk/mic', map: '${n} > 0', to: 'desk/lamp' }] }",
      'unused variable "m": nothing in this item uses ${m}',
      'cannot',
    ],
    [
      'each as a list',
      '{ ¦each: [1, 2], rules: [] }',
      'expected lists of values by variable, such as { n: [1, 2, 3] }',
    ],
    [
      'a variable without a list',
      "{ each: { ¦n: 3 }, rules: [{ from: 'desk/mic', map: '${n} > 0', to: 'desk/lamp' }] }",
      'expected a list of values',
    ],
    ['a variable without values', '{ each: { ¦n: [] }, rules: [] }', 'expected at least one value'],
    ['a variable whose name is none', "{ each: { ¦'n-1': [1] }, rules: [] }", 'expected the name of a variable'],
    [
      'an expression in a variable',
      inEach("{ from: 'desk/mic', map: '¦${n + 1} > 0 || ${n} > 0', to: 'desk/lamp' }"),
      ['expected the name of a variable in ${ }', 'got ${n + 1}'],
      'cannot',
    ],
    [
      'an unknown key of a variable',
      "{ each: { studio: [{ name: 'desk' }] }, rules: [{ from: '¦${studio.nmae}/mic', to: 'desk/lamp' }] }",
      'unknown variable "studio.nmae", did you mean "studio.name"?',
      'cannot',
    ],
    [
      'an object within text',
      "{ each: { studio: [{ name: 'desk' }] }, rules: [{ from: '¦${studio}/mic', to: 'desk/lamp' }] }",
      'expected text, a number, true or false in ${studio}',
      'cannot',
    ],
    [
      'too many items',
      "{ ¦each: { a: [A], b: [A], c: [A] }, rules: [{ from: 'desk/mic', map: '${a} + ${b} > ${c}', to: 'desk/lamp' }] }".replaceAll(
        'A',
        Array.from({ length: 50 }, (_, index) => index).join(),
      ),
      'expected at most 100,000 items from `each` and `instances` combined in one file',
      'cannot',
    ],
  ]),
  ...inConnections([
    [
      'each without a variable in the Connection ID',
      "¦other: { each: { n: [1, 2] }, type: 'dummy', parameters: ['a${n}'] },",
      "expected a variable in the Connection ID, such as 'other-${n}'",
      'cannot',
    ],
  ]),
];
