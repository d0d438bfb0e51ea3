// Encodings: detects the encoding of a template and converts text to bytes (XML 1.0, section 4.3.3 and appendix F).

import { HubError } from '../../model/error.ts';

export interface Encoding {
  readonly name: string;
  /** Matches the characters that the encoding cannot represent. Missing if it can represent all characters. */
  readonly missing?: RegExp;
  encode(text: string): Uint8Array;
  /** Decodes bytes. Throws if the bytes are not valid in this encoding. A byte order mark remains in the text. */
  decode(bytes: Buffer): string;
}

/** A template as text, with its name for messages and the encoding of its file. */
export interface TemplateSource {
  readonly name: string;
  readonly text: string;
  readonly encoding: Encoding;
}

const byteOrderMark = '\ufeff';
const declaration = /^[^<]{0,3}<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.-]+)["']/;

const utf8: Encoding = {
  name: 'UTF-8',
  encode: (text) => Buffer.from(text, 'utf8'),
  decode: strictDecoder('utf-8'),
};
const utf16le: Encoding = {
  name: 'UTF-16LE',
  encode: (text) => Buffer.from(text, 'utf16le'),
  decode: strictDecoder('utf-16le'),
};
const utf16be: Encoding = {
  name: 'UTF-16BE',
  encode: (text) => Buffer.from(text, 'utf16le').swap16(),
  decode: strictDecoder('utf-16be'),
};
const latin1: Encoding = {
  name: 'ISO-8859-1',
  missing: /[\u{100}-\u{10ffff}]/gu,
  encode: (text) => Buffer.from(text, 'latin1'),
  decode: (bytes) => bytes.toString('latin1'),
};
const ascii: Encoding = {
  name: 'US-ASCII',
  missing: /[\u{80}-\u{10ffff}]/gu,
  encode: (text) => Buffer.from(text, 'latin1'),
  decode(bytes) {
    if (bytes.some((byte) => byte > 0x7f)) throw new Error('a byte above 127');
    return bytes.toString('latin1');
  },
};
const byName = new Map([
  ...[utf8, utf16le, utf16be, latin1, ascii].map((encoding): [string, Encoding] => [encoding.name, encoding]),
  ['UTF-16', utf16le],
]);

/** Creates a template source from text in the settings. The default encoding is UTF-8. Errors: `cannot-start`. */
export function sourceOfText(name: string, text: string): TemplateSource {
  const declared = declaredName(text);
  return { name, ...withByteOrderMark(text, encodingOf(name, declared), declared) };
}

/** Creates a template source from the bytes of a file. Errors: `cannot-start`, for example if the XML declaration contradicts the bytes. */
export function sourceOfBytes(name: string, bytes: Buffer): TemplateSource {
  const declared = declaredName(bytes.toString('latin1').replaceAll('\0', ''));
  const expected = encodingOf(name, declared);
  const encoding = encodingBySignature(bytes) ?? (expected.name.startsWith('UTF-16') ? undefined : expected);
  try {
    if (encoding?.name.startsWith(declared ?? ''))
      return { name, ...withByteOrderMark(encoding.decode(bytes), encoding, declared) };
  } catch {
    // The bytes do not match the declaration; the error is thrown below.
  }
  throw new HubError(
    'cannot-start',
    `${name}: expected a file encoded in ${declared ?? utf8.name}, got another encoding`,
  );
}

function declaredName(text: string): string | undefined {
  return declaration.exec(text)?.[1]?.toUpperCase();
}

function encodingOf(name: string, declared = utf8.name): Encoding {
  const encoding = byName.get(declared);
  if (encoding !== undefined) return encoding;
  const known = [...byName.keys()].join(', ');
  throw new HubError('cannot-start', `${name}: expected one of the encodings ${known}, got "${declared}"`);
}

/**
 * Returns the encoding that the first two bytes indicate: by a byte order mark, or by a zero byte before or after the first `<`. Returns
 * undefined if they indicate no encoding.
 */
function encodingBySignature(bytes: Buffer): Encoding | undefined {
  switch (bytes.subarray(0, 2).toString('hex')) {
    case 'efbb':
      return utf8;
    case 'fffe':
    case '3c00':
      return utf16le;
    case 'feff':
    case '003c':
      return utf16be;
    default:
      return undefined;
  }
}

/**
 * Returns text, preceded by a byte order mark if necessary: UTF-16 text must begin with this mark if the XML declaration does not specify
 * the byte order.
 */
function withByteOrderMark(text: string, encoding: Encoding, declared: string | undefined) {
  const needsMark = encoding.name.startsWith('UTF-16') && declared !== encoding.name && !text.startsWith(byteOrderMark);
  return { text: needsMark ? byteOrderMark + text : text, encoding };
}

function strictDecoder(label: string): (bytes: Buffer) => string {
  return (bytes) => new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes);
}
