// Compiles the parameters in the settings into items, each of which is an address in one of a unit's tables. Converts between registers and
// values. Joins items into blocks, each of which is read with one request.

import { parameterIdMistake } from '../../model/address.ts';
import { numberWithin, shortestFloat } from '../../model/digits.ts';
import { describe, HubError } from '../../model/error.ts';
import type { About, Access, ParameterDeclaration } from '../../model/parameter.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { combinationsOf, filled, readTemplate, type Template, type Variable } from '../id-template.ts';
import type { SettingMistake } from '../setting.ts';
import { mostRead, type Table, tableNames, tables } from './frame.ts';
import { isServer, type ModbusSettings, type ParameterSettings } from './settings.ts';

/** The maximum number of parameters in a connection. */
export const maxParameters = 20_000;
const lastAddress = 65_535;

/** A parameter and its address in one of a unit's tables. */
export interface Item {
  readonly id: string;
  readonly type: ValueType;
  readonly unitId: number;
  readonly table: Table;
  readonly address: number;
  /** The number of registers or bits that the item occupies. */
  readonly width: number;
  readonly access: Access;
  readonly isConfirmed: boolean;
  readonly everyMs: number;
  readonly settings: ParameterSettings;
  readonly isLowFirst: boolean;
}

export interface Items {
  readonly list: readonly Item[];
  readonly mistakes: readonly SettingMistake[];
  readonly hasSeveralUnits: boolean;
}

const compiled = new WeakMap<object, Items>();

/** Returns the items in the settings and all errors in them. The result is cached for each settings object. */
export function itemsOf(settings: ModbusSettings): Items {
  let items = compiled.get(settings.parameters);
  if (items === undefined) {
    items = compile(settings);
    compiled.set(settings.parameters, items);
  }
  return items;
}

export function isOfBits(table: Table): boolean {
  return table === 'coil' || table === 'discrete';
}

function isWritableTable(table: Table): boolean {
  return table === 'coil' || table === 'holding';
}

/** Returns the name of a unit, which also serves as the device name for the unit's parameters. */
export function unitName(unitId: number): string {
  return `unit ${unitId}`;
}

function compile(settings: ModbusSettings): Items {
  const list: Item[] = [];
  const mistakes: SettingMistake[] = [];
  const ids = new Set<string>();
  for (const [key, one] of Object.entries(settings.parameters)) {
    const add = (message: string, ...path: string[]) =>
      void mistakes.push({ path: ['parameters', key, ...path], message });
    const template = readTemplate(key, true);
    if (typeof template === 'string') {
      add(template);
      continue;
    }
    const reported = mistakes.length;
    const unit = readUnit(key, one.unitId ?? settings.unitId, template, mistakes);
    const drafts = draftOf(settings, one, add);
    if (drafts === undefined || unit === undefined) continue;
    const { table, start, width } = drafts;
    const inUnit = new Set(unit.flatMap((part) => (typeof part === 'string' ? [] : [part.name])));
    for (const values of combinationsOf(template)) {
      if (mistakes.length > reported) break; // all other items from the template would report the same errors
      if (list.length >= maxParameters) {
        add(`expected at most ${maxParameters} parameters in the connection`);
        break;
      }
      const id = filled(template, values);
      const address = start + positionOf(template, values, inUnit) * (one.stride ?? width);
      const unitId = Number(filled(unit, values));
      const idMistake = parameterIdMistake(id);
      if (idMistake !== undefined) add(idMistake);
      else if (ids.has(id)) add(`expected each parameter once, got ${describe(id)} again`);
      else if (address + width - 1 > lastAddress) add(`expected addresses up to ${lastAddress}`, table);
      else if (!Number.isInteger(unitId) || unitId < 0 || unitId > 255)
        add(`expected an integer 0..255, got ${describe(filled(unit, values))}`, 'unitId');
      ids.add(id);
      list.push({ ...drafts.item, id, address, unitId });
    }
  }
  return { list, mistakes, hasSeveralUnits: new Set(list.map(({ unitId }) => unitId)).size > 1 };
}

function readUnit(
  key: string,
  written: number | string,
  template: Template,
  mistakes: SettingMistake[],
): Template | undefined {
  const unit = readTemplate(String(written), false);
  if (typeof unit === 'string') {
    mistakes.push({ path: ['parameters', key, 'unitId'], message: unit });
    return undefined;
  }
  const names = template.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
  for (const part of unit)
    if (typeof part !== 'string' && !names.includes(part.name)) {
      mistakes.push({ path: ['parameters', key, 'unitId'], unknown: 'variable', name: part.name, known: names });
      return undefined;
    }
  return unit;
}

/** Returns the index of an ID among all IDs from its template, not counting the unit's variables. */
function positionOf(template: Template, values: ReadonlyMap<string, string>, but: ReadonlySet<string>): number {
  let position = 0;
  for (const part of template)
    if (typeof part !== 'string' && !but.has(part.name))
      position = position * part.values.length + (part as Variable).values.indexOf(values.get(part.name)!);
  return position;
}

