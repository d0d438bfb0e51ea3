// Parses and writes lines of the Companion Satellite protocol, version 1.8: `KEY-PRESS DEVICEID="deck" KEY=3 PRESSED=1`. Each line ends
// with a line feed. Key texts and bitmaps are encoded in base64, so that they need no escaping.

/** The protocol version that the hub reports to surfaces. */
export const apiVersion = '1.8.0';
/** The maximum length of a line from a surface, in bytes. */
export const maxLineBytes = 65_536;
/** The maximum number of arguments in a line. Further arguments are ignored. */
const maxArguments = 64;

export interface Line {
  readonly command: string;
  /** The part of the line after the command. */
  readonly body: string;
  /** The arguments, keyed by name in capitals. The value of an argument that has no value in the line is `true`. */
  readonly args: ReadonlyMap<string, string>;
}

/** Parses a line. Values may be enclosed in quotation marks; a backslash escapes the next character. */
export function readLine(line: string): Line {
  const space = line.indexOf(' ');
  const command = (space < 0 ? line : line.slice(0, space)).toUpperCase();
  const body = space < 0 ? '' : line.slice(space + 1);
  const args = new Map<string, string>();
  for (const part of partsOf(body)) {
    if (part === '') continue;
    if (args.size >= maxArguments) break;
    const sign = part.indexOf('=');
    if (sign < 0) args.set(part.toUpperCase(), 'true');
    else args.set(part.slice(0, sign).toUpperCase(), part.slice(sign + 1));
  }
  return { command, body, args };
}

function partsOf(body: string): string[] {
  if (!/["\\]/.test(body)) return body.split(' ');
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  for (let at = 0; at < body.length; at++) {
    const character = body[at]!;
    if (character === '\\') part += body[++at] ?? '';
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === ' ' && !isQuoted) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part];
}

export type Arguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** Returns a line, including its line feed. Arguments that are undefined are omitted. */
export function writeLine(command: string, args: Arguments): string {
  let line = command;
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined) continue;
    if (typeof value === 'number') line += ` ${name}=${value}`;
    else if (typeof value === 'boolean') line += ` ${name}=${value ? 1 : 0}`;
    else line += ` ${name}="${escaped(value)}"`;
  }
  return `${line}\n`;
}

function escaped(text: string): string {
  return /["\\\r\n]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[\r\n]+/g, ' ') : text;
}

/** Returns whether an argument is true. An argument is false if it is missing, empty, `0`, `false` or `no`. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no'].includes(value.toLowerCase());
}

/** Returns a line as a string without its line feed, for the wire trace. */
export function showLine(line: Uint8Array): string {
  return Buffer.from(line.buffer, line.byteOffset, line.byteLength)
    .toString()
    .replace(/[\r\n]+$/, '');
}
