// Compiles the addresses in the settings. Each OSC address becomes a binding. Each argument of a binding is either a part, which is a
// parameter, or a constant. A template stands for many addresses, such as `ch/{n:1..32}/fader` for `/ch/{n:00}/mix/fader`.

import { parameterIdMistake } from '../../model/address.ts';
import { numberWithin, shortestFloat } from '../../model/digits.ts';
import { describe, HubError, messageOf } from '../../model/error.ts';
import type { About, Access, ParameterDeclaration } from '../../model/parameter.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import { combinationsOf, filled, readTemplate, type Template, type Variable } from '../id-template.ts';
import type { SettingMistake } from '../setting.ts';
import { decodePacket, encodeMessage, maxAddressBytes, type OscMessage, type OscValue } from './packet.ts';
import type { ArgumentSetting, OscSettings, ParameterSettings } from './settings.ts';

/** The maximum number of parameters in a connection. */
export const maxParameters = 20_000;

/** A parameter: an argument in the messages of its binding, or the whole message if the message has no arguments. */
export interface Part {
  readonly id: string;
  readonly type: ValueType;
  readonly binding: Binding;
  /** The index of the argument, not counting brackets, or −1 if the message has no arguments. */
  readonly place: number;
  /** The OSC type tag of the argument, or '' if the message has no arguments. */
  readonly tag: string;
  readonly isConfirmed: boolean;
  readonly settings: ParameterSettings;
}

type Item = Part | { readonly tag: string; readonly constant: OscValue } | { readonly bracket: '[' | ']' };

/** An OSC address in the settings, with the arguments of its messages. */
export interface Binding {
  readonly address: string;
  readonly items: readonly Item[];
  readonly parts: readonly Part[];
  /** The constants that a message must contain, with their argument indexes. */
  readonly constants: readonly (readonly [place: number, value: OscValue])[];
  readonly access: Access;
  readonly confirm: OscSettings['confirm'];
  /**
   * The interval at which the hub asks the peer for the value, in milliseconds; 0 means once after each connect, and undefined means never.
   */
  readonly askEveryMs: number | undefined;
}

export interface Bindings {
  readonly bindings: readonly Binding[];
  readonly parts: ReadonlyMap<string, Part>;
  readonly mistakes: readonly SettingMistake[];
}

const compiled = new WeakMap<object, Bindings>();

/** Compiles the parameters in the settings and collects all mistakes. The result is cached for each settings object. */
export function bindingsOf(settings: OscSettings): Bindings {
  const known = compiled.get(settings.parameters);
  if (known !== undefined) return known;
  const bindings = new Compiler(settings).compile();
  compiled.set(settings.parameters, bindings);
  return bindings;
}

export function declarationOf(part: Part): ParameterDeclaration {
  const { label, unit, min, max, step, choices, description, class: kind } = part.settings;
  const given = Object.entries({ label, unit, min, max, step, choices, description, class: kind }).filter(
    ([, value]) => value !== undefined,
  );
  const { access } = part.binding;
  return {
    id: part.id,
    type: part.type,
    access,
    isConfirmed: part.isConfirmed,
    ...(access !== 'read-only' && part.type !== 'T' && { accept: (input: unknown) => acceptValue(part, input) }),
    ...(given.length > 0 && { about: Object.fromEntries(given) as About }),
  };
}

/** Converts the input of a write to a value that the OSC argument can carry. Errors: `out-of-range`, `not-convertible`. */
export function acceptValue({ type, tag, settings: { min, max, choices } }: Part, input: unknown): Value {
  const named =
    choices !== undefined && typeof input === 'string' && Object.hasOwn(choices, input) ? choices[input] : input;
  const value = convert(type, named);
  if (choices !== undefined && !Object.values(choices).includes(value))
    throw new HubError('out-of-range', `expected one of ${Object.keys(choices).join(', ')}, got ${describe(input)}`);
  if (typeof value === 'number' && ((min !== undefined && value < min) || (max !== undefined && value > max)))
    throw new HubError('out-of-range', `expected ${numberWithin(min, max)}, got ${value}`);
  return carried(type, tag, value);
}