/** Returns the properties that all items from a template share, or undefined if the template contains mistakes. */
function draftOf(
  settings: ModbusSettings,
  one: ParameterSettings,
  add: (message: string, ...path: string[]) => void,
): { table: Table; start: number; width: number; item: Omit<Item, 'id' | 'address' | 'unitId'> } | undefined {
  const fail = (message: string, ...path: string[]) => void add(message, ...path);
  const [table, ...others] = tables.filter((name) => one[name] !== undefined);
  if (table === undefined || others.length > 0)
    return fail('expected exactly one of `coil`, `discrete`, `input` and `holding`') as undefined;
  const { as, bit, length, scale, offset, unknownIf, confirm = settings.confirm } = one;
  const isBit = isOfBits(table) || bit !== undefined;
  if (isBit && (as !== 'u16' || scale !== 1 || offset !== 0 || unknownIf !== undefined || length !== undefined))
    return fail('expected no `as`, `length`, `scale`, `offset` or `unknownIf` for a bit') as undefined;
  if (isOfBits(table) && bit !== undefined)
    return fail(`expected no \`bit\` for a ${tableNames[table]}`, 'bit') as undefined;
  if ((as === 'text') !== (length !== undefined))
    return fail('expected `length` if `as` is "text", and only then', 'length') as undefined;
  if (as === 'text' && (scale !== 1 || offset !== 0 || unknownIf !== undefined))
    return fail('expected no `scale`, `offset` or `unknownIf` for text') as undefined;
  const canWrite = isServer(settings) || isWritableTable(table);
  const access = one.access ?? (canWrite ? 'read-write' : 'read-only');
  if (access !== 'read-only' && !canWrite)
    return fail(`expected \`access\` to be read-only for \`${table}\``, 'access') as undefined;
  if (access === 'write-only' && isServer(settings))
    return fail('expected `access` to be read-only or read-write in a server', 'access') as undefined;
  if (access === 'write-only' && bit !== undefined)
    return fail(
      'expected `access` to be read-write, because the other bits of the register are kept',
      'access',
    ) as undefined;
  const isConfirmed = !isServer(settings) && access === 'read-write';
  const width = isOfBits(table) ? 1 : (length ?? (as.endsWith('32') ? 2 : 1));
  const isWhole = as !== 'f32' && Number.isInteger(scale) && Number.isInteger(offset);
  const type: ValueType = isBit ? 'B' : as === 'text' ? 'S' : isWhole ? 'I' : 'F';
  return {
    ...{ table, width, start: one[table]! },
    item: {
      ...{ type, table, width, access, isConfirmed, everyMs: one.every ?? settings.every },
      settings: { ...one, confirm },
      isLowFirst: (one.wordOrder ?? settings.wordOrder) === 'low-first',
    },
  };
}

export function declarationsOf(settings: ModbusSettings): readonly ParameterDeclaration[] {
  const { list, hasSeveralUnits } = itemsOf(settings);
  return list.map((item): ParameterDeclaration => {
    const { label, unit, min, max, step, choices, description, class: kind } = item.settings;
    const given = Object.entries({ label, unit, min, max, step, choices, description, class: kind }).filter(
      ([, value]) => value !== undefined,
    );
    return {
      ...{ id: item.id, type: item.type, access: item.access, isConfirmed: item.isConfirmed },
      ...(item.access !== 'read-only' && { accept: (input: unknown) => acceptValue(item, input) }),
      ...(given.length > 0 && { about: Object.fromEntries(given) as About }),
      ...(hasSeveralUnits && { device: unitName(item.unitId) }),
    };
  });
}

/** Converts the input of a write to a value that the item's registers can hold. Errors: `out-of-range`, `not-convertible`. */
export function acceptValue(item: Item, input: unknown): Value {
  const { type, settings } = item;
  const { min, max, choices } = settings;
  const isName = choices !== undefined && typeof input === 'string' && Object.hasOwn(choices, input);
  const value = convert(type, isName ? choices[input] : input);
  if (choices !== undefined && !Object.values(choices).includes(value))
    throw new HubError('out-of-range', `expected one of ${Object.keys(choices).join(', ')}, got ${describe(input)}`);
  if (typeof value === 'number' && ((min !== undefined && value < min) || (max !== undefined && value > max)))
    throw new HubError('out-of-range', `expected ${numberWithin(min, max)}, got ${value}`);
  return type === 'B' ? value : decodeRegisters(item, encodeRegisters(item, value), 0)!;
}

// Registers and values

