// Compiles the parameters and tables in the settings to items, which are objects of the device or of its notifications, and converts
// values.

import { parameterIdMistake } from '../../model/address.ts';
import { shortestFloat } from '../../model/digits.ts';
import { describe, HubError } from '../../model/error.ts';
import type { About, Access, ParameterDeclaration } from '../../model/parameter.ts';
import { convert, readNumber, type Value, type ValueType } from '../../model/value.ts';
import { type Expected, readExpected } from '../expected.ts';
import { combinationsOf, filled, readTemplate, type Template } from '../id-template.ts';
import type { ResolvePath, SettingMistake } from '../setting.ts';
import {
  decodeOid,
  encodeOid,
  floatOf,
  integerBytes,
  integerOf,
  ipOf,
  isOid,
  showValue,
  tags,
  textOf,
  type Varbind,
} from './message.ts';
import type { ColumnSettings, ObjectType, ParameterSettings, SnmpSettings } from './settings.ts';

/** The maximum number of parameters per connection, including the parameters of tables. */
export const maxParameters = 20_000;
/** The maximum length of a string to write, in bytes. */
const maxWrittenBytes = 1400;

/** The notifications that set a parameter. */
export interface TrapRule {
  /**
   * The value that each notification stands for, keyed by the notification's OID; undefined if the value comes from an object, and for a
   * trigger.
   */
  readonly values: ReadonlyMap<string, Value | undefined>;
  /** The values that objects in the notification must have, as text. */
  readonly where: readonly (readonly [oid: string, value: string])[];
}

type ReadSettings = Omit<ColumnSettings, 'oid'>;

/** A parameter and its object, or the notifications that set the parameter. */
export interface Item {
  readonly id: string;
  readonly type: ValueType;
  readonly access: Access;
  readonly isConfirmed: boolean;
  readonly everyMs: number;
  readonly confirm: 'read' | 'answer';
  /** Empty for a parameter that is set only by notifications, without an object. */
  readonly oid: string;
  readonly trap: TrapRule | undefined;
  readonly settings: ReadSettings;
}

/** A column of a table, and what all of its items have in common. */
export interface Column {
  readonly name: string;
  readonly oid: string;
  readonly draft: Omit<Item, 'id' | 'oid'>;
}

export interface Table {
  /** The parts of the Parameter IDs before and after the index. */
  readonly before: string;
  readonly after: string;
  readonly columns: readonly Column[];
  readonly labels: string | undefined;
  readonly everyMs: number;
  readonly maxRows: number;
}

export interface Items {
  readonly list: readonly Item[];
  readonly tables: readonly Table[];
  readonly mistakes: readonly SettingMistake[];
}

const compiled = new WeakMap<object, Items>();

/** Returns the items and tables in the settings, and all errors in them. The result is cached for these settings. */
export function itemsOf(settings: SnmpSettings): Items {
  let items = compiled.get(settings.parameters);
  if (items === undefined) {
    items = compile(settings);
    compiled.set(settings.parameters, items);
  }
  return items;
}

/** Returns whether an item's value is read from the device. Write-only items and items that are set only by notifications are not read. */
export function isRead({ access, trap }: Item): boolean {
  return trap === undefined && access !== 'write-only';
}

function compile(settings: SnmpSettings): Items {
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
    const names = template.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
    const oid = readOidTemplate(one.oid ?? '', names, (message) => add(message, 'oid'));
    const where = Object.entries(one.where ?? {}).map(([object, value]) =>
      [object, String(value)].map((written) => readOidTemplate(written, names, (message) => add(message, 'where'))),
    );
    const draft = parameterDraft(settings, one, add);
    if (draft === undefined || oid === undefined || mistakes.length > reported) continue;
    for (const values of combinationsOf(template)) {
      if (mistakes.length > reported) break; // all other items of the template would report the same errors
      if (list.length >= maxParameters) {
        add(`expected at most ${maxParameters} parameters in the connection`);
        break;
      }
      const id = filled(template, values);
      const its = filled(oid, values);
      const conditions = where.map((pair) => pair.map((part) => filled(part!, values)) as [string, string]);
      const idMistake = parameterIdMistake(id);
      const wrong = [...(its === '' ? [] : [its]), ...conditions.map(([object]) => object)].find(
        (text) => !isOid(text),
      );
      if (idMistake !== undefined) add(idMistake);
      else if (ids.has(id)) add(`expected each parameter once, got ${describe(id)} again`);
      else if (wrong !== undefined) add(`expected an OID such as '1.3.6.1.2.1.1.5.0', got ${describe(wrong)}`);
      ids.add(id);
      list.push({ ...draft, id, oid: its, trap: draft.trap && { ...draft.trap, where: conditions } });
    }
  }
  return { list, tables: tablesOf(settings, mistakes), mistakes };
}

