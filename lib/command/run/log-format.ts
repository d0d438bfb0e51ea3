// The lines of the log as they are written. What clients send may be in them, but it cannot begin a line or control a terminal.

import { createRequire } from 'node:module';
import { printableJson } from '../../model/printable.ts';

const require = createRequire(import.meta.url);

export const logFormats = ['pretty', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

/** An escape of JSON; the lines of a stack may stay lines. */
const escapes = /\\n(?= {4}at )|\\(u[\da-f]{4}|.)/gi;

/** Creates the function that formats an entry in JSON as a line of the log, with its line break. */
export function createLogFormat(format: LogFormat): (entry: string) => string {
  if (format === 'json') return printableJson; // JSON leaves some of what terminals obey as it is
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty'); // some 40 modules that JSON can do without
  const print = prettyFactory({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: 'connection',
  });
  return (entry) => print(asPrinted(entry));
}

/** The same entry in which characters that a terminal would obey are shown as text: `\n`, `\u001b`. */
function asPrinted(entry: string): string {
  return printableJson(entry).replace(escapes, (whole, escaped: string | undefined) =>
    escaped === undefined || escaped === '"' || escaped === '\\' || escaped === '/' ? whole : `\\\\${escaped}`,
  );
}
