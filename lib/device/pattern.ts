// Patterns for frames, with values in braces. `POWR={value:int}` reads and writes frames such as `POWR=2`. A pattern of bytes is written in
// hexadecimal: `90 50 {value:uint} FF`. A frame is read in a single pass without backtracking: a text value ends at the first occurrence of
// the literal that follows it.

import { nearestName } from '../json5/nearest-name.ts';
import { HubError } from '../model/error.ts';
import { toText, type Value } from '../model/value.ts';
import { type Converter, converterNames, createConverter } from './converters.ts';

/** The values that a pattern reads from a frame or writes into a frame, keyed by the names in the pattern. */
export type Values = ReadonlyMap<string, Value>;

/** A function that compiles an expression in a description. Errors: any error from `compileExpression`. */
export type CompileExpression = (text: string) => (values: Values) => Value;

/** A part of a pattern: a literal, a named value, an expression or a checksum. */
export type Part =
  | { readonly literal: string }
  /**
   * A value to read or write. `isPlain` means that the pattern names no converter for it. `written` is the converter with its arguments as
   * text.
   */
  | { readonly name: string; readonly converter: Converter; readonly isPlain: boolean; readonly written: string }
  | { readonly evaluate: (values: Values) => Value; readonly isOfBytes: boolean }
  | { readonly checksum: Checksum };

/** A part that an index can compare with the beginning of a frame. */
export type LeadingPart = Extract<Part, { readonly literal: string } | { readonly converter: Converter }>;

/** A mistake in the text of a pattern, with its offset. */
export class PatternError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export class Pattern {
  /** The pattern as written in the description. */
  readonly text: string;
  /** The names of the values that the pattern reads, except `_`. */
  readonly names: ReadonlySet<string>;
  readonly #parts: readonly Part[];
  readonly #steps: readonly Step[];
  readonly #nameCount: number;

  private constructor(text: string, parts: readonly Part[]) {
    this.text = text;
    this.#parts = parts;
    this.names = new Set(parts.flatMap((part) => ('name' in part && part.name !== '_' ? [part.name] : [])));
    const names = [...this.names];
    this.#nameCount = names.length;
    this.#steps = parts.map((_, index) => new Step(parts, index, names));
  }

  /** Compiles the text of a pattern. Errors: `PatternError`. */
  static parse(text: string, isOfBytes: boolean, compile: CompileExpression): Pattern {
    const parts = new PatternReader(text, isOfBytes, compile).read();
    for (const [index, part] of parts.entries()) {
      const next = parts[index + 1];
      if ('converter' in part && part.converter.isGreedy && next !== undefined && !('literal' in next))
        throw new PatternError(
          `expected literal characters after {${part.name}}, or a length for it, such as {${part.name}:text(width=4)}`,
          0,
        );
    }
    return new Pattern(text, parts);
  }

