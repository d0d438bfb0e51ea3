// Converters for the values in patterns. A converter reads a value from a frame and writes a value into a frame. Some converters, such as
// `int`, `float` and `text`, work on characters; others, such as `uint` and `nibbles`, work on bytes, which are represented by characters
// with the codes 0 to 255. A converter never reads beyond its value, so that a frame is read in a single pass.

import { nearestName } from '../json5/nearest-name.ts';
import { HubError } from '../model/error.ts';
import { readNumber, toText, type Value } from '../model/value.ts';

/** A value that a converter has read, and the offset after its last character. */
export interface Found {
  readonly value: Value;
  readonly end: number;
}

export interface Converter {
  /**
   * Reads the value that starts at offset `at`. `limit` is the offset of the next literal, or the length of the frame. Returns undefined if
   * no valid value starts at `at`.
   */
  read(frame: string, at: number, limit: number): Found | undefined;
  /** Converts a value to the characters to send. Errors: `not-convertible`, `out-of-range`. */
  write(value: Value): string;
  /** Whether the converter reads all characters up to `limit`. In a pattern, a literal must follow such a converter. */
  readonly isGreedy: boolean;
}

/** A function that creates a converter from its arguments. Errors: `Error` if an argument is invalid. */
type ConverterMaker = (args: ArgumentReader) => Converter;

/**
 * The arguments of a converter in a pattern: named arguments such as `width=2`, or a list such as `ON,OFF`. An argument that the converter
 * does not read is a mistake.
 */
class ArgumentReader {
  readonly #named = new Map<string, string>();
  /** The names of the arguments that the converter has read. */
  readonly #known = new Set<string>();
  readonly listed: readonly string[];
  readonly #isOfBytes: boolean;

  constructor(args: readonly string[], takesList: boolean, isOfBytes: boolean) {
    this.listed = takesList ? args : [];
    this.#isOfBytes = isOfBytes;
    if (takesList) return;
    for (const argument of args) {
      const place = argument.indexOf('=');
      if (place < 0) throw new Error(`expected name=value, got ${argument}`);
      this.#named.set(argument.slice(0, place).trim(), argument.slice(place + 1).trim());
    }
  }

  /** Returns an integer argument within bounds, or undefined if the argument is missing. Errors: `Error` if it is invalid. */
  integer(name: string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = readNumber(text);
    if (number !== undefined && Number.isInteger(number) && number >= least && number <= most) return number;
    throw new Error(`expected ${name} to be an integer ${least}..${most}, got ${JSON.stringify(text)}`);
  }

  /** Returns an argument that must be one of `words`, or undefined if it is missing. Errors: `Error` for any other word. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const text = this.text(name);
    if (text === undefined || words.includes(text as Word)) return text as Word | undefined;
    throw new Error(`expected ${name} to be ${words.join(' or ')}, got ${JSON.stringify(text)}`);
  }

  /** The words that booleans use by default, for true and false. */
  get defaultWords(): readonly string[] {
    return this.#isOfBytes ? ['01', '00'] : ['1', '0'];
  }

