// Shows parameters of the hub as OSC addresses: `/desk/level`. Senders can read and write only the parameters that the settings list. A
// message without arguments asks for the value, and the hub replies to the sender.

import type { Sender } from '../../device/ports.ts';
import { messageOf } from '../../model/error.ts';
import { globToRegExp } from '../../model/glob.ts';
import type { Origin, Parameter } from '../../model/parameter.ts';
import type { Log } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { Budget, compilePattern, isPattern, maxComparisonsPerSecond, tooManyPatterns } from './address-table.ts';
import { encodeMessage, type OscMessage } from './packet.ts';
import type { OscSettings } from './settings.ts';

/** The maximum number of parameters that a pattern may match. */
export const maxPatternParameters = 1000;
/** The maximum number of senders that are remembered as authors of writes. */
const keptAuthors = 256;

interface Rights {
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
}

export interface TreeOptions {
  readonly id: string;
  readonly hub: HubPort;
  readonly tree: NonNullable<OscSettings['tree']>;
  readonly log: Log;
  now(): number;
  wire(direction: 'out', packet: Uint8Array): void;
  refuse(reason: string): void;
}

export class HubTree {
  readonly #options: TreeOptions;
  readonly #read: readonly RegExp[];
  readonly #write: readonly RegExp[];
  readonly #rights = new WeakMap<Parameter, Rights>();
  readonly #authors = new Map<string, Origin>();
  readonly #budget = new Budget(maxComparisonsPerSecond);

  constructor(options: TreeOptions) {
    this.#options = options;
    this.#read = options.tree.read.map(globToRegExp);
    this.#write = options.tree.write.map(globToRegExp);
  }

  /** Reads or writes the parameters that a message addresses. Returns whether the message addresses any parameter. */
  take(message: OscMessage, sender: Sender): boolean {
    const { prefix } = this.#options.tree;
    if (!message.address.startsWith(`${prefix}/`)) return false;
    const address = message.address.slice(prefix.length);
    if (!isPattern(address)) {
      const parameter = this.#find(address);
      if (parameter === undefined) return false;
      this.#apply(parameter, message, sender);
      return true;
    }
    const found = this.#matching(address);
    if (typeof found === 'string') this.#options.refuse(found);
    else
      this.#options.hub.turn(() => {
        for (const parameter of found) this.#apply(parameter, message, sender);
      });
    return true;
  }

  #find(address: string): Parameter | undefined {
    const parameter = this.#options.hub.find(decoded(address.slice(1)));
    return parameter !== undefined && this.#rightsTo(parameter).mayRead ? parameter : undefined;
  }

  /** Returns the parameters that a pattern matches. If it is invalid or matches too many parameters, returns the reason as a sentence. */
  #matching(pattern: string): readonly Parameter[] | string {
    const { hub, now } = this.#options;
    const matcher = compilePattern(pattern);
    if (typeof matcher === 'string') return matcher;
    if (!this.#budget.take(hub.size * matcher.alternatives, now())) return tooManyPatterns;
    const found: Parameter[] = [];
    for (const parameter of hub.parameters()) {
      if (!this.#rightsTo(parameter).mayRead || !matcher.matches(oscAddressOf(parameter.address))) continue;
      if (found.length >= maxPatternParameters)
        return `expected a pattern that names at most ${maxPatternParameters} parameters`;
      found.push(parameter);
    }
    return found;
  }

  #rightsTo(parameter: Parameter): Rights {
    const known = this.#rights.get(parameter);
    if (known !== undefined) return known;
    const { address } = parameter;
    const mayWrite = this.#write.some((pattern) => pattern.test(address));
    const rights = { mayWrite, mayRead: mayWrite || this.#read.some((pattern) => pattern.test(address)) };
    this.#rights.set(parameter, rights);
    return rights;
  }

  #apply(parameter: Parameter, { args }: OscMessage, sender: Sender): void {
    const { hub, log, refuse } = this.#options;
    if (args.length === 0 && parameter.type !== 'T') {
      this.#answer(parameter, sender);
      return;
    }
    if (!this.#rightsTo(parameter).mayWrite) {
      refuse('expected an address that the list write allows');
      return;
    }
    const [value = 1] = args;
    if (parameter.type === 'T' && (value === 0 || value === false)) return; // the button was released
    try {
      hub.writeTo(parameter, value, this.#authorOf(sender));
    } catch (error) {
      log.debug({ parameter: parameter.address }, `${parameter.address}: ${messageOf(error)}`, 'not written');
      refuse('expected a value that the parameter accepts');
    }
  }

  #answer({ address, type, value }: Parameter, sender: Sender): void {
    const [tag, sent] = argumentOf(type, value);
    try {
      const packet = encodeMessage(this.#options.tree.prefix + oscAddressOf(address), tag, [sent]);
      this.#options.wire('out', packet);
      sender.send(packet);
    } catch (error) {
      this.#options.log.debug({ parameter: address }, `${address}: not sent: ${messageOf(error)}`, 'not sent');
    }
  }

  #authorOf({ name }: Sender): Origin {
    const known = this.#authors.get(name);
    if (known !== undefined) return known;
    if (this.#authors.size >= keptAuthors) this.#authors.clear();
    const author: Origin = { kind: 'client', name: `${this.#options.id} ${name}` };
    this.#authors.set(name, author);
    return author;
  }
}

function argumentOf(
  type: Parameter['type'],
  value: Parameter['value'],
): readonly [tag: string, sent: string | number | boolean | null] {
  if (value === undefined) return ['N', null];
  if (typeof value === 'boolean') return [value ? 'T' : 'F', value];
  if (typeof value === 'string') return ['s', value.replaceAll('\0', '')];
  if (type === 'I') return [value === (value | 0) ? 'i' : 'h', value];
  return [Number.isFinite(Math.fround(value)) ? 'f' : 'd', value];
}

/**
 * Returns a parameter's OSC address. Characters that an OSC address cannot contain are percent-encoded: `desk/a b` becomes `/desk/a%20b`.
 */
export function oscAddressOf(address: string): string {
  return `/${address.replaceAll(/[ #*,?[\]{}%]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

function decoded(address: string): string {
  return address.includes('%')
    ? address.replaceAll(/%([\da-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : address;
}