function readOidTemplate(text: string, names: readonly string[], add: (message: string) => void): Template | undefined {
  const template = readTemplate(text, false);
  if (typeof template === 'string') return void add(template) as undefined;
  for (const part of template)
    if (typeof part !== 'string' && !names.includes(part.name))
      return void add(`expected only variables from the Parameter ID, got "{${part.name}}"`) as undefined;
  return template;
}

type Add = (message: string, ...path: string[]) => void;

function parameterDraft(
  settings: SnmpSettings,
  one: ParameterSettings,
  add: Add,
): Omit<Item, 'id' | 'oid'> | undefined {
  const { oid, trap, where, every, ...read } = one;
  const fail = (message: string, ...path: string[]) => void add(message, ...path) as undefined;
  if (oid === undefined && trap === undefined) return fail('expected `oid`, `trap`, or both');
  if (where !== undefined && trap === undefined) return fail('expected `where` only if `trap` is set', 'where');
  if (trap !== undefined && settings.traps === undefined)
    return fail('expected the connection to set `traps`, which receives notifications', 'trap');
  if (trap === undefined && settings.udp === undefined)
    return fail('expected `trap`, because the connection has no `udp`');
  if (trap !== undefined && (read.access !== 'read-only' || read.rate || every !== undefined))
    return fail('expected no `access`, `rate` or `every` for a parameter with `trap`', 'trap');
  const draft = draftOf(settings, read, every, add);
  if (draft === undefined || trap === undefined) return draft;
  const values = new Map<string, Value | undefined>(
    typeof trap === 'string'
      ? [[trap, undefined]]
      : Array.isArray(trap)
        ? trap.map((one) => [one, undefined])
        : Object.entries(trap),
  );
  const constants = [...values.values()].filter((value) => value !== undefined);
  if (constants.length > 0 && oid !== undefined)
    return fail('expected either `oid` or values in `trap`, not both', 'trap');
  if (new Set(constants.map((value) => typeof value)).size > 1) return fail('expected values of the same type', 'trap');
  const isWhole = constants.every((value) => Number.isSafeInteger(value));
  const [first] = constants;
  const type: ValueType =
    first === undefined
      ? oid === undefined
        ? 'T'
        : draft.type
      : typeof first === 'string'
        ? 'S'
        : typeof first === 'boolean'
          ? 'B'
          : isWhole
            ? 'I'
            : 'F';
  return { ...draft, type, trap: { values, where: [] } };
}

const textual: readonly ObjectType[] = ['text', 'hex', 'oid', 'ip'];

/** Returns an item without its ID and OID from its settings; undefined if the settings contain errors. */
function draftOf(
  settings: SnmpSettings,
  read: ReadSettings,
  every: number | undefined,
  add: Add,
): Omit<Item, 'id' | 'oid'> | undefined {
  const { as, scale, offset, rate, access, confirm } = read;
  const fail = (message: string, ...path: string[]) => void add(message, ...path) as undefined;
  const isNumber = !textual.includes(as) && as !== 'boolean';
  if (!isNumber && (scale !== 1 || offset !== 0)) return fail(`expected no \`scale\` or \`offset\` for ${as}`);
  if (rate && (!isNumber || as === 'float')) return fail(`expected \`rate\` only for integers and counters`, 'rate');
  if (rate && access !== 'read-only') return fail('expected `access` to be read-only for a rate', 'access');
  const isWhole = as !== 'float' && !rate && Number.isInteger(scale) && Number.isInteger(offset);
  const type: ValueType = as === 'boolean' ? 'B' : !isNumber ? 'S' : isWhole ? 'I' : 'F';
  return {
    ...{ type, access, isConfirmed: access === 'read-write', everyMs: every ?? settings.every },
    ...{ confirm: confirm ?? settings.confirm, trap: undefined, settings: read },
  };
}

const indexMark = '{index}';

function tablesOf(settings: SnmpSettings, mistakes: SettingMistake[]): Table[] {
  return Object.entries(settings.tables).flatMap(([key, table]): Table[] => {
    const add = (message: string, ...path: string[]) => void mistakes.push({ path: ['tables', key, ...path], message });
    const [before, after, ...more] = key.split(indexMark);
    if (after === undefined || more.length > 0) {
      add(`expected {index} once in the ID of a table, such as 'port/{index}', got ${describe(key)}`);
      return [];
    }
    const everyMs = table.every ?? settings.every;
    const columns: Column[] = [];
    for (const [name, { oid, ...read }] of Object.entries(table.columns)) {
      const mistake = parameterIdMistake(`${before}1${after}/${name}`);
      if (mistake !== undefined) add(mistake, 'columns', name);
      const draft = draftOf(settings, read, everyMs, (message, ...path) => add(message, 'columns', name, ...path));
      if (draft === undefined) continue;
      if (draft.access === 'write-only') add('expected read-only or read-write in a table', 'columns', name, 'access');
      columns.push({ name, oid, draft });
    }
    if (columns.length === 0 && mistakes.length === 0) add('expected at least one column', 'columns');
    if (table.labels !== undefined && !Object.hasOwn(table.columns, table.labels))
      mistakes.push({
        path: ['tables', key, 'labels'],
        unknown: 'column',
        name: table.labels,
        known: Object.keys(table.columns),
      });
    return [{ before: before!, after, columns, labels: table.labels, everyMs, maxRows: table.maxRows }];
  });
}