/** The lowest and highest numbers that the registers can hold, keyed by register type. */
const ranges = {
  u16: [0, 0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  i32: [-0x8000_0000, 0x7fff_ffff],
} as const;

/** Returns the value in registers that begin at a byte offset, or undefined if the value is unknown. */
export function decodeRegisters(
  { type, width, settings, isLowFirst }: Item,
  bytes: Buffer,
  at: number,
): Value | undefined {
  const { as, bit, scale, offset, unknownIf } = settings;
  if (bit !== undefined) return (bytes.readUInt16BE(at) & (1 << bit)) !== 0;
  if (as === 'text') {
    const text = bytes.toString('latin1', at, at + 2 * width);
    return text.replace(/\0.*$/s, '').trimEnd();
  }
  const number = readNumber(as, bytes, at, isLowFirst);
  if (Number.isNaN(number) || number === unknownIf || !Number.isFinite(number)) return undefined;
  if (scale === 1 && offset === 0) return as === 'f32' ? shortestFloat(number) : number;
  const value = Number((number * scale + offset).toPrecision(as === 'f32' ? 7 : 12));
  return type === 'I' ? Math.round(value) : value;
}

function readNumber(
  as: Exclude<ParameterSettings['as'], 'text'>,
  bytes: Buffer,
  at: number,
  isLowFirst: boolean,
): number {
  if (as === 'u16') return bytes.readUInt16BE(at);
  if (as === 'i16') return bytes.readInt16BE(at);
  const words = Buffer.from(bytes.subarray(at, at + 4));
  if (isLowFirst) words.swap16().swap32(); // the second word first, with its bytes in order
  return as === 'u32' ? words.readUInt32BE() : as === 'i32' ? words.readInt32BE() : words.readFloatBE();
}

/** Returns the registers for a value that is not a bit. Errors: `out-of-range` if the registers cannot hold the value. */
export function encodeRegisters({ width, settings, isLowFirst }: Item, value: Value): Buffer {
  const { as, scale, offset } = settings;
  const bytes = Buffer.alloc(2 * width);
  if (as === 'text') {
    const text = String(value);
    if (text.length > 2 * width || !/^[^\0\u0100-\uffff]*$/.test(text))
      throw new HubError('out-of-range', `expected at most ${2 * width} Latin-1 characters, got ${describe(text)}`);
    bytes.write(text, 'latin1');
    return bytes;
  }
  const number = (Number(value) - offset) / scale;
  if (as === 'f32') {
    if (!Number.isFinite(Math.fround(number)))
      throw new HubError('out-of-range', `expected a 32-bit float, got ${describe(value)}`);
    bytes.writeFloatBE(number);
  } else {
    const whole = Math.round(number);
    const [least, most] = ranges[as];
    if (whole < least || whole > most) {
      const bounds = [least, most]
        .map((bound) => Number((bound * scale + offset).toPrecision(12)))
        .sort((a, b) => a - b);
      throw new HubError('out-of-range', `expected ${numberWithin(bounds[0], bounds[1])}, got ${describe(value)}`);
    }
    if (width === 1) bytes.writeUInt16BE(whole & 0xffff);
    else bytes.writeUInt32BE(whole >>> 0);
  }
  return width === 2 && isLowFirst ? bytes.swap16().swap32() : bytes;
}

// Blocks

/** Consecutive items in a table that are read with one request. */
export interface Block {
  readonly unitId: number;
  readonly table: Table;
  readonly address: number;
  readonly count: number;
  readonly items: readonly Item[];
  readonly everyMs: number;
}

/** Joins items into as few blocks as possible. Two items in a block are separated by at most `gap` unused registers. */
export function blocksOf(items: readonly Item[], gap: number, maxRegisters: number): Block[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = `${item.unitId} ${item.table} ${item.everyMs}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].flatMap((group) => {
    const { table } = group[0]!;
    const most = isOfBits(table) ? mostRead[table] : maxRegisters;
    const allowed = isOfBits(table) ? gap * 16 : gap;
    const blocks: Block[] = [];
    let part: Item[] = [];
    let end = 0;
    for (const item of group.sort((a, b) => a.address - b.address)) {
      const itsEnd = item.address + item.width;
      if (part.length > 0 && (item.address > end + allowed || Math.max(end, itsEnd) - part[0]!.address > most)) {
        blocks.push(blockOf(part));
        part = [];
        end = 0;
      }
      part.push(item);
      end = Math.max(end, itsEnd);
    }
    return [...blocks, blockOf(part)];
  });
}

function blockOf(items: readonly Item[]): Block {
  const { unitId, table, address, everyMs } = items[0]!;
  const end = Math.max(...items.map((item) => item.address + item.width));
  return { unitId, table, address, count: end - address, items, everyMs };
}

/**
 * Splits a block that the device refuses to read, at unused registers if there are any, otherwise in half. Overlapping items stay together.
 */
export function splitBlock({ items }: Block): Block[] {
  const parts = blocksOf(items, 0, 125);
  if (parts.length > 1) return parts;
  const middle = items[items.length >> 1]!.address;
  const halves = [items.filter(({ address }) => address < middle), items.filter(({ address }) => address >= middle)];
  return halves.filter((half) => half.length > 0).map(blockOf);
}

/** Returns the values of a block's items from the data in an answer, or undefined if the data is too short. */
export function valuesIn({ table, address, items, count }: Block, data: Buffer): (Value | undefined)[] | undefined {
  if (isOfBits(table)) {
    if (data.length < Math.ceil(count / 8)) return undefined;
    return items.map((item) => (data[(item.address - address) >> 3]! & (1 << ((item.address - address) & 7))) !== 0);
  }
  if (data.length < 2 * count) return undefined;
  return items.map((item) => decodeRegisters(item, data, 2 * (item.address - address)));
}
