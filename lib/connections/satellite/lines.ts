// The lines of the Companion Satellite protocol, version 1.8: `KEY-PRESS DEVICEID="deck" KEY=3 PRESSED=1`. Each ends with a line feed. Texts
// and bitmaps are in base64, so that no line has to escape them.

/** The version of the protocol that the hub reports. */
export const apiVersion = '1.8.0';
/** The longest line that a surface may send, in bytes. */
export const maxLineBytes = 65_536;
/** The maximum number of arguments of a line. */
const maxArguments = 64;

export interface Line {
  readonly command: string;
  /** All after the command. */
  readonly body: string;
  /** An argument without a value is `true`. */
  readonly args: ReadonlyMap<string, string>;
}

/** Parses a line. Values may be quoted; a backslash quotes the next character. */
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

/** Returns a line with its line feed. Arguments that are undefined are left out. */
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

/** Reads an argument that is true or false, in one of the forms that surfaces use. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no'].includes(value.toLowerCase());
}

/** Returns a line for people. */
export function showLine(line: Uint8Array): string {
  return Buffer.from(line.buffer, line.byteOffset, line.byteLength)
    .toString()
    .replace(/[\r\n]+$/, '');
}
