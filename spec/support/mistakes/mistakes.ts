// A hundred mistakes, as rule authors make them.

import { expressionMistakes } from './expression-mistakes.ts';
import { inConnections, inCores, inFiles, inTests } from './mistake.ts';
import { ruleMistakes } from './rule-mistakes.ts';
import { templateMistakes } from './template-mistakes.ts';

export const mistakes = [
  ...expressionMistakes,
  ...templateMistakes,
  ...ruleMistakes,
  ...inConnections([
    ['enabled as text', "x: { type: 'dummy', ¦enabled: 'true' },", 'expected true or false, got "true" (string)'],
    [
      'an alarm whose condition is an expression',
      "x: { type: 'alarms', alarms: { low: { ¦when: 'desk/level < 0.01', delay: '10s' } } },",
      [
        'got the expression "desk/level < 0.01": when names a parameter that is true or false',
        "Let a virtual-core compute it, outputs: { low: { type: 'B', expression: '…' } }, and name its output: when: 'core/low'",
      ],
      'cannot',
    ],
    [
      'an input of a Virtual Core that is an expression',
      "x: { type: 'virtual-core', inputs: { ¦a: '!desk/mic' }, outputs: { on: { type: 'B', expression: 'a' } } },",
      'inputs are addresses only; the expression of an output computes with their names',
    ],
    ['timers without a list', "x: { type: 'timer', ¦timers: 1000 },", 'expected list, got 1000 (number)'],
    ['an unknown type', "x: { ¦type: 'tmier' },", 'unknown connection type "tmier", did you mean "timer"?'],
    ['no type', "¦x: { parameters: ['a'] },", 'type: expected one of'],
    ['a Connection ID with capitals', "¦Desk2: { type: 'dummy' },", ['a-z, 0-9 and -', 'got "Desk2"']],
    ['a Connection ID with a space', "¦'my desk': { type: 'dummy' },", 'got "my desk"'],
    [
      'a connection that is called hub',
      "¦hub: { type: 'dummy' },",
      'connections.hub: expected a different Connection ID: "hub" is reserved for the hub itself, with its trigger hub/started',
    ],
    [
      'a parameter that is called as statusParameter would have it',
      "x: { type: 'dummy', parameters: ['_status/connected'], ¦statusParameter: true },",
      'expected a connection without a parameter _status/connected, which statusParameter adds',
      'cannot',
    ],
    ['a connection twice', "¦desk: { type: 'dummy' },", 'expected "desk" once, got several', 'cannot'],
    [
      'a misspelt setting of a connection',
      "x: { type: 'timer', ¦timer: [5] },",
      'unknown setting "timer", did you mean "timers"?',
    ],
    [
      'a Dummy line of an unknown type',
      "x: { type: 'dummy', parameters: [¦'level,Float'] },",
      'expected a value type S, B, I, F or T, got "Float"',
    ],
    [
      'a Dummy line with a default that is no number',
      "x: { type: 'dummy', parameters: [¦'level,F,loud'] },",
      'expected a number, got "loud"',
    ],
    [
      'a Dummy line of a trigger with a default',
      "x: { type: 'dummy', parameters: [¦'go,T,1'] },",
      'expected no default value for a trigger',
    ],
    ['a Dummy line without an ID', "x: { type: 'dummy', parameters: [¦',B'] },", 'expected a Parameter ID'],
    ['Dummy lines as an object', "x: { type: 'dummy', ¦parameters: { mic: 'B' } },", 'expected lines <Parameter ID>'],
    [
      'a parameter twice',
      "x: { type: 'dummy', parameters: ['a', ¦'a'] },",
      'expected each Parameter ID once, got "a" twice',
      'cannot',
    ],
    ['a port as text', "x: { type: 'rest-api', ¦port: '80' },", 'expected an integer 0..65535, got "80" (string)'],
    ['a port out of range', "x: { type: 'rest-api', ¦port: 70000 },", 'expected an integer 0..65535, got 70000'],
    [
      'two connections on one port',
      "x: { type: 'rest-api', port: 8090 },\n    ¦y: { type: 'rest-api', port: 8090 },",
      'expected exclusive use of port 8090, but "x" also uses it',
      'cannot',
    ],
    ['a timer in text', "x: { type: 'timer', timers: [¦'5 s'] },", ['timers[0]: expected', '(ms)']],
    ['pulses as numbers', "x: { type: 'timer', pulses: [¦500] },", 'pulses[0]: expected { interval: 500 }'],
    [
      'an XML file without a template',
      "¦x: { type: 'xml-file-output', filename: 'a.xml' },",
      'expected exactly one of `template` and `templateFile`',
    ],
    ['a password that is too short to be one', "x: { type: 'rest-api', ¦password: 1234 },", 'expected text, got ***'],
  ]),
  ...inCores([
    ['an unknown value type', "lamp: { ¦type: 'Bool', expression: 'mic' }", 'expected S, B, I, F or T, got "Bool"'],
    ['an output without a type', "¦lamp: { expression: 'mic' }", 'type: expected S, B, I, F or T'],
    ['an unknown block', "lamp: { ¦block: 'TOFF', in: 'mic', pt: 5 }", 'unknown block "TOFF", did you mean "TOF"?'],
    [
      'an unknown name in an expression',
      "lamp: { type: 'B', expression: '¦mik' }",
      'unknown name "mik", did you mean "mic"?',
      'cannot',
    ],
    ['and in an expression', "lamp: { type: 'B', expression: 'mic ¦and level > 1' }", 'expected &&, got and'],
    [
      'param in an expression',
      "lamp: { type: 'B', expression: \"¦param('desk/mic')\" }",
      'add the address to inputs',
      'cannot',
    ],
    [
      'an unknown argument',
      "lamp: { block: 'TON', ¦input: 'mic', in: 'mic', pt: 5 }",
      'unknown setting "input", expected one of block, in, pt',
    ],
    [
      'a duration of a block in words',
      "lamp: { block: 'TON', in: 'mic', ¦pt: 'later' }",
      'unknown name "later"',
      'cannot',
    ],
    [
      'a cycle',
      "¦a: { type: 'B', expression: '!b' }, b: { type: 'B', expression: '!a' }",
      'expected no cycle, got a → b → a',
      'cannot',
    ],
  ]),
  ...inTests([
    ['a list of what is set', "{ ¦set: ['desk/mic'] }", 'expected an object of values by address'],
    [
      'an unknown address in a test',
      "{ set: { ¦'desk/mik': true } }, { expect: { 'desk/lamp': true } }",
      'did you mean "desk/mic"?',
      'cannot',
    ],
    ['a value that does not fit', "{ expect: { ¦'desk/level': 'loud' } }", 'expected a number, got "loud"', 'cannot'],
    [
      'a misspelt setting of a step',
      "{ ¦expct: { 'desk/lamp': true } }, { expect: { 'desk/lamp': true } }",
      'unknown setting "expct", did you mean "expect"?',
    ],
    [
      'a time that runs backwards',
      "{ at: '5s', expect: { 'desk/lamp': null } }, { ¦at: '3s', expect: { 'desk/lamp': null } }",
      'expected a time of at least 5000 ms',
      'cannot',
    ],
    ['a time in words', "{ ¦at: 'soon', expect: { 'desk/lamp': null } }", "such as '1m30s'"],
    ['never without during', "¦{ never: { 'desk/lamp': true } }", 'expected `during` and `never` together'],
  ]),
  ...inFiles([
    [
      'a comma that is missing',
      "{\n  connections: {\n    desk: { type: 'dummy' }\n    ¦clock: { type: 'timer' },\n  },\n}",
      'expected a comma before clock',
    ],
    [
      'a comma that is missing in a list',
      "{ connections: { desk: { type: 'dummy', parameters: ['a' ¦'b'] } } }",
      "expected a comma before 'b'",
    ],
    [
      'an entry of a list that is not closed',
      "{ rules: [\n  { from: 'desk/a', to: 'desk/b'\n  ¦{ from: 'desk/b', to: 'desk/a' },\n] }",
      'expected } before {, to close the { in line 2',
    ],
    [
      'the last entry of a list that is not closed',
      "{ rules: [\n  { from: 'desk/a', to: 'desk/b'\n¦] }",
      'expected } to close {, got ]: the { is in line 2',
    ],
    [
      'text whose closing quote is missing before other text',
      "{ rules: [{ from: 'desk/a', when: 'value > 0.5, to: '¦desk/b' }] }",
      'is a quote missing earlier in this line?',
    ],
    ['a comma too many', "{ connections: { desk: { type: 'dummy' },¦, } }", 'expected one comma, got two'],
    ['a brace that is not closed', "{\n  connections: ¦{\n    desk: { type: 'dummy' },\n}\n", 'expected } to close {'],
    ['the wrong bracket', "{ rules: [ { from: 'desk/a', to: 'desk/b' ¦] }", 'expected } to close {, got ]'],
    ['text without an end', "{\n  connections: {\n    desk: { type: ¦'dummy },\n  },\n}\n", 'expected a closing'],
    [
      'an address as a key without quotes',
      "{ tests: [{ name: 'it', steps: [{ set: { ¦desk/a: true } }] }] }",
      "expected quotes around a key with /: 'desk/a'",
    ],
    [
      'a dash in a key without quotes',
      "{ connections: { ¦on-air: { type: 'dummy' } } }",
      "expected quotes around a key with -: 'on-air'",
    ],
    ['True', "{ connections: { desk: { type: 'dummy', enabled: ¦True } } }", 'did you mean true?'],
    ['yes', "{ connections: { desk: { type: 'dummy', enabled: ¦yes } } }", "text needs quotes: 'yes'"],
    ['text without quotes', '{ connections: { desk: { type: ¦dummy } } }', "text needs quotes: 'dummy'"],
    [
      'quotes of a word processor in a file',
      '{ connections: { desk: { type: ¦“dummy” } } }',
      'expected the quotes \' or ", got “',
    ],
    [
      '= instead of :',
      "{ connections: { desk ¦= { type: 'dummy' } } }",
      'expected : between a key and its value, got =',
    ],
    ['a comment with #', '{\n  ¦# the desk\n  connections: {},\n}', 'expected // before a comment, got #'],
    ['a comment without an end', '{ connections: {}, // ours\n¦/* not ready\n}', 'expected */ to close a comment'],
    ['two files in one', '{ connections: {} }\n¦{ rules: [] }', 'expected the end of the file'],
    ['an empty file', '¦', 'expected { … }, got an empty file'],
    ['a list as the file', '¦[]', 'expected an object such as { connections: { … }, rules: [ … ] }, got [] (array)'],
    ['a misspelt section', '{ ¦rule: [] }', 'unknown setting "rule", did you mean "rules"?'],
    ['rules as an object', "{ ¦rules: { a: { from: 'a/b', to: 'a/c' } } }", 'expected a list of rules and folders'],
    [
      'connections as a list',
      "{ ¦connections: [{ type: 'dummy' }] }",
      'expected an object of connections by Connection ID',
    ],
  ]),
];