/** Returns the value that the receiver decodes if `value` is sent with this type tag. Errors: `out-of-range`. */
function carried(type: ValueType, tag: string, value: Value): Value {
  if (tag === 'i') {
    const integer = Math.round(Number(value));
    if (integer !== (integer | 0))
      throw new HubError('out-of-range', `expected a 32-bit integer, got ${describe(value)}`);
    return type === 'F' ? integer : value;
  }
  if (tag === 'f') {
    const float = Math.fround(Number(value));
    if (!Number.isFinite(float)) throw new HubError('out-of-range', `expected a 32-bit float, got ${describe(value)}`);
    return typeof value === 'number' ? shortestFloat(float) : value;
  }
  if (tag !== '' && 'sSbcrm'.includes(tag))
    try {
      return (decodePacket(encodeMessage('/', tag, [value])) as OscMessage).args[0] as Value; // normalizes hexadecimal digits
    } catch (error) {
      throw new HubError('out-of-range', messageOf(error));
    }
  return value;
}

/** Encodes the message for a binding; `read` returns the value of each part. Errors: `Error` with a readable message. */
export function encodeBinding({ address, items }: Binding, read: (part: Part) => Value | undefined): Buffer {
  let tags = '';
  const args: OscValue[] = [];
  for (const item of items) {
    if ('bracket' in item) {
      tags += item.bracket;
      continue;
    }
    const value = 'constant' in item ? item.constant : item.type === 'T' ? 1 : read(item);
    if (value === undefined) throw new Error(`the value of ${(item as Part).id} in the same message is unknown`);
    args.push('constant' in item ? value : sentValue(item.tag, value as Value));
    tags += item.tag === 'T' ? (truth(value) ? 'T' : 'F') : item.tag;
  }
  return encodeMessage(address, tags, args);
}

/** Encodes the message that asks the peer for a binding's value: the address and the constants that precede the first part. */
export function encodeQuery({ address, items }: Binding): Buffer {
  const before = items.slice(
    0,
    items.findIndex((item) => 'id' in item),
  );
  const constants = before.filter((item) => 'constant' in item);
  return encodeMessage(
    address,
    constants.map(({ tag }) => tag).join(''),
    constants.map(({ constant }) => constant),
  );
}

function sentValue(tag: string, value: Value): OscValue {
  if (tag === 'i' || tag === 'h') return Math.round(Number(value));
  return value;
}

function truth(value: OscValue): boolean {
  return value === true || (typeof value === 'number' && value > 0);
}

/** The default type tag for each value type. */
const tagOfType: Readonly<Record<ValueType, string>> = { S: 's', B: 'i', I: 'i', F: 'f', T: '' };

function typeOfTag(tag: string): ValueType {
  if (tag === 'f' || tag === 'd' || tag === 't') return 'F';
  if (tag === 'i' || tag === 'h') return 'I';
  return tag === 'T' ? 'B' : 'S';
}

class Compiler {
  readonly #settings: OscSettings;
  readonly #mistakes: SettingMistake[] = [];
  readonly #parts = new Map<string, Part>();
  readonly #bindings: Binding[] = [];

  constructor(settings: OscSettings) {
    this.#settings = settings;
  }