  /**
   * The parts that an index may compare with the beginning of a frame: all parts up to the last literal whose position is fixed. A frame
   * without these parts does not match.
   */
  get leading(): readonly LeadingPart[] {
    const end = this.#parts.findIndex(
      (part) => !('literal' in part || ('converter' in part && !part.converter.isGreedy)),
    );
    const leading = this.#parts.slice(0, end < 0 ? undefined : end) as LeadingPart[];
    return leading.slice(0, leading.findLastIndex((part) => 'literal' in part) + 1);
  }

  /** Whether the pattern contains neither values nor expressions. */
  get isLiteral(): boolean {
    return this.#parts.every((part) => 'literal' in part);
  }

  /**
   * The only part of the pattern, if the pattern consists of a single value. In JSON, such a pattern stands for the value itself instead of
   * a string.
   */
  get single(): Exclude<Part, { readonly literal: string }> | undefined {
    const [first] = this.#parts;
    return this.#parts.length === 1 && first !== undefined && !('literal' in first) ? first : undefined;
  }

  /**
   * Reads the values in a frame. If `known` contains a value with the same name, the frame must contain the same value. Returns undefined
   * if the frame does not match or if an expression fails.
   */
  match(frame: string, known?: Values): Map<string, Value> | undefined {
    const values: (Value | undefined)[] = [];
    return this.read(frame, values, known) ? this.#found(values) : undefined;
  }

  /** Like `match`, but stores the values in a list in the order of `names`. Returns whether the frame matches. */
  read(frame: string, values: (Value | undefined)[], known?: Values): boolean {
    for (let place = 0; place < this.#nameCount; place++) values[place] = undefined;
    let at = 0;
    for (const step of this.#steps) {
      const { converter, place } = step;
      if (converter !== undefined) {
        const limit = step.until === '' ? frame.length : step.limitIn(frame, at);
        const read = limit < 0 ? undefined : converter.read(frame, at, limit);
        if (read === undefined) return false;
        if (place >= 0) {
          const before = values[place] ?? known?.get(step.name);
          if (before !== undefined && toText(before) !== toText(read.value)) return false;
          values[place] = read.value;
        }
        at = read.end;
      } else {
        const expected =
          step.computed === undefined ? step.literal : this.#expected(step.computed, frame, at, values, known);
        if (expected === undefined || !frame.startsWith(expected, at)) return false;
        at += expected.length;
      }
    }
    return at === frame.length;
  }

  /** Returns the characters required by a checksum or an expression, or undefined if the expression fails. */
  #expected(
    part: ComputedPart,
    frame: string,
    at: number,
    values: readonly (Value | undefined)[],
    known: Values | undefined,
  ): string | undefined {
    return 'checksum' in part ? part.checksum.of(frame.slice(0, at)) : expectedOf(part, known, this.#found(values));
  }

  #found(values: readonly (Value | undefined)[]): Map<string, Value> {
    const found = new Map<string, Value>();
    let place = 0;
    for (const name of this.names) {
      const value = values[place++];
      if (value !== undefined) found.set(name, value);
    }
    return found;
  }

  /**
   * Writes a frame with these values. `encode` encodes the text of each value. Errors: `not-convertible`, `out-of-range`, any expression
   * error.
   */
  format(values: Values, encode: (text: string) => string = asIs): string {
    let frame = '';
    for (const part of this.#parts) {
      if ('literal' in part) frame += part.literal;
      else if ('checksum' in part) frame += part.checksum.of(frame);
      else if ('evaluate' in part) frame += encode(written(part, values));
      else {
        const value = values.get(part.name);
        if (value === undefined)
          throw new HubError('not-convertible', `expected a value for {${part.name}}, but it is unknown`);
        frame += encode(part.converter.write(value));
      }
    }
    return frame;
  }
}

type ComputedPart = Exclude<Part, LeadingPart>;

/** The step that reads one part of a frame. All steps have the same fields, which makes reading faster than with the parts themselves. */
class Step {
  /** The characters of a literal; '' for other parts. */
  readonly literal: string;
  readonly computed: ComputedPart | undefined;
  readonly converter: Converter | undefined;
  readonly name: string;
  /** The index of the value in the list that `read` fills; −1 for `_` and for parts without a value. */
  readonly place: number;
  /** The literal that ends a greedy value; '' if the value ends by itself or with the frame. */
  readonly until: string;
  readonly #isUntilEnd: boolean;

  constructor(parts: readonly Part[], index: number, names: readonly string[]) {
    const part = parts[index]!;
    const next = parts[index + 1];
    this.literal = 'literal' in part ? part.literal : '';
    this.computed = 'literal' in part || 'converter' in part ? undefined : part;
    this.converter = 'converter' in part ? part.converter : undefined;
    this.name = 'name' in part ? part.name : '';
    this.place = names.indexOf(this.name);
    this.until = this.converter?.isGreedy === true && next !== undefined && 'literal' in next ? next.literal : '';
    this.#isUntilEnd = index + 2 === parts.length;
  }

  /** Returns the offset of `until` in the frame, or −1 if the frame does not contain it. */
  limitIn(frame: string, at: number): number {
    return this.#isUntilEnd && frame.endsWith(this.until)
      ? Math.max(frame.length - this.until.length, at)
      : frame.indexOf(this.until, at);
  }
}

