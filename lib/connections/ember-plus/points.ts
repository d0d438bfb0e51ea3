// The parameters of the hub that correspond to a provider's elements: value types, metadata, and the conversion of values in both
// directions.

import { acceptedValue } from '../../device/payload.ts';
import { describe, HubError } from '../../model/error.ts';
import type { About, Access } from '../../model/parameter.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import type { Contents, GlowValue, ParameterType } from './glow.ts';

/** The number of choices above which a parameter's choices are not shown by name. */
const maxChoices = 1000;

/** The type, access, metadata and conversions of a hub parameter that represents a provider's parameter, matrix target or function. */
export interface Point {
  readonly type: ValueType;
  readonly access: Access;
  readonly about: About;
  /** Converts the input of a write to a value. Errors: `not-convertible`, `out-of-range`. */
  accept(input: unknown): Value;
}

export interface ParameterPoint extends Point {
  /** Converts a value reported by the provider. Returns undefined if the value is unknown. */
  read(value: GlowValue): Value | undefined;
  /** Converts a value that `accept` has returned to the value to send. */
  write(value: Value): GlowValue;
}

/**
 * Returns the point for a parameter with these contents. Returns undefined if the type is not known yet or if the parameter can be neither
 * read nor written.
 */
export function pointOfParameter(contents: Contents): ParameterPoint | undefined {
  const glowType = typeOf(contents);
  const access = accessOf(contents, glowType);
  if (glowType === undefined || glowType === 'null' || access === undefined) return undefined;
  const factor = contents.factor ?? 1;
  const scale = glowType === 'integer' && factor > 1 ? factor : 1;
  const type = valueTypeOf(glowType, scale);
  const about = aboutOf(contents, glowType, scale);
  return {
    type,
    access,
    about,
    accept(input) {
      if (glowType === 'octets') return acceptedHex(input);
      const value = acceptedValue(type, about, input);
      return scale === 1 ? value : Math.round((value as number) * scale) / scale;
    },
    read: (value) => readAs(glowType, type, scale, value),
    write: (value) => writtenAs(glowType, scale, value),
  };
}

function typeOf({ type, enumeration, enumMap, value, minimum }: Contents): ParameterType | undefined {
  if (type === 'trigger' || type === 'octets') return type;
  if (type === 'enum' || enumMap !== undefined || (enumeration !== undefined && enumeration !== '')) return 'enum';
  return type === undefined || type === 'null' ? (value ?? minimum)?.type : type;
}

function accessOf({ access = 1 }: Contents, type: ParameterType | undefined): Access | undefined {
  if (type === 'trigger') return access === 1 ? 'read-only' : access === 0 ? undefined : 'write-only';
  return ([undefined, 'read-only', 'write-only', 'read-write'] as const)[access];
}

function valueTypeOf(type: ParameterType, scale: number): ValueType {
  if (type === 'trigger') return 'T';
  if (type === 'boolean') return 'B';
  if (type === 'text' || type === 'octets') return 'S';
  return type === 'real' || scale > 1 ? 'F' : 'I';
}

function aboutOf(contents: Contents, type: ParameterType, scale: number): About {
  const { description, minimum, maximum, step, streamId } = contents;
  const [min, max] = [Number(minimum?.value ?? Number.NaN) / scale, Number(maximum?.value ?? Number.NaN) / scale];
  const isNumber = type === 'integer' || type === 'real';
  const unit = unitOf(contents.format);
  const choices = type === 'enum' ? choicesOf(contents) : undefined;
  return {
    ...(description !== undefined && description !== '' && { label: description }),
    ...(isNumber && min < max && { min, max }),
    ...(isNumber && step !== undefined && step > 0 && { step: step / scale }),
    ...(unit !== undefined && { unit }),
    ...(choices !== undefined && { choices }),
    ...(streamId !== undefined && isNumber && { class: 'meter' as const }),
  };
}

