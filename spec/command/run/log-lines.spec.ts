// Lines of the log: what clients send is in them as what it is, and cannot begin a line or speak to a terminal.

import { stripVTControlCharacters } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import { pino } from 'pino';
import { createLogFormat, type LogFormat } from '../../../lib/command/run/log-output.ts';
import { codePoint } from '../../support/any-text.ts';

/** What is written when this is logged. */
function lineOf(format: LogFormat, data: object, message: string): string {
  const print = createLogFormat(format);
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (entry: string) => void lines.push(print(entry)) });
  log.warn(data, message);
  return lines.join('');
}

const hostile = 'x\r\n[12:00:00.000] ERROR: forged\u001b[2J\u009b31m\u202e\u2028 "\\n"';

test('pretty escapes line breaks and control characters', (t) => {
  const line = stripVTControlCharacters(lineOf('pretty', { client: hostile, port: 7 }, hostile));
  const shown = 'x\\r\\n[12:00:00.000] ERROR: forged\\u001b[2J\\u009b31m\\u202e\\u2028 "\\n"';
  t.true(line.includes(`WARN: ${shown} {`), line);
  t.true(line.includes('"port":7}'));
  t.is(line.indexOf('\n'), line.length - 1);
});

test('pretty keeps the lines of a stack trace', (t) => {
  const lines = lineOf('pretty', { err: new Error('first\nsecond') }, 'it failed')
    .trimEnd()
    .split('\n');
  t.true(lines.some((line) => /^\s+at /.test(line)));
  t.false(lines.some((line) => /^\s*second/.test(line)));
});

test('json is one line with the same data', (t) => {
  const line = lineOf('json', { client: hostile }, hostile);
  t.like(JSON.parse(line), { client: hostile, msg: hostile });
  t.notRegex(line, /[\u0080-\u009f\u2028\u202e]/);
  t.is(line.indexOf('\n'), line.length - 1);
});

test('no text makes more than one line, or controls a terminal', (t) => {
  const text = fc.string({ unit: codePoint });
  fc.assert(
    fc.property(text, text, (message, value) => {
      for (const format of ['json', 'pretty'] as const) {
        const line = lineOf(format, { value }, message);
        const said = format === 'json' ? line : stripVTControlCharacters(line);
        if (!/^\P{Cc}*\n$/u.test(said)) return false;
        if (format === 'json' && !('level' in JSON.parse(line))) return false;
      }
      return true;
    }),
  );
  t.pass();
});