function asIs(text: string): string {
  return text;
}

/** Returns the characters that an expression requires in a frame, or undefined if the expression fails. */
function expectedOf(
  part: Extract<Part, { readonly isOfBytes: boolean }>,
  known: Values | undefined,
  found: Values,
): string | undefined {
  try {
    return written(part, merged(known, found));
  } catch {
    return undefined;
  }
}

/**
 * Returns the result of an expression as characters. In a pattern of bytes, a number becomes a single byte. Errors: `out-of-range`, any
 * expression error.
 */
function written(part: Extract<Part, { readonly isOfBytes: boolean }>, values: Values): string {
  const value = part.evaluate(values);
  if (!part.isOfBytes || typeof value !== 'number') return toText(value);
  if (Number.isInteger(value) && value >= 0 && value <= 255) return String.fromCharCode(value);
  throw new HubError('out-of-range', `expected a byte 0..255, got ${value}`);
}

function merged(known: Values | undefined, found: Values): Values {
  return known === undefined || known.size === 0 ? found : new Map([...known, ...found]);
}

/** Parses the text of a pattern into its parts. */
class PatternReader {
  readonly #text: string;
  readonly #isOfBytes: boolean;
  readonly #compile: CompileExpression;
  #at = 0;

  constructor(text: string, isOfBytes: boolean, compile: CompileExpression) {
    this.#text = text;
    this.#isOfBytes = isOfBytes;
    this.#compile = compile;
  }