  /**
   * Returns the characters for a word in the device's messages. In patterns of bytes, words are written as hexadecimal digits. Errors:
   * `Error`.
   */
  literal(written: string): string {
    if (!this.#isOfBytes) return written;
    const digits = written.replaceAll(/\s/g, '');
    if (!/^(?:[\da-f]{2})+$/i.test(digits))
      throw new Error(`expected bytes in hexadecimal digits, such as 02, got ${JSON.stringify(written)}`);
    return Buffer.from(digits, 'hex').toString('latin1');
  }

  text(name: string): string | undefined {
    this.#known.add(name);
    const text = this.#named.get(name);
    this.#named.delete(name);
    return text;
  }

  /**
   * Checks that all arguments have been read. Errors: `Error` with the first unread argument, and the nearest known name or all known
   * names.
   */
  end(): void {
    const [unknown] = this.#named.keys();
    if (unknown === undefined) return;
    const known = [...this.#known];
    const nearest = nearestName(unknown, known);
    const hint =
      nearest !== undefined
        ? `, did you mean "${nearest}"?`
        : known.length === 0
          ? ': it takes no arguments'
          : `, expected one of ${known.join(', ')}`;
    throw new Error(`unknown argument "${unknown}"${hint}`);
  }
}

const isDigit = (code: number) => code >= 48 && code <= 57;
const isHexDigit = (code: number) => isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);

/** Returns the offset after the longest run of characters for which `belongs` returns true. */
function runEnd(frame: string, at: number, limit: number, belongs: (code: number) => boolean): number {
  let end = at;
  while (end < limit && belongs(frame.charCodeAt(end))) end++;
  return end;
}

/**
 * `int`: decimal digits with an optional sign. `width` is the exact number of digits, padded with zeros; `offset` is added before sending
 * and subtracted after reading.
 */
const int: ConverterMaker = (args) => {
  const width = args.integer('width', 1, 20);
  const offset = args.integer('offset', -1_000_000, 1_000_000) ?? 0;
  return {
    isGreedy: false,
    read(frame, at, limit) {
      const hasSign = frame[at] === '-' || frame[at] === '+';
      const start = hasSign ? at + 1 : at;
      const end = runEnd(frame, start, width === undefined ? limit : Math.min(limit, start + width), isDigit);
      if (end === start || (width !== undefined && end !== start + width)) return undefined;
      const value = Number(frame.slice(at, end)) - offset;
      return Number.isSafeInteger(value) ? { value: value + 0, end } : undefined;
    },
    write(value) {
      const number = integerOf(value) + offset;
      const digits = String(Math.abs(number)).padStart(width ?? 0, '0');
      if (width !== undefined && digits.length > width) throw outOfRange(`at most ${width} digits`, value);
      return number < 0 ? `-${digits}` : digits;
    },
  };
};

/** `hex`: hexadecimal digits. `width` is the exact number of digits, padded with zeros. */
const hex: ConverterMaker = (args) => {
  const width = args.integer('width', 1, 13);
  const offset = args.integer('offset', -1_000_000, 1_000_000) ?? 0;
  const letters = args.word('case', ['upper', 'lower']) ?? 'upper';
  return {
    isGreedy: false,
    read(frame, at, limit) {
      const end = runEnd(frame, at, Math.min(limit, at + (width ?? 13)), isHexDigit);
      if (end === at || (width !== undefined && end !== at + width)) return undefined;
      return { value: Number.parseInt(frame.slice(at, end), 16) - offset, end };
    },
    write(value) {
      const number = integerOf(value) + offset;
      if (number < 0) throw outOfRange('a number of at least 0', value);
      const digits = number.toString(16).padStart(width ?? 0, '0');
      if (width !== undefined && digits.length > width) throw outOfRange(`at most ${width} hexadecimal digits`, value);
      return letters === 'upper' ? digits.toUpperCase() : digits;
    },
  };
};

/** `float`: a decimal number. `digits` is the number of digits to send after the decimal point. */
const float: ConverterMaker = (args) => {
  const digits = args.integer('digits', 0, 15);
  const isInFloat = (code: number) =>
    isDigit(code) || code === 43 || code === 45 || code === 46 || code === 69 || code === 101;
  return {
    isGreedy: false,
    read(frame, at, limit) {
      const end = runEnd(frame, at, limit, isInFloat);
      const value = readNumber(frame.slice(at, end));
      return value === undefined || !Number.isFinite(value) ? undefined : { value: value + 0, end };
    },
    write(value) {
      const number = numberOf(value);
      return digits === undefined ? String(number) : number.toFixed(digits);
    },
  };
};

/**
 * `text`: characters up to the next literal. `width` is the exact number of characters, `trim` removes surrounding spaces, and `max` is the
 * maximum number of characters to send.
 */
const text: ConverterMaker = (args) => {
  const width = args.integer('width', 1, 65_536);
  const max = args.integer('max', 1, 65_536);
  const trim = args.word('trim', ['yes', 'no']) === 'yes';
  return {
    isGreedy: width === undefined,
    read(frame, at, limit) {
      const end = width === undefined ? limit : at + width;
      if (end > frame.length) return undefined;
      const found = frame.slice(at, end);
      return { value: trim ? found.trim() : found, end };
    },
    write(value) {
      const written = toText(value);
      if (max !== undefined && written.length > max) throw outOfRange(`at most ${max} characters`, value);
      if (width === undefined) return written;
      if (written.length > width) throw outOfRange(`at most ${width} characters`, value);
      return written.padEnd(width);
    },
  };
};

/** `word`: a run of characters other than spaces. */
const word: ConverterMaker = () => ({
  isGreedy: true,
  read(frame, at, limit) {
    const end = runEnd(frame, at, limit, (code) => code > 32);
    return end === at ? undefined : { value: frame.slice(at, end), end };
  },
  write(value) {
    const written = toText(value);
    if (written === '' || /\s/.test(written)) throw outOfRange('a word without spaces', value);
    return written;
  },
});

/** `quoted`: text in double quotes, with the escapes `\"` and `\\`. */
const quoted: ConverterMaker = () => ({
  isGreedy: false,
  read(frame, at) {
    if (frame[at] !== '"') return undefined;
    let value = '';
    for (let place = at + 1; place < frame.length; place++) {
      if (frame[place] === '"') return { value, end: place + 1 };
      if (frame[place] === '\\' && place + 1 < frame.length) place++;
      value += frame[place];
    }
    return undefined;
  },
  write: (value) => `"${toText(value).replace(/["\\]/g, '\\$&')}"`,
});

/**
 * `on(ON,OFF)`: the words for true and false. There may be several words for each value, as in `on(1|ON,0|OFF)`; the first word is sent. In
 * patterns of bytes: `on(02,03)`.
 */
const on: ConverterMaker = (args) => {
  const [yes, no, ...more] = args.listed.length === 0 ? args.defaultWords : args.listed;
  if (yes === undefined || no === undefined || more.length > 0)
    throw new Error('expected two words, such as on(ON,OFF)');
  return choiceOf([
    ...yes.split('|').map((one) => [args.literal(one), true] as const),
    ...no.split('|').map((one) => [args.literal(one), false] as const),
  ]);
};

/** `one(OFF=0,ON=1)`: the device's words and their values. In patterns of bytes: `one(00=off,01=on)`. */
const one: ConverterMaker = (args) => {
  const pairs = args.listed.map((pair): readonly [string, Value] => {
    const place = pair.indexOf('=');
    if (place < 0) return [args.literal(pair), pair];
    const value = pair.slice(place + 1);
    return [args.literal(pair.slice(0, place)), readNumber(value) ?? value];
  });
  if (pairs.length === 0) throw new Error('expected words and their values, such as one(OFF=0,ON=1)');
  return choiceOf(pairs);
};

/**
 * Creates a converter between the device's words and values. Longer words are tried first, because a longer word may begin with a shorter
 * word.
 */
function choiceOf(pairs: readonly (readonly [string, Value])[]): Converter {
  const byLength = [...pairs].sort(([a], [b]) => b.length - a.length);
  return {
    isGreedy: false,
    read(frame, at) {
      for (const [written, value] of byLength)
        if (frame.startsWith(written, at)) return { value, end: at + written.length };
      return undefined;
    },
    write(value) {
      const found = pairs.find(([, one]) => one === value || toText(one) === toText(value));
      if (found !== undefined) return found[0];
      throw outOfRange(`one of ${pairs.map(([, one]) => toText(one)).join(', ')}`, value);
    },
  };
}

/** `uint`: an unsigned integer of a few bytes. With `signed=yes`, the integer is in two's complement. */
const uint: ConverterMaker = (args) => {
  const bytes = args.integer('bytes', 1, 6) ?? 1;
  const isLittle = args.word('endian', ['big', 'little']) === 'little';
  const isSigned = args.word('signed', ['yes', 'no']) === 'yes';
  const offset = args.integer('offset', -1_000_000, 1_000_000) ?? 0;
  const size = 256 ** bytes;
  return {
    isGreedy: false,
    read(frame, at) {
      if (at + bytes > frame.length) return undefined;
      let number = 0;
      for (let place = 0; place < bytes; place++)
        number = number * 256 + frame.charCodeAt(isLittle ? at + bytes - 1 - place : at + place);
      if (isSigned && number >= size / 2) number -= size;
      return { value: number - offset, end: at + bytes };
    },
    write(value) {
      let number = integerOf(value) + offset;
      const [least, most] = isSigned ? [-size / 2, size / 2 - 1] : [0, size - 1];
      if (number < least || number > most) throw outOfRange(`a number ${least - offset}..${most - offset}`, value);
      if (number < 0) number += size;
      let written = '';
      for (let place = 0; place < bytes; place++) {
        const byte = String.fromCharCode(number % 256);
        number = Math.floor(number / 256);
        written = isLittle ? written + byte : byte + written;
      }
      return written;
    },
  };
};

/** `nibbles`: an integer with four bits in each byte, as in VISCA positions: `0p 0q 0r 0s`. */
const nibbles: ConverterMaker = (args) => {
  const count = args.integer('count', 1, 12) ?? 4;
  const isSigned = args.word('signed', ['yes', 'no']) === 'yes';
  const size = 16 ** count;
  return {
    isGreedy: false,
    read(frame, at) {
      if (at + count > frame.length) return undefined;
      let number = 0;
      for (let place = at; place < at + count; place++) {
        const code = frame.charCodeAt(place);
        if (code > 15) return undefined;
        number = number * 16 + code;
      }
      if (isSigned && number >= size / 2) number -= size;
      return { value: number, end: at + count };
    },
    write(value) {
      let number = integerOf(value);
      const [least, most] = isSigned ? [-size / 2, size / 2 - 1] : [0, size - 1];
      if (number < least || number > most) throw outOfRange(`a number ${least}..${most}`, value);
      if (number < 0) number += size;
      let written = '';
      for (let place = 0; place < count; place++) {
        written = String.fromCharCode(number % 16) + written;
        number = Math.floor(number / 16);
      }
      return written;
    },
  };
};

/** `bits(from,to)`: bits of a single byte, where 0 is the lowest bit; `bits(3)` is a boolean. This converter only reads. */
const bits: ConverterMaker = ({ listed }) => {
  const [low = Number.NaN, high = low] = listed.map(Number);
  if (!(low >= 0 && high >= low && high <= 7)) throw new Error('expected bits of a byte, such as bits(3) or bits(0,3)');
  const mask = 2 ** (high - low + 1) - 1;
  return {
    isGreedy: false,
    read(frame, at) {
      if (at >= frame.length) return undefined;
      const found = (frame.charCodeAt(at) >> low) & mask;
      return { value: listed.length === 1 ? found === 1 : found, end: at + 1 };
    },
    write(value) {
      throw outOfRange('a value that is only read, not written', value);
    },
  };
};

const textConverters = new Map<string, ConverterMaker>(
  Object.entries({ int, hex, float, text, word, quoted, on, one }),
);
const byteConverters = new Map<string, ConverterMaker>(Object.entries({ uint, nibbles, bits, text, on, one }));

/** Returns the names of the converters for characters or, if `isOfBytes` is true, for bytes. */
export function converterNames(isOfBytes: boolean): string[] {
  return [...(isOfBytes ? byteConverters : textConverters).keys()];
}

/** Creates the converter with this name, or returns undefined if the name is unknown. Errors: `Error` if an argument is invalid. */
export function createConverter(name: string, args: readonly string[], isOfBytes: boolean): Converter | undefined {
  const make = (isOfBytes ? byteConverters : textConverters).get(name);
  if (make === undefined) return undefined;
  const reader = new ArgumentReader(args, ['on', 'one', 'bits'].includes(name), isOfBytes);
  const converter = make(reader);
  reader.end();
  return converter;
}

function numberOf(value: Value): number {
  const number = typeof value === 'string' ? readNumber(value) : Number(value);
  if (number === undefined || !Number.isFinite(number)) throw outOfRange('a number', value);
  return number + 0;
}

function integerOf(value: Value): number {
  return Math.trunc(numberOf(value)) + 0;
}

function outOfRange(expected: string, value: Value): HubError {
  return new HubError('out-of-range', `expected ${expected}, got ${JSON.stringify(value)}`);
}
