// The format of log lines. Texts of clients in them cannot start a new line or control a terminal.

import { createRequire } from 'node:module';
import { printableJson } from '../../model/printable.ts';

const require = createRequire(import.meta.url);

export const logFormats = ['pretty', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

/** A JSON escape, except the line breaks of a stack trace. */
const escapes = /\\n(?= {4}at )|\\(u[\da-f]{4}|.)/gi;

/** Returns a function that formats a JSON entry as a line of the log, with its line break. */
export function createLogFormat(format: LogFormat): (entry: string) => string {
  if (format === 'json') return printableJson; // JSON leaves some control characters of terminals unescaped
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty'); // some 40 modules that JSON does not need
  const print = prettyFactory({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: 'connection',
  });
  return (entry) => print(asPrinted(entry));
}

/** Escapes the characters of an entry that control a terminal: `\n`, `\u001b`. */
function asPrinted(entry: string): string {
  return printableJson(entry).replace(escapes, (whole, escaped: string | undefined) =>
    escaped === undefined || escaped === '"' || escaped === '\\' || escaped === '/' ? whole : `\\\\${escaped}`,
  );
}
