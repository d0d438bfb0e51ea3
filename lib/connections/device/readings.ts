// Applies messages from a device to parameters and keeps track of the discovered parameters.

import { ownText } from '../../device/frames.ts';
import { itemsAt, Message, partAt } from '../../device/message.ts';
import { messageOf } from '../../model/error.ts';
import { convert, toText, type Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import {
  type Ask,
  type Compiled,
  type Family,
  type Group,
  type Instance,
  maxParameters,
  type PlainRead,
  type Read,
} from './compiled.ts';
import type { Each } from './description.ts';

/** The callbacks for the events that messages cause. */
export interface ReadingEvents {
  /** Reports a value, or undefined if the device does not know the value. */
  set(instance: Instance, value: Value | undefined): void;
  discovered(instance: Instance): void;
  withdrawn(instance: Instance): void;
  /** Called when a group item has announced a parameter without its value. The hub must then ask for the value. */
  announced(instance: Instance, ask: Ask): void;
  /** Called when the hub must ask about a group again. */
  changed(groupName: string): void;
}

/** The number of messages so far. The counter is global, because connections with the same description share parameter objects. */
let messages = 0;

export class Readings {
  readonly #compiled: Compiled;
  readonly #log: Log;
  readonly #events: ReadingEvents;
  /** The values that a pattern without expressions has read from the current message. The list is reused for every message. */
  readonly #values: (Value | undefined)[] = [];
  /** The discovered parameters of each family, keyed by the family's `keyOf` for their variables. */
  readonly #discoveredOf = new Map<Family, Map<string, Instance>>();
  #discovered = 0;
  /** The number of the message that is being read. */
  #message = 0;

  constructor(compiled: Compiled, log: Log, events: ReadingEvents) {
    this.#compiled = compiled;
    this.#log = log;
    this.#events = events;
  }

  /**
   * Must be called before a message is applied. If several patterns read the same parameter from one message, only the first pattern sets
   * it.
   */
  begin(): void {
    this.#message = ++messages;
  }

  /** Handles a message that the device has sent on its own. Returns false if no pattern matches. */
  readUnasked(message: Message): boolean {
    let isKnown = false;
    for (const one of this.#compiled.unasked.candidates(message)) {
      const plain = 'read' in one ? one.read.plain : undefined;
      if (plain !== undefined) {
        if (this.#applyPlain(plain, message)) isKnown = true;
        continue;
      }
      const found = one.matcher.match(message);
      if (found === undefined) continue;
      isKnown = true;
      if ('read' in one) this.apply(one.read, found, true);
      else if ('group' in one) this.readGroup(one.group, message, false, found);
      else {
        for (const name of one.asks) this.#events.changed(name);
        for (const { family } of one.withdraws) this.#withdraw(family, found);
      }
    }
    for (const group of this.#compiled.heads) {
      if (!message.text.startsWith(group.head!)) continue;
      isKnown = true;
      this.readGroup(group, message, false);
    }
    return isKnown;
  }

  /** Like `apply`, but for a plain read. Returns false if the pattern does not match. */
  #applyPlain({ pattern, family, value, variables }: PlainRead, message: Message): boolean {
    const values = this.#values;
    if (!pattern.read(message.text, values)) return false;
    const instance = family.findAt(values, variables);
    if (instance === undefined || instance.setBy === this.#message) return true;
    try {
      this.take(instance, family.type === 'T' ? 1 : values[value]);
    } catch (error) {
      this.#warn(family, error);
    }
    return true;
  }

  #warn(family: Family, error: unknown): void {
    this.#log.warn({}, `cannot read ${family.name}: ${messageOf(error)}`, `cannot read ${family.name}`);
  }

  /** Sets the parameter that a pattern has read. If `isFirst` is true, the parameter is set only if the message has not set it yet. */
  apply(
    { family, value: compute, where }: Read,
    found: ReadonlyMap<string, Value>,
    isFirst = false,
  ): Instance | undefined {
    let values = found as Map<string, Value>;
    try {
      if (where.length > 0) values = new Map([...found, ...where.map(([name, of]) => [name, of(found)] as const)]);
      const instance = this.#find(family, values) ?? (family.isDiscovered ? this.#discover(family, values) : undefined);
      if (instance === undefined || (isFirst && instance.setBy === this.#message)) return undefined;
      instance.setBy = this.#message;
      if (family.isUnknown !== undefined && !family.isUnknownByValue && family.isUnknown(values) === true) {
        this.#setUnknown(instance);
        return instance;
      }
      const value = family.type === 'T' ? 1 : compute === undefined ? values.get('value') : compute(values);
      this.take(instance, value, values);
      return instance;
    } catch (error) {
      this.#warn(family, error);
      return undefined;
    }
  }

  #find(family: Family, values: ReadonlyMap<string, Value>): Instance | undefined {
    return family.isDiscovered ? this.#discoveredOf.get(family)?.get(family.keyOf(values)) : family.find(values);
  }

  instancesOf(family: Family): Iterable<Instance> {
    return family.isDiscovered ? (this.#discoveredOf.get(family)?.values() ?? []) : family.instances;
  }

  /**
   * Returns the parameter with these variables. If the parameter is new, the hub asks for its value and declares the parameter after the
   * answer.
   */
  #findInstance({ family }: Read, found: ReadonlyMap<string, Value>): Instance | undefined {
    const instance = this.#find(family, found);
    if (instance !== undefined || family.ask === undefined) return instance;
    const values = new Map(family.variables.map((name) => [name, found.get(name) ?? '']));
    const id = `${family.name} ${[...values.values()].join(' ')}`;
    this.#events.announced({ id, family, values, setBy: 0 }, family.ask);
    return undefined;
  }

  #discover(family: Family, values: ReadonlyMap<string, Value>): Instance | undefined {
    if (this.#discovered >= maxParameters) {
      this.#log.warn({}, `the device has more than ${maxParameters} parameters; one was ignored`);
      return undefined;
    }
    const instance = family.discover(values);
    if (instance === undefined) return undefined;
    const ofFamily = this.#discoveredOf.get(family) ?? new Map<string, Instance>();
    this.#discoveredOf.set(family, ofFamily.set(family.keyOf(instance.values), instance));
    this.#discovered++;
    this.#events.discovered(instance);
    return instance;
  }

  /** Withdraws a discovered parameter, given the values of its variables. */
  #withdraw(family: Family, found: ReadonlyMap<string, Value>): void {
    const instance = this.#find(family, found);
    if (instance !== undefined) this.#forget(instance);
  }

  #forget(instance: Instance): void {
    this.#discoveredOf.get(instance.family)?.delete(instance.family.keyOf(instance.values));
    this.#discovered--;
    this.#events.withdrawn(instance);
  }

  /** Sets a parameter to a value reported by the device. Errors: any error from `convert`. */
  take(instance: Instance, reported: Value | undefined, values?: ReadonlyMap<string, Value>): void {
    const { family } = instance;
    if (reported === undefined) return;
    instance.setBy = this.#message;
    if (family.isUnknown !== undefined && family.isUnknownByValue) {
      const scope = new Map([...(values ?? []), ['value', reported]] as [string, Value][]);
      if (family.isUnknown(scope) === true) {
        this.#setUnknown(instance);
        return;
      }
    }
    if (typeof reported !== 'string') {
      this.set(instance, convert(family.type, reported));
      return;
    }
    const { choices } = family.described;
    const named = choices !== undefined && Object.hasOwn(choices, reported) ? choices[reported]! : ownText(reported);
    this.set(instance, convert(family.type, named));
  }

  set(instance: Instance, value: Value): void {
    this.#events.set(instance, value);
  }

  #setUnknown(instance: Instance): void {
    if (instance.family.type !== 'T') this.#events.set(instance, undefined);
  }

  /** Returns whether a message contains an item for the group. */
  hasItem({ head, each, index }: Group, message: Message): boolean {
    const isHeaded = head !== undefined && message.text.startsWith(head);
    return itemsOf(isHeaded ? new Message(message.text.slice(head.length)) : message, each).some((item) =>
      index.candidates(item).some(({ matcher }) => matcher.match(item) !== undefined),
    );
  }

  /**
   * Reads a message that contains a group. If `isWhole` is true, parameters that are missing from the message are withdrawn or become
   * unknown.
   */
  readGroup(group: Group, whole: Message, isWhole: boolean, ofWhole: ReadonlyMap<string, Value> = new Map()): void {
    const { head, each, index, families } = group;
    const seen = new Set<Instance>();
    const items = ofWhole.get('items');
    const body =
      items !== undefined
        ? new Message(toText(items))
        : head !== undefined && whole.text.startsWith(head)
          ? new Message(whole.text.slice(head.length))
          : whole;
    for (const [place, item] of itemsOf(body, each).entries())
      for (const one of index.candidates(item)) {
        const found = one.matcher.match(item);
        if (found === undefined) continue;
        found.set('index', place);
        for (const [name, value] of ofWhole) if (name !== 'items' && !found.has(name)) found.set(name, value);
        const instance = one.isFinding ? this.#findInstance(one, found) : this.apply(one, found);
        if (instance !== undefined) seen.add(instance);
      }
    if (!isWhole) return;
    for (const family of families)
      for (const instance of [...this.instancesOf(family)])
        if (!seen.has(instance)) {
          if (family.isDiscovered) this.#forget(instance);
          else this.#setUnknown(instance);
        }
  }
}

/** Splits a group message into its items. */
function itemsOf(message: Message, each: Each | undefined): readonly Message[] {
  if (each === undefined) return [message];
  if (typeof each === 'object' && 'path' in each)
    return itemsAt(message.tree, each.path.split('.')).map((item) => Message.ofTree(item));
  if (typeof each === 'object' && 'entries' in each) {
    const object = partAt(message.tree, each.entries === '' ? [] : each.entries.split('.'));
    const entries = typeof object === 'object' && object !== null ? Object.entries(object) : [];
    return entries.map(([key, value]) => Message.ofTree({ key, value }));
  }
  const { text } = message;
  if (each === 'character') return [...text].map((character) => new Message(character));
  if (each === 'line') return text.split(/\r?\n/).map((line) => new Message(line));
  if ('field' in each) return text.split(each.field).map((field) => new Message(field));
  const items: Message[] = [];
  for (let at = 0; at + each.bytes <= text.length; at += each.bytes)
    items.push(new Message(text.slice(at, at + each.bytes)));
  return items;
}