export function rowItem({ before, after }: Table, { name, oid, draft }: Column, index: string): Item {
  return { ...draft, id: `${before}${index}${after}/${name}`, oid: `${oid}.${index}` };
}

/** Returns the table item to which an ID would belong; undefined if no table has such IDs. */
function itemOfTables(tables: readonly Table[], id: string): Item | undefined {
  for (const table of tables)
    for (const column of table.columns) {
      const end = `${table.after}/${column.name}`;
      if (!id.startsWith(table.before) || !id.endsWith(end)) continue;
      const index = id.slice(table.before.length, id.length - end.length);
      if (/^\d+(?:\.\d+)*$/.test(index)) return rowItem(table, column, index);
    }
  return undefined;
}

/** Returns the items in the setting `expect`, and the errors in it. */
export function expectedOf(
  settings: SnmpSettings,
  resolvePath: ResolvePath,
): { readonly items: readonly Item[]; readonly mistakes: readonly SettingMistake[] } {
  const { tables, list } = itemsOf(settings);
  const own = new Set(list.map(({ id }) => id));
  const { list: expected, mistakes } = readExpected(settings.expect, resolvePath, (id, type) => {
    const item = itemOfTables(tables, id);
    if (item === undefined || own.has(id)) return `expected a table parameter, got ${describe(id)}`;
    return item.type === type
      ? undefined
      : `expected the value type ${item.type} for ${JSON.stringify(id)}, got ${type}`;
  });
  return { items: expected.map(({ id }: Expected) => itemOfTables(tables, id)!), mistakes };
}

export function declarationOf(item: Item, label?: string): ParameterDeclaration {
  const { unit, min, max, step, choices, description, class: kind } = item.settings;
  const own = item.settings.label;
  const whole = label === undefined ? own : own === undefined ? label : `${label} ${own}`;
  const given = Object.entries({ label: whole, unit, min, max, step, choices, description, class: kind }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...{ id: item.id, type: item.type, access: item.access, isConfirmed: item.isConfirmed },
    ...(item.access !== 'read-only' && { accept: (input: unknown) => acceptValue(item, input) }),
    ...(given.length > 0 && { about: Object.fromEntries(given) as About }),
  };
}

/** Converts a value to a value that the object can hold. Errors: `out-of-range`, `not-convertible`. */
export function acceptValue(item: Item, input: unknown): Value {
  const { min, max, choices } = item.settings;
  const isName = choices !== undefined && typeof input === 'string' && Object.hasOwn(choices, input);
  const value = convert(item.type, isName ? choices[input] : input);
  if (choices !== undefined && !Object.values(choices).includes(value))
    throw new HubError('out-of-range', `expected one of ${Object.keys(choices).join(', ')}, got ${describe(input)}`);
  if (typeof value === 'number' && ((min !== undefined && value < min) || (max !== undefined && value > max)))
    throw new HubError('out-of-range', `expected ${min ?? '−∞'} to ${max ?? '∞'}, got ${value}`);
  return decodeValue(item, { oid: item.oid, ...encodeValue(item, value) }).value ?? value;
}

// Objects and values

export interface Decoded {
  /** Undefined if the value is unknown. */
  readonly value?: Value | undefined;
  /** Why the value is unknown, unless this is normal. */
  readonly fault?: string;
}

