// Mistakes in rules and their steps.

import { inRules, inSteps } from './mistake.ts';

export const ruleMistakes = [
  ...inRules([
    ['form', "{ ¦form: 'desk/mic', to: 'desk/lamp' }", 'unknown setting "form", did you mean "from"?'],
    [
      'value beside names',
      "{ from: { a: 'desk/mic', b: 'desk/lamp' }, map: '¦value || b', to: 'desk/lamp' }",
      'unknown name "value", the names are a, b',
      'cannot',
    ],
    [
      'a condition that is a number',
      "{ from: 'desk/level', when: '¦value', to: 'desk/out' }",
      'as in value > 0',
      'cannot',
    ],
    [
      'an unknown connection',
      "{ ¦from: 'dsk/mic', to: 'desk/lamp' }",
      'unknown connection "dsk", did you mean "desk"?',
      'cannot',
    ],
    [
      'an unknown parameter',
      "{ from: 'desk/mic', ¦to: 'desk/lmap' }",
      'unknown parameter "desk/lmap", did you mean "desk/lamp"?',
      'cannot',
    ],
    [
      'an unknown parameter in a list',
      "{ from: 'desk/mic', to: ['desk/lamp', ¦'desk/lmap'] }",
      'did you mean "desk/lamp"?',
      'cannot',
    ],
    [
      'an address without a slash',
      "{ ¦from: 'mic', to: 'desk/lamp' }",
      'expected <Connection ID>/<Parameter ID>, got "mic"',
    ],
    [
      'an address with a dot',
      "{ ¦from: 'desk.mic', to: 'desk/lamp' }",
      'expected <Connection ID>/<Parameter ID>, got "desk.mic"',
    ],
    ['an address with capitals', "{ ¦from: 'Desk/mic', to: 'desk/lamp' }", ['a-z, 0-9 and -', '"Desk"']],
    ['an address that ends with a slash', "{ ¦from: 'desk/', to: 'desk/lamp' }", 'segments between / are not empty'],
    ['a read-only destination', "{ from: 'desk/go', ¦to: 'clock/pulse/1' }", '"clock/pulse/1" is read-only', 'cannot'],
    ['no destination', "¦{ from: 'desk/mic' }", 'to: expected an address'],
    [
      'a mistake in the expression of a destination',
      "{ from: 'desk/level', to: { 'desk/out': 'value * 2', 'desk/count': '¦rond(value)' } }",
      ['to["desk/count"]: unknown function rond(…), did you mean round(number)?'],
    ],
    [
      'an unknown destination with an expression',
      "{ from: 'desk/level', to: { ¦'desk/uot': 'value * 2' } }",
      'unknown parameter "desk/uot", did you mean "desk/out"?',
      'cannot',
    ],
    [
      'a destination whose expression is a number',
      "{ from: 'desk/level', ¦to: { 'desk/out': 3 } }",
      "expected an address, a list of them, or { 'desk/a': 'value * 2', … }, got {",
    ],
    ['no destination in an object', "{ from: 'desk/level', ¦to: {} }", 'expected at least one address'],
    [
      'names in the expression of a destination behind map',
      "{ from: { a: 'desk/level' }, map: 'a', to: { 'desk/out': '¦a * 2' } }",
      'unknown name "a", the names are value',
      'cannot',
    ],
    [
      'names without map before steps',
      "¦{ from: { a: 'desk/level' }, pipe: [{ delay: 5 }], to: { 'desk/out': 'value' } }",
      'map: expected an expression over the names of from, got nothing',
    ],
    [
      'hear with another word',
      "{ from: 'desk/level', ¦hear: 'all', to: 'desk/out' }",
      'expected "changes" or "writes", got "all"',
    ],
    ['atStart as text', "{ from: 'desk/level', ¦atStart: 'yes', to: 'desk/out' }", 'expected true or false, got "yes"'],
    [
      'a misspelt atStart',
      "{ from: 'desk/level', ¦atstart: true, to: 'desk/out' }",
      'unknown setting "atstart", did you mean "atStart"?',
    ],
    [
      'a parameter that the hub does not have',
      "{ ¦from: 'hub/startet', to: 'desk/go' }",
      'unknown parameter "hub/startet", did you mean "hub/started"?',
      'cannot',
    ],
    ['a write to the hub', "{ from: 'desk/go', ¦to: 'hub/started' }", '"hub/started" is read-only', 'cannot'],
    ['an empty list of destinations', "{ from: 'desk/mic', ¦to: [] }", 'expected at least one address'],
    [
      'a misspelt setting',
      "{ from: 'desk/mic', ¦wehn: 'value', to: 'desk/lamp' }",
      'unknown setting "wehn", did you mean "when"?',
    ],
    [
      'a setting of another language',
      "{ from: 'desk/mic', ¦if: 'value', to: 'desk/lamp' }",
      'unknown setting "if", expected one of name',
    ],
    [
      'an expression that is a boolean',
      "{ from: 'desk/mic', ¦map: true, to: 'desk/lamp' }",
      ['expected an expression in text', 'got true (boolean)'],
    ],
    [
      'enabled as text',
      "{ from: 'desk/mic', ¦enabled: 'no', to: 'desk/lamp' }",
      'expected true or false, got "no" (string)',
    ],
    [
      'names without map',
      "¦{ from: { a: 'desk/mic' }, to: 'desk/lamp' }",
      'map: expected an expression over the names of from, got nothing',
    ],
    [
      'a name with a dash',
      "{ from: { ¦'mic-1': 'desk/mic' }, map: 'true', to: 'desk/lamp' }",
      'expected a name for expressions, such as a or mic1, got "mic-1"',
    ],
    [
      'require without names',
      "{ from: 'desk/mic', ¦require: 'any', to: 'desk/lamp' }",
      'expected only where from names its sources',
    ],
    [
      'require with another word',
      "{ from: { a: 'desk/mic' }, map: 'a', ¦require: 'some', to: 'desk/lamp' }",
      ['expected "all" or "any", got "some"'],
    ],
    [
      'a rule that is a text',
      "¦'desk/mic -> desk/lamp'",
      ['rules[0]: expected a rule such as', 'got "desk/mic -> desk/lamp"'],
    ],
    [
      'a folder without rules in a list',
      "{ folder: 'f', ¦rules: { from: 'desk/mic', to: 'desk/lamp' } }",
      'expected a list of rules and folders',
    ],
    ['a folder that is misspelt', "{ ¦foldr: 'f', rules: [] }", 'did you mean "folder"?'],
  ]),
  ...inSteps([
    ['debounce', '{ ¦debounce: 50 }', 'unknown step "debounce", did you mean "debounceTime"?'],
    ['throttle', '{ ¦throttle: 50 }', 'did you mean "throttleTime"?'],
    ['a step as a text', "¦'distinctUntilChanged'", 'did you mean { distinctUntilChanged: true }?'],
    ['a step as a text that needs a setting', "¦'debounceTime'", 'did you mean { debounceTime: 50 }?'],
    ['a step as a text that is misspelt', "¦'distinct'", 'did you mean { distinctUntilChanged: true }?'],
    ['two steps in one', '¦{ skip: 1, take: 2 }', 'expected one step in each { }: { skip: 1 }, { take: 2 }'],
    ['bounds the wrong way round', '{ ¦clamp: [100, 0] }', 'expected the lower bound first: [0,100]', 'cannot'],
    ['one bound', '{ ¦clamp: [100] }', 'expected a pair of numbers such as [0, 100]'],
    ['bounds by name', '{ ¦clamp: { min: 0, max: 100 } }', 'expected a pair of numbers such as [0, 100]'],
    ['a scale without to', '{ ¦scale: { from: [0, 1] } }', 'to: expected a pair of numbers'],
    ['a scale of nothing', '{ scale: { ¦from: [1, 1], to: [0, 100] } }', 'expected two different numbers', 'cannot'],
    [
      'a duration in words',
      "{ ¦delay: '5 seconds' }",
      'expected milliseconds or a duration such as \'1m30s\', got "5 seconds"',
    ],
    ['a negative duration', '{ ¦delay: -5 }', 'expected a duration of 0..'],
    ['distinctUntilChanged: false', '{ ¦distinctUntilChanged: false }', 'expected true, got false'],
    ['a count that is no whole number', '{ ¦take: 1.5 }', 'expected integer from 0, got 1.5'],
    ['a condition of a step that is a number', "{ filter: '¦value' }", 'as in value > 0', 'cannot'],
    ['scan without its settings', "{ ¦scan: 'sum + value' }", 'expected { seed: 0, expression: "sum + value" }'],
    ['a mistake in scan', "{ scan: { seed: 0, expression: '¦summ + value' } }", 'did you mean "sum"?', 'cannot'],
  ]),
  ...inRules([
    [
      'scale of a text',
      "{ from: 'desk/text', pipe: [{ ¦scale: { from: [0, 1], to: [0, 9] } }], to: 'desk/out' }",
      'expected numbers, got a text: put { map: "double(value)" } before it',
      'cannot',
    ],
    [
      'a pipe without a list',
      "{ from: 'desk/level', ¦pipe: { delay: 5 }, to: 'desk/out' }",
      'expected a list of steps',
    ],
  ]),
];