  read(): Part[] {
    const parts: Part[] = [];
    let literal = '';
    const endLiteral = () => {
      if (literal !== '') parts.push({ literal });
      literal = '';
    };
    while (this.#at < this.#text.length) {
      const [here = '', next] = [this.#text[this.#at], this.#text[this.#at + 1]];
      if (!this.#isOfBytes && (here === '{' || here === '}') && next === here) {
        literal += here;
        this.#at += 2;
      } else if (here === '{') {
        endLiteral();
        parts.push(this.#value());
      } else if (here === '}') throw new PatternError('expected "}}" for a literal brace', this.#at);
      else literal += this.#isOfBytes ? this.#byte() : this.#character();
    }
    endLiteral();
    return parts;
  }

  #character(): string {
    return this.#text[this.#at++]!;
  }

  /** Reads a byte, which is written as two hexadecimal digits. Ignores spaces between bytes. */
  #byte(): string {
    const rest = this.#text.slice(this.#at);
    const space = /^\s+/.exec(rest);
    if (space !== null) {
      this.#at += space[0].length;
      return '';
    }
    const digits = /^[0-9a-f]{2}/i.exec(rest);
    if (digits === null) throw new PatternError(`expected two hexadecimal digits, got "${rest.slice(0, 2)}"`, this.#at);
    this.#at += 2;
    return String.fromCharCode(Number.parseInt(digits[0], 16));
  }

  /** Reads a part in braces: `{name:converter(…)}`, `{= expression}` or a checksum. */
  #value(): Part {
    const start = this.#at;
    const end = this.#closing(start);
    if (end < 0) throw new PatternError('expected "}" after "{"; a literal brace is "{{"', start);
    const inner = this.#text.slice(start + 1, end);
    this.#at = end + 1;
    if (inner.startsWith('='))
      return { evaluate: this.#expression(inner.slice(1), start + 2), isOfBytes: this.#isOfBytes };
    const parsed = /^\s*([A-Za-z_]\w*)\s*(?::\s*([a-z]\w*)\s*)?(?:\(([^()]*)\))?\s*$/.exec(inner);
    if (parsed === null)
      throw new PatternError(
        `expected {name}, {name:converter} or {= expression}, got "{${inner}}"; a literal brace is "{{"`,
        start,
      );
    const [, name = '', converterName, argumentText] = parsed;
    const args = (argumentText ?? '').split(',').filter((one) => one.trim() !== '');
    const checksum = converterName === undefined ? createChecksum(name, args, this.#isOfBytes) : undefined;
    if (checksum !== undefined) return { checksum };
    return {
      name,
      converter: this.#converter(converterName ?? 'text', args, start),
      isPlain: converterName === undefined,
      written: `${converterName ?? 'text'}(${args.join()})`,
    };
  }

  #converter(name: string, args: readonly string[], offset: number): Converter {
    try {
      const converter = createConverter(name, args, this.#isOfBytes);
      if (converter !== undefined) return converter;
    } catch (error) {
      throw new PatternError(`${name}: ${(error as Error).message}`, offset);
    }
    const names = converterNames(this.#isOfBytes);
    const near = nearestName(name, names);
    const hint = near === undefined ? `, expected one of ${names.join(', ')}` : `, did you mean "${near}"?`;
    throw new PatternError(`unknown converter "${name}"${hint}`, offset);
  }

  #expression(text: string, offset: number): (values: Values) => Value {
    try {
      return this.#compile(text.trim());
    } catch (error) {
      const { message, offset: within = 0 } = error as Error & { offset?: number };
      throw new PatternError(`expression: ${message}`, offset + text.length - text.trimStart().length + within);
    }
  }

  /** Returns the offset of the closing brace. Ignores braces in string literals of an expression. */
  #closing(start: number): number {
    let quote = '';
    let depth = 0;
    for (let at = start; at < this.#text.length; at++) {
      const here = this.#text[at]!;
      if (quote !== '') {
        if (here === '\\') at++;
        else if (here === quote) quote = '';
      } else if ((here === '"' || here === "'") && this.#text[start + 1] === '=') quote = here;
      else if (here === '{') depth++;
      else if (here === '}' && --depth === 0) return at;
    }
    return -1;
  }
}

/** A function that computes a checksum over the preceding characters in the frame. */
interface Checksum {
  of(before: string): string;
}

/**
 * Creates a checksum by name: `xor8`, `sum8` or `crc16`. `from` is the number of characters to skip at the beginning of the frame, and
 * `before` is the number of characters to skip directly before the checksum. Returns undefined if the name is unknown.
 */
function createChecksum(name: string, args: readonly string[], isOfBytes: boolean): Checksum | undefined {
  const compute = checksums.get(name);
  if (compute === undefined) return undefined;
  const named = new Map(args.map((one) => one.split('=', 2).map((text) => text.trim()) as [string, string]));
  const from = Number(named.get('from') ?? 0);
  const before = Number(named.get('before') ?? 0);
  const kind = named.get('kind') ?? '';
  return {
    of(frame) {
      const bytes = compute(Buffer.from(frame, 'latin1').subarray(from, frame.length - before), kind);
      return isOfBytes
        ? String.fromCharCode(...bytes)
        : bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('');
    },
  };
}

const checksums: ReadonlyMap<string, (bytes: Uint8Array, kind: string) => number[]> = new Map([
  ['xor8', (bytes) => [bytes.reduce((sum, byte) => sum ^ byte, 0)]],
  [
    'sum8',
    (bytes, kind) => {
      const sum = bytes.reduce((total, byte) => (total + byte) & 0xff, 0);
      return [kind === 'complement' ? (256 - sum) & 0xff : sum];
    },
  ],
  [
    'crc16',
    (bytes, kind) => crcKinds[Object.hasOwn(crcKinds, kind) ? (kind as keyof typeof crcKinds) : 'ccitt'](bytes),
  ],
]);

/** The CRC functions for the kinds of `crc16`. Kinds that are not listed are `ccitt`. */
const crcKinds = {
  modbus: crcModbus,
  xmodem: (bytes: Uint8Array) => crcCcitt(bytes, 0),
  ccitt: (bytes: Uint8Array) => crcCcitt(bytes, 0xffff),
};

/** Returns the two bytes of a Modbus RTU checksum, low byte first. */
export function crcModbus(bytes: Uint8Array): number[] {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return [crc & 0xff, crc >> 8];
}

function crcCcitt(bytes: Uint8Array, start: number): number[] {
  let crc = start;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return [crc >> 8, crc & 0xff];
}