/** Returns the value of an object. For a rate, returns the value of the counter. */
export function decodeValue({ type, settings, oid: name }: Item, varbind: Varbind): Decoded {
  const { tag, bytes, oid } = varbind;
  const { as, scale, offset, unknownIf } = settings;
  if (tag === tags.noSuchObject || tag === tags.noSuchInstance || tag === tags.endOfMibView)
    return { fault: `the device has no object ${name || oid}, or does not show it to this community or user` };
  if (tag === tags.null) return {};
  const integer = integerOf(varbind);
  if (textual.includes(as)) {
    const text = textIn(as, varbind) ?? (as === 'text' ? integer?.toString() : undefined);
    if (text === undefined) return faultOf(as, varbind);
    return text === unknownIf || text.length > 65_536 ? {} : { value: text };
  }
  if (as === 'boolean')
    return integer === 1n || integer === 2n ? { value: integer === 1n } : faultOf('1 (true) or 2 (false)', varbind);
  const float = floatOf(varbind);
  const number =
    integer === undefined ? (float ?? readNumber(tag === tags.octets ? textOf(bytes) : '')) : Number(integer);
  if (number === undefined) return faultOf('a number', varbind);
  if (number === unknownIf || !Number.isFinite(number)) return {};
  if (scale === 1 && offset === 0) {
    if (type !== 'I') return { value: float === undefined ? number : shortestFloat(float) };
    if (Number.isSafeInteger(number)) return { value: number };
    return Number.isInteger(number)
      ? { fault: `the value of ${oid} exceeds 2^53 and would not be exact; set \`as: 'text'\` to get all digits` }
      : faultOf('an integer; set `as: "float"` for others', varbind);
  }
  const value = Number((number * scale + offset).toPrecision(12));
  return { value: type === 'I' ? Math.round(value) : value };
}

function textIn(as: ObjectType, { tag, bytes }: Varbind): string | undefined {
  if (as === 'oid') return tag === tags.oid ? decodeOid(bytes) : undefined;
  if (as === 'ip') return tag === tags.ip || tag === tags.octets ? ipOf(bytes) : undefined;
  if (tag === tags.octets || tag === tags.opaque) return as === 'hex' ? bytes.toString('hex') : textOf(bytes);
  if (as === 'text' && tag === tags.oid) return decodeOid(bytes);
  return as === 'text' && tag === tags.ip ? ipOf(bytes) : undefined;
}

function faultOf(expected: string, varbind: Varbind): Decoded {
  return { fault: `expected ${expected} at ${varbind.oid}, got ${showValue(varbind).slice(0, 80)}; check \`as\`` };
}

const ranges: Readonly<Partial<Record<ObjectType, readonly [tag: number, least: bigint, most: bigint]>>> = {
  integer: [tags.integer, -(2n ** 31n), 2n ** 31n - 1n],
  unsigned: [tags.gauge32, 0n, 2n ** 32n - 1n],
  counter32: [tags.counter32, 0n, 2n ** 32n - 1n],
  counter64: [tags.counter64, 0n, 2n ** 64n - 1n],
  ticks: [tags.ticks, 0n, 2n ** 32n - 1n],
};

/** Returns the content of an object that holds a value. Errors: `out-of-range` if the object cannot hold the value. */
export function encodeValue({ settings }: Item, value: Value): Pick<Varbind, 'tag' | 'bytes'> {
  const { as, scale, offset } = settings;
  const refuse = (expected: string) => new HubError('out-of-range', `expected ${expected}, got ${describe(value)}`);
  const range = ranges[as];
  if (range !== undefined) {
    const [tag, least, most] = range;
    const number = Math.round((Number(value) - offset) / scale);
    const whole = Number.isFinite(number) ? BigInt(number) : most + 1n;
    if (whole < least || whole > most) {
      const bounds = [least, most].map((one) => Number((Number(one) * scale + offset).toPrecision(12)));
      throw refuse(bounds.sort((a, b) => a - b).join(' to '));
    }
    return { tag, bytes: integerBytes(whole) };
  }
  const text = String(value);
  switch (as) {
    case 'boolean':
      return { tag: tags.integer, bytes: Buffer.of(value === true ? 1 : 2) };
    case 'float': {
      const bytes = Buffer.from('9f780400000000', 'hex');
      if (!Number.isFinite(Math.fround((Number(value) - offset) / scale))) throw refuse('a 32-bit float');
      bytes.writeFloatBE((Number(value) - offset) / scale, 3);
      return { tag: tags.opaque, bytes };
    }
    case 'oid':
      if (!isOid(text)) throw refuse('an OID such as 1.3.6.1.2.1.1.5.0');
      return { tag: tags.oid, bytes: encodeOid(text) };
    case 'ip':
      if (!/^(?:(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(?:\.|$)){4}$/.test(text) || text.endsWith('.'))
        throw refuse('an IPv4 address such as 10.0.0.5');
      return { tag: tags.ip, bytes: Buffer.from(text.split('.').map(Number)) };
    case 'hex': {
      const digits = text.replaceAll(/[\s:-]/g, '');
      if (!/^(?:[\da-fA-F]{2})*$/.test(digits) || digits.length > 2 * maxWrittenBytes)
        throw refuse(`at most ${maxWrittenBytes} bytes in hexadecimal, such as 00:1a:ff`);
      return { tag: tags.octets, bytes: Buffer.from(digits, 'hex') };
    }
    default: {
      const bytes = Buffer.from(text);
      if (bytes.length > maxWrittenBytes) throw refuse(`text of at most ${maxWrittenBytes} bytes`);
      return { tag: tags.octets, bytes };
    }
  }
}