  compile(): Bindings {
    for (const [id, settings] of Object.entries(this.#settings.parameters)) this.#parameter(id, settings);
    return { bindings: this.#bindings, parts: this.#parts, mistakes: this.#mistakes };
  }

  #add(path: SettingMistake['path'], message: string, offset?: number): void {
    this.#mistakes.push({ path: ['parameters', ...path], message, offset });
  }

  #parameter(id: string, settings: ParameterSettings): void {
    const template = readTemplate(id, true);
    if (typeof template === 'string') {
      this.#add([id], template);
      return;
    }
    const address = readTemplate(settings.address, false);
    if (typeof address === 'string') {
      this.#add([id, 'address'], address);
      return;
    }
    const names = template.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
    if (new Set(names).size < names.length) {
      this.#add([id], `expected each variable once, got ${describe(id)}`);
      return;
    }
    const unknown = this.#unknownVariable(id, address, names);
    const count = template.reduce((product, part) => product * (typeof part === 'string' ? 1 : part.values.length), 1);
    if (this.#parts.size + count > maxParameters) {
      this.#add([id], `expected at most ${maxParameters} parameters in the connection`);
      return;
    }
    const items = this.#itemsOf(id, settings, names);
    if (unknown || items === undefined) return;
    const reported = this.#mistakes.length;
    for (const values of combinationsOf(template)) {
      this.#binding(id, settings, { id: filled(template, values), address: filled(address, values), values, items });
      if (this.#mistakes.length > reported) return; // all other addresses from the template would report the same errors
    }
  }

  #unknownVariable(id: string, template: Template, names: readonly string[]): boolean {
    const unknown = template.flatMap((part) =>
      typeof part === 'string' || names.includes(part.name) ? [] : [part.name],
    );
    for (const name of unknown)
      this.#mistakes.push({ path: ['parameters', id, 'address'], unknown: 'variable', name, known: names });
    const used = new Set(template.flatMap((part) => (typeof part === 'string' ? [] : [part.name])));
    const inArgs = JSON.stringify(this.#settings.parameters[id]!.args ?? '');
    const unused = names.filter((name) => !used.has(name) && !inArgs.includes(`{${name}`));
    if (unknown.length === 0 && unused.length > 0)
      this.#add(
        [id, 'address'],
        `expected the variable {${unused[0]}} of the Parameter ID in the address or the arguments`,
      );
    return unknown.length > 0 || unused.length > 0;
  }

  /** Returns the arguments of a binding. Reports mistakes and then returns undefined. */
  #itemsOf(id: string, settings: ParameterSettings, names: readonly string[]): readonly Draft[] | undefined {
    const { args, arg, type, access } = settings;
    if (arg !== undefined) {
      if (args !== undefined) return this.#fail([id, 'arg'], 'expected either `arg` or `args`, got both');
      if (access !== undefined && access !== 'read-only')
        return this.#fail(
          [id, 'access'],
          'expected `access` to be read-only with `arg`, because the other arguments are unknown',
        );
      return [{ name: undefined, tag: '', place: arg }];
    }
    const written: readonly ArgumentSetting[] =
      args === undefined
        ? type === undefined || type === 'T'
          ? []
          : [tagOfType[type]]
        : ([args].flat() as ArgumentSetting[]);
    const drafts: Draft[] = [];
    let place = 0;
    let depth = 0;
    for (const [index, one] of written.entries()) {
      const path = Array.isArray(args) ? [id, 'args', index] : [id, 'args'];
      const draft = draftOf(one, place);
      if ('bracket' in draft) {
        depth += draft.bracket === '[' ? 1 : -1;
        if (depth < 0) return this.#fail(path, 'expected a "[" before each "]"');
      } else place++;
      if ('constant' in draft && typeof draft.constant === 'string') {
        const template = readTemplate(draft.constant, false);
        const bad =
          typeof template === 'string'
            ? undefined
            : template.find((part) => typeof part !== 'string' && !names.includes(part.name));
        if (bad !== undefined) {
          this.#mistakes.push({
            path: ['parameters', ...path],
            unknown: 'variable',
            name: (bad as Variable).name,
            known: names,
          });
          return undefined;
        }
      }
      drafts.push(draft);
    }
    if (depth > 0) return this.#fail([id, 'args'], 'expected a "]" after each "["');
    const values = drafts.filter((draft): draft is PartDraft => 'name' in draft);
    const named = values.filter(({ name }) => name !== undefined);
    if (named.length > 0 && named.length < values.length)
      return this.#fail([id, 'args'], 'expected names for all parts, such as "x:f", or for none of them');
    if (named.length === 0 && values.length > 1)
      return this.#fail([id, 'args'], 'expected names for several parts, such as ["x:f", "y:f"]');
    if (named.length > 0 && type !== undefined)
      return this.#fail([id, 'type'], 'expected no type: each named part takes its type from its type tag');
    if (new Set(named.map(({ name }) => name)).size < named.length)
      return this.#fail([id, 'args'], 'expected a different name for each part');
    if (values.length === 0 && type !== undefined && type !== 'T')
      return this.#fail([id, 'args'], `expected an argument with the value of type ${type}`);
    return drafts;
  }

  #fail(path: SettingMistake['path'], message: string): undefined {
    this.#add(path, message);
    return undefined;
  }

  #binding(template: string, settings: ParameterSettings, one: Instance): void {
    const { id, address } = one;
    const mistake = addressMistake(address);
    if (mistake !== undefined) {
      this.#add([template, 'address'], mistake);
      return;
    }
    const items: Item[] = [];
    const parts: Part[] = [];
    const constants: [number, OscValue][] = [];
    const access = accessOf(settings, this.#settings);
    const { ask, confirm = this.#settings.confirm } = settings;
    const askEveryMs = ask === false ? undefined : ask === true ? 0 : ask;
    const binding: Binding = { address, items, parts, constants, access, confirm, askEveryMs };
    const add = (name: string | undefined, tag: string, place: number) => {
      const partId = name === undefined ? id : `${id}/${name}`;
      const type = settings.type ?? (place < 0 ? 'T' : tag === '' ? 'F' : typeOfTag(tag));
      const isConfirmed = access === 'read-write' && confirm !== 'none' && type !== 'T';
      const part: Part = { id: partId, type, binding, place, tag, isConfirmed, settings };
      const wrong = parameterIdMistake(partId);
      if (wrong !== undefined) this.#add([template], wrong);
      else if (this.#parts.has(partId))
        this.#add([template], `expected each parameter once, got ${describe(partId)} twice`);
      else {
        this.#parts.set(partId, part);
        parts.push(part);
        if (settings.arg === undefined && place >= 0) items.push(part);
      }
    };
    for (const draft of one.items) {
      if ('bracket' in draft) items.push(draft);
      else if ('name' in draft) add(draft.name, draft.tag, draft.place);
      else {
        const constant = constantOf(draft, one.values);
        items.push({ tag: draft.tag, constant });
        constants.push([draft.place, constant]);
      }
    }
    if (parts.length === 0 && one.items.every((draft) => !('name' in draft))) add(undefined, '', -1);
    if (askEveryMs !== undefined && (access === 'write-only' || parts.every(({ type }) => type === 'T')))
      this.#add([template, 'ask'], 'expected `ask` only on a readable parameter with a value');
    this.#bindings.push(binding);
    try {
      encodeBinding(binding, (part) => sampleOf(part.tag));
    } catch (error) {
      this.#add([template, 'args'], messageOf(error));
    }
  }
}

interface Instance {
  readonly id: string;
  readonly address: string;
  readonly values: ReadonlyMap<string, string>;
  readonly items: readonly Draft[];
}

interface PartDraft {
  readonly name: string | undefined;
  readonly tag: string;
  readonly place: number;
}
interface ConstantDraft {
  readonly tag: string;
  readonly constant: OscValue;
  readonly place: number;
}
type Draft = PartDraft | ConstantDraft | { readonly bracket: '[' | ']' };

function draftOf(written: ArgumentSetting, place: number): Draft {
  if (written === '[' || written === ']') return { bracket: written };
  if (typeof written === 'string') {
    const colon = written.lastIndexOf(':');
    return { name: colon < 0 ? undefined : written.slice(0, colon), tag: written.slice(colon + 1), place };
  }
  if (typeof written === 'boolean') return { tag: written ? 'T' : 'F', constant: written, place };
  if (typeof written === 'number') return { tag: Number.isInteger(written) ? 'i' : 'f', constant: written, place };
  const [[tag, constant] = ['N', null]] = Object.entries(written).filter(([, value]) => value !== undefined);
  return { tag, constant: tag === 'N' ? null : tag === 'I' ? 1 : (constant as string | number), place };
}

/** Replaces the variables in a constant, and converts the result to the type that its tag requires. */
function constantOf({ tag, constant }: ConstantDraft, values: ReadonlyMap<string, string>): OscValue {
  if (typeof constant !== 'string') return constant;
  const template = readTemplate(constant, false);
  const text = typeof template === 'string' ? constant : filled(template, values);
  return 'ifdht'.includes(tag) ? Number(text) : text;
}

/** Returns a valid sample value for a type tag, which is used to check the rest of the message. */
function sampleOf(tag: string): Value {
  return tag === 'c'
    ? 'x'
    : tag === 'r'
      ? '#00000000'
      : tag === 'm'
        ? '00000000'
        : tag === 's' || tag === 'S' || tag === 'b'
          ? ''
          : 0;
}

/** Returns the access of a parameter. A connection without destinations can only receive. */
function accessOf({ access, arg }: ParameterSettings, { udp, tcp, tcpListen }: OscSettings): Access {
  if (access !== undefined) return access;
  if (arg !== undefined) return 'read-only';
  return udp === undefined && tcp === undefined && tcpListen === undefined ? 'read-only' : 'read-write';
}

function addressMistake(address: string): string | undefined {
  if (!/^(?:\/[^\s#*,/?[\]{}\p{Cc}]+)+$/u.test(address))
    return `expected an OSC address such as "/ch/01/mix/fader", without spaces or any of # * , ? [ ] { }, got ${describe(address)}`;
  if (Buffer.byteLength(address) > maxAddressBytes - 4)
    return `expected an address of at most ${maxAddressBytes - 4} bytes`;
  return undefined;
}