/** Returns the unit in a printf format such as `%8.2f dB`. Returns undefined if the format contains no unit. */
function unitOf(format: string | undefined): string | undefined {
  if (format === undefined || format.length > 64) return undefined;
  const unit = format.replace(/^[^%]*%[-+ 0#]*[\d*]*(?:\.[\d*]+)?(?:l|h|ll)?[a-zA-Z]/, '').replaceAll('%%', '%');
  return unit === format || unit.trim() === '' ? undefined : unit.trim();
}

function choicesOf({ enumMap, enumeration = '' }: Contents): Readonly<Record<string, number>> | undefined {
  const pairs = enumMap ?? enumeration.split('\n').map((name, index) => [name, index] as const);
  if (pairs.length > maxChoices || (pairs.length === 1 && pairs[0]![0] === '')) return undefined;
  const choices: Record<string, number> = {};
  for (const [written, value] of pairs) {
    const name = written.replace(/^~/, '');
    Object.defineProperty(choices, Object.hasOwn(choices, name) ? `${name} (${value})` : name, {
      ...{ value, enumerable: true, configurable: true, writable: true },
    });
  }
  return choices;
}

function acceptedHex(input: unknown): string {
  const text = String(convert('S', input)).replaceAll(/\s/g, '').toLowerCase();
  if (!/^(?:[\da-f]{2})*$/.test(text))
    throw new HubError('not-convertible', `expected bytes in hex, got ${describe(input)}`);
  return text;
}

function readAs(glowType: ParameterType, type: ValueType, scale: number, { value }: GlowValue): Value | undefined {
  if (value === null) return undefined;
  if (glowType === 'octets') return Buffer.isBuffer(value) ? value.toString('hex') : undefined;
  if (type === 'T') return 1;
  if (Buffer.isBuffer(value)) return undefined;
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
  try {
    return convert(type, scale > 1 && typeof value === 'number' ? value / scale : value);
  } catch {
    return undefined;
  }
}

function writtenAs(type: ParameterType, scale: number, value: Value): GlowValue {
  switch (type) {
    case 'boolean':
      return { type: 'boolean', value: value === true };
    case 'text':
      return { type: 'text', value: String(value) };
    case 'octets':
      return { type: 'octets', value: Buffer.from(String(value), 'hex') };
    case 'real':
      return { type: 'real', value: Number(value) };
    default:
      return { type: 'integer', value: Math.round(Number(value) * scale) };
  }
}

/** The value of a matrix target that has no source. */
export const noSource = -1;

/**
 * Returns the point that all targets of a matrix share. If a target can have only one source, its value is the source number, or -1 without
 * a source. Otherwise, its value is a list of source numbers such as `3,17`.
 */
export function pointOfTargets(contents: Contents, sources: readonly number[] | undefined): Point {
  const { matrixType = 0, sourceCount = 0 } = contents;
  const known = sources === undefined ? undefined : new Set(sources);
  const isKnown = (source: number) =>
    Number.isInteger(source) && (known === undefined ? source >= 0 && source < sourceCount : known.has(source));
  const expected =
    known === undefined ? `a source number from 0 to ${sourceCount - 1}` : 'a source number of the matrix';
  const refuse = (input: unknown) => new HubError('out-of-range', `expected ${expected}, got ${describe(input)}`);
  const isMany = matrixType === 2;
  return {
    type: isMany ? 'S' : 'I',
    access: 'read-write',
    about: isMany || known !== undefined ? {} : { min: noSource, max: sourceCount - 1 },
    accept(input) {
      if (!isMany) {
        const source = convert('I', input) as number;
        if (source !== noSource && !isKnown(source)) throw refuse(input);
        return source;
      }
      const list = sourcesOf(convert('S', input));
      if (!list.every(isKnown)) throw refuse(input);
      return valueOfSources(list, true);
    },
  };
}

/** Returns the source numbers in the value of a matrix target. */
export function sourcesOf(value: Value): number[] {
  if (typeof value !== 'string') return value === noSource ? [] : [Number(value)];
  return value
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(Number);
}

/**
 * Returns the value of a matrix target that is connected to `sources`: a list such as `3,17` if `isMany` is true, otherwise the first
 * source number or -1.
 */
export function valueOfSources(sources: readonly number[], isMany: boolean): Value {
  return isMany ? [...new Set(sources)].sort((one, other) => one - other).join(',') : (sources[0] ?? noSource);
}

/** Returns the point for a function without arguments: a trigger that can only be written. */
export function pointOfFunction({ description }: Contents): Point {
  return {
    type: 'T',
    access: 'write-only',
    about: description === undefined || description === '' ? {} : { label: description },
    accept: (input) => convert('T', input),
  };
}
