// The provider: shows parameters of the hub as a tree to any number of consumers. Each consumer receives the values of what it has asked for,
// only the newest one of each when it reads slowly.

import { Subscription } from 'rxjs';
import { acceptedValue } from '../../device/payload.ts';
import type { Sender } from '../../device/ports.ts';
import { messageOf } from '../../model/error.ts';
import { globToRegExp } from '../../model/glob.ts';
import { type Origin, type Parameter, staleSinceOf } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { ConnectionContext } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import {
  type Command,
  type Connection,
  type Contents,
  commands,
  decodeGlow,
  type Element,
  encodeElements,
  encodeResult,
  encodeStreams,
  float32Format,
  type GlowMessage,
  type GlowValue,
  type Written,
} from './glow.ts';
import { command as frame } from './s101.ts';
import { type EmberPlusSettings, type MatrixSettings, targetsOf } from './settings.ts';

/** The maximum number of parameters that a provider shows. */
export const maxShared = 100_000;
/** The maximum number of unsent bytes of a consumer at which more is encoded for it. */
export const maxQueuedBytes = 262_144;
/** The maximum number of children of a node in one message; the others follow one by one. */
const childrenPerMessage = 2000;
/** The number of values in one message, and of streams, so that these fit into one frame. */
const valuesPerMessage = 32;
/** The number of bytes that are encoded in one round of the event loop, for all consumers. */
const bytesPerRound = 32_768;
/** For how long the state of a write is awaited, in milliseconds. */
const confirmMs = 5000;
/** How often the provider looks which parameters are stale, in milliseconds. */
const lookMs = 1000;
/** How many keep-alives a consumer receives within the idle timeout. One that answers none of them is disconnected. */
const keepAlives = 3;

export interface ProviderOptions {
  readonly context: ConnectionContext<EmberPlusSettings>;
  readonly hub: HubPort;
  /** The numbers of an earlier run, by address; the provider adds new ones. */
  readonly numbers: Map<string, number>;
  /** Called when there are new numbers. */
  numbered(): void;
}

interface Branch {
  readonly kind: 'node';
  readonly path: string;
  readonly number: number;
  readonly contents: Contents;
  readonly children: Map<number, Shown>;
  /** The nodes below, by name. */
  readonly nodes: Map<string, Branch>;
  readonly watchers: Set<Consumer>;
  /** The highest number that a child has, or had. */
  last: number;
}

interface Leaf {
  readonly kind: 'parameter' | 'function';
  readonly path: string;
  readonly number: number;
  readonly parent: Branch;
  readonly parameter: Parameter;
  readonly isWritable: boolean;
  /** The number of its stream; undefined: it is no meter. */
  readonly streamId: number | undefined;
  readonly watchers: Set<Consumer>;
  isOnline: boolean;
}

interface Matrix {
  readonly kind: 'matrix';
  readonly path: string;
  readonly number: number;
  readonly parent: Branch;
  readonly contents: Contents;
  readonly settings: MatrixSettings;
  readonly addresses: readonly string[];
  readonly watchers: Set<Consumer>;
}

type Shown = Branch | Leaf | Matrix;

interface Consumer {
  readonly sender: Sender;
  readonly origin: Origin;
  /** How many keep-alives it has not answered. */
  missed: number;
  /** When the second began in which its requests are counted, and how many there were. */
  second: number;
  taken: number;
  /** What it has asked for and not received yet. */
  readonly directories: Set<Shown>;
  /** Whose values have changed. */
  readonly values: Set<Leaf>;
  readonly streams: Set<Leaf>;
  readonly targets: Map<Matrix, Map<number, number>>;
  /** The sets of watchers that it is in. */
  readonly watched: Set<Set<Consumer>>;
}

export class Provider {
  readonly #options: ProviderOptions;
  readonly #consumers = new Map<Sender, Consumer>();
  readonly #elements = new Map<string, Shown>();
  readonly #leaves = new Map<Parameter, Leaf>();
  readonly #matrices = new Map<string, (readonly [Matrix, target: number])[]>();
  readonly #readable: (address: string) => boolean;
  readonly #writable: (address: string) => boolean;
  readonly #top: Branch;
  readonly #root: Branch;
  readonly #following = new Subscription();
  readonly #flush: () => void;
  #pumping: Subscription | undefined;
  #streaming: Subscription | undefined;
  #lastStream = 0;

  constructor(options: ProviderOptions) {
    const { context, hub } = options;
    const { read, write, name, matrices } = context.settings;
    this.#options = options;
    this.#readable = matcherOf(read);
    this.#writable = matcherOf(write);
    this.#flush = context.atSettle(() => this.#pump());
    this.#top = createBranch('', 0, {});
    this.#root = createBranch('1', 1, { identifier: name, description: 'Patchbay', isOnline: true });
    this.#top.children.set(1, this.#root);
    this.#elements.set('', this.#top).set('1', this.#root);
    for (const [identifier, settings] of Object.entries(matrices)) this.#addMatrix(identifier, settings);
    for (const parameter of hub.parameters()) this.#add(parameter);
    options.numbered();
    const error = () => {}; // these streams never fail
    this.#following.add(hub.changes$.subscribe({ next: ({ parameter }) => this.#changed(parameter), error }));
    this.#following.add(hub.declared$.subscribe({ next: (parameter) => this.#declared(parameter), error }));
    this.#following.add(hub.removed$.subscribe({ next: (parameter) => this.#removed(parameter), error }));
    this.#repeat(lookMs, () => this.#look());
    this.#repeat(context.settings.idleTimeout / keepAlives, () => this.#keepAlive());
  }

  stop(): void {
    this.#following.unsubscribe();
    this.#pumping?.unsubscribe();
    this.#streaming?.unsubscribe();
  }

  joined(sender: Sender): void {
    const { id, scheduler } = this.#options.context;
    this.#consumers.set(sender, {
      sender,
      origin: { kind: 'client', name: `${id} ${sender.name}` },
      missed: 0,
      second: scheduler.now(),
      taken: 0,
      directories: new Set(),
      values: new Set(),
      streams: new Set(),
      targets: new Map(),
      watched: new Set(),
    });
  }

  left(sender: Sender): void {
    for (const watchers of this.#consumers.get(sender)?.watched ?? []) watchers.delete(this.#consumers.get(sender)!);
    this.#consumers.delete(sender);
  }

  /** Handles a message of a consumer. Returns why it is refused; undefined: it was handled. */
  take(packet: Buffer, sender: Sender): string | undefined {
    const consumer = this.#consumers.get(sender);
    if (consumer === undefined) return 'expected a consumer that is connected';
    const { scheduler, settings, wire } = this.#options.context;
    consumer.missed = 0;
    if (packet[0] !== frame.glow) {
      wire('in', packet);
      if (packet[0] === frame.keepAlive) this.#send(consumer, Buffer.of(frame.keepAliveAnswer));
      return undefined;
    }
    let message: GlowMessage;
    try {
      message = decodeGlow(packet);
    } catch (error) {
      return messageOf(error);
    }
    const now = scheduler.now();
    if (now - consumer.second >= 1000) {
      consumer.second = now;
      consumer.taken = 0;
    }
    consumer.taken += Math.max(1, message.commands.length + message.elements.length);
    if (consumer.taken > settings.requestsPerSecond)
      return `expected at most ${settings.requestsPerSecond} requests in a second`;
    wire('in', packet);
    for (const command of message.commands) this.#obey(consumer, command);
    // some consumers repeat what they know of an element when they send it a command; that is no write
    const commanded = new Set(message.commands.map(({ path }) => path));
    const settled: (() => void)[] = [];
    this.#options.hub.turn(() => {
      for (const element of message.elements)
        if (!commanded.has(element.path)) settled.push(...this.#write(consumer, element));
    });
    for (const answer of settled) answer();
    this.#flush();
    return undefined;
  }

  // The tree.

  #addMatrix(identifier: string, settings: MatrixSettings): void {
    const addresses = targetsOf(settings);
    if (typeof addresses === 'string') return;
    const number = this.#numberIn(this.#root, `//${identifier}`);
    const matrix: Matrix = {
      ...{ kind: 'matrix', path: `1.${number}`, number, parent: this.#root, settings, addresses, watchers: new Set() },
      contents: {
        ...{ identifier, ...(settings.label !== undefined && { description: settings.label }) },
        ...{ matrixType: 0, addressing: 0, targetCount: addresses.length, sourceCount: settings.sources },
      },
    };
    this.#show(this.#root, matrix);
    for (const [target, address] of addresses.entries()) {
      const all = this.#matrices.get(address) ?? [];
      all.push([matrix, target]);
      this.#matrices.set(address, all);
    }
  }

  #add(parameter: Parameter): Leaf | undefined {
    const { address, type, access, about } = parameter;
    const isWritable = access !== 'read-only' && this.#writable(address);
    if (!isWritable && !this.#readable(address)) return undefined;
    if (type === 'T' && !isWritable) return undefined; // an event that nobody may fire
    if (this.#leaves.size >= maxShared) {
      this.#options.context.log.warn({}, `expected at most ${maxShared} parameters to show; the others are left out`);
      return undefined;
    }
    const parts = address.split('/');
    let parent = this.#root;
    for (const [index, part] of parts.slice(0, -1).entries())
      parent = this.#nodeIn(parent, part, parts.slice(0, index + 1));
    const number = this.#numberIn(parent, address);
    const isMeter = about?.class === 'meter' && (type === 'I' || type === 'F');
    const leaf: Leaf = {
      ...{ kind: type === 'T' ? 'function' : 'parameter', path: `${parent.path}.${number}`, number, parent, parameter },
      ...{ isWritable, streamId: isMeter ? ++this.#lastStream : undefined, watchers: new Set() },
      isOnline: staleSinceOf(parameter) === undefined,
    };
    this.#leaves.set(parameter, leaf);
    this.#show(parent, leaf);
    return leaf;
  }

  #nodeIn(parent: Branch, name: string, parts: readonly string[]): Branch {
    let node = parent.nodes.get(name);
    if (node === undefined) {
      const number = this.#numberIn(parent, `${parts.join('/')}/`);
      node = createBranch(`${parent.path}.${number}`, number, { identifier: name, isOnline: true });
      parent.nodes.set(name, node);
      this.#show(parent, node);
    }
    return node;
  }

  #show(parent: Branch, shown: Shown): void {
    parent.children.set(shown.number, shown);
    this.#elements.set(shown.path, shown);
  }

  /** Returns the number of an element below its parent: the one that it had in an earlier run, or a new one. */
  #numberIn(parent: Branch, key: string): number {
    const { numbers } = this.#options;
    const known = numbers.get(key);
    const isFree = known !== undefined && !parent.children.has(known);
    const number = isFree ? known : Math.max(parent.last, lastNumberIn(numbers, parentOf(key))) + 1;
    parent.last = Math.max(parent.last, number);
    numbers.set(key, number);
    return number;
  }

  #declared(parameter: Parameter): void {
    const leaf = this.#add(parameter);
    if (leaf === undefined) return;
    this.#options.numbered();
    // a consumer that knows a node above receives everything between
    const between: Branch[] = [];
    for (let one: Branch | undefined = leaf.parent; one !== undefined; one = this.#parentOf(one)) {
      for (const watcher of one.watchers) {
        for (const node of between) watcher.directories.add(node);
        this.#watch(watcher, leaf.parent.watchers);
        watcher.values.add(leaf);
      }
      between.unshift(one);
    }
    this.#flush();
  }

  #parentOf({ path }: Branch): Branch | undefined {
    const parent = path === '' ? undefined : this.#elements.get(path.slice(0, Math.max(0, path.lastIndexOf('.'))));
    return parent?.kind === 'node' ? parent : undefined;
  }

  #removed(parameter: Parameter): void {
    const leaf = this.#leaves.get(parameter);
    if (leaf !== undefined) this.#setOnline(leaf, false);
    this.#leaves.delete(parameter);
    this.#flush();
  }

  #look(): void {
    for (const leaf of this.#leaves.values()) this.#setOnline(leaf, staleSinceOf(leaf.parameter) === undefined);
    this.#flush();
  }

  #setOnline(leaf: Leaf, isOnline: boolean): void {
    if (leaf.isOnline === isOnline) return;
    leaf.isOnline = isOnline;
    this.#mark(leaf);
  }

  // Requests.

  #obey(consumer: Consumer, { path, number, invocation }: Command): void {
    const shown = this.#elements.get(path);
    if (number === commands.invoke) this.#invoke(consumer, shown, invocation?.id);
    else if (shown === undefined) return;
    else if (number === commands.getDirectory) {
      if (shown.kind !== 'parameter' || shown.streamId === undefined) this.#watch(consumer, shown.watchers);
      consumer.directories.add(shown);
    } else if (number === commands.subscribe) this.#watch(consumer, shown.watchers);
    else if (number === commands.unsubscribe) {
      shown.watchers.delete(consumer);
      consumer.watched.delete(shown.watchers);
    }
  }

  #watch(consumer: Consumer, watchers: Set<Consumer>): void {
    watchers.add(consumer);
    consumer.watched.add(watchers);
  }

  #invoke(consumer: Consumer, shown: Shown | undefined, id: number | undefined): void {
    const isSuccess = shown?.kind === 'function' && this.#writeTo(consumer, shown.parameter, true);
    if (id !== undefined) this.#send(consumer, encodeResult({ id, isSuccess }));
  }

  /** Writes what an element of a message says. Returns what answers it after the turn. */
  #write(consumer: Consumer, { path, contents, connections = [] }: Element): readonly (() => void)[] {
    const shown = this.#elements.get(path);
    if (shown?.kind === 'matrix') return connections.flatMap((one) => this.#connect(consumer, shown, one) ?? []);
    if (shown?.kind !== 'parameter' || contents?.value === undefined) return [];
    const { value, type } = contents.value;
    const input = Buffer.isBuffer(value) || type === 'null' ? undefined : value;
    if (shown.isWritable && input !== undefined && this.#leaves.has(shown.parameter))
      this.#writeTo(consumer, shown.parameter, input);
    // the answer is the value that the parameter has, even if it was refused
    return [() => this.#afterWrite(shown.parameter, () => consumer.values.add(shown))];
  }

  #connect(consumer: Consumer, matrix: Matrix, { target, sources, operation }: Connection): (() => void) | undefined {
    const address = matrix.addresses[target];
    const parameter = address === undefined ? undefined : this.#options.hub.find(address);
    if (parameter === undefined) return undefined;
    const { first, none, sources: count } = matrix.settings;
    const [source] = sources;
    const isEmpty = operation === 2 || source === undefined;
    if (isEmpty ? none !== undefined : sources.length === 1 && source < count)
      this.#writeTo(consumer, parameter, isEmpty ? none : source + first);
    return () => {
      this.#mention(consumer, matrix, target, parameter.wanted === undefined ? tally : pending);
      this.#afterWrite(parameter, () => this.#mention(consumer, matrix, target, tally));
    };
  }

  #writeTo({ origin }: Consumer, parameter: Parameter, input: unknown): boolean {
    const { hub, context } = this.#options;
    try {
      hub.writeTo(parameter, acceptedValue(parameter.type, parameter.about ?? {}, input), origin);
      return true;
    } catch (error) {
      const { address } = parameter;
      context.log.debug({ parameter: address }, `${address}: not written: ${messageOf(error)}`, 'not written');
      return false;
    }
  }

  /** Runs work once a write is settled: immediately, or when the device has confirmed it, or not. */
  #afterWrite(parameter: Parameter, work: () => void): void {
    if (parameter.wanted === undefined) {
      work();
      return;
    }
    const settled = () => {
      if (this.#following.closed) return;
      work();
      this.#flush();
    };
    void this.#options.hub.whenConfirmed(parameter, confirmMs).then(settled, settled);
  }

  // Values.

  #changed(parameter: Parameter): void {
    const leaf = this.#leaves.get(parameter);
    if (leaf !== undefined && leaf.kind === 'parameter') this.#mark(leaf);
    const matrices = this.#matrices.size === 0 ? undefined : this.#matrices.get(parameter.address);
    for (const [matrix, target] of matrices ?? [])
      for (const consumer of matrix.watchers) this.#mention(consumer, matrix, target, modified);
    if (matrices !== undefined) this.#flush();
  }

  #mark(leaf: Leaf): void {
    if (leaf.streamId !== undefined && leaf.isOnline) {
      if (leaf.watchers.size === 0) return;
      for (const consumer of leaf.watchers) consumer.streams.add(leaf);
      this.#streaming ??= this.#options.context.scheduler.schedule(() => {
        this.#streaming = undefined;
        this.#sendStreams();
      }, this.#options.context.settings.streamEvery);
      return;
    }
    if (leaf.watchers.size + leaf.parent.watchers.size === 0) return;
    for (const consumer of leaf.watchers) consumer.values.add(leaf);
    for (const consumer of leaf.parent.watchers) consumer.values.add(leaf);
    this.#flush();
  }

  #mention({ targets }: Consumer, matrix: Matrix, target: number, disposition: number): void {
    const ones = targets.get(matrix);
    if (ones === undefined) targets.set(matrix, new Map([[target, disposition]]));
    else ones.set(target, disposition);
  }

  #sendStreams(): void {
    let isBehind = false;
    const isFloat32 = this.#options.context.settings.streamFormat === 'float32';
    for (const consumer of this.#consumers.values()) {
      if (consumer.streams.size === 0) continue;
      if ((consumer.sender.unsentBytes ?? 0) > maxQueuedBytes) {
        isBehind = true;
        continue;
      }
      const entries = [...consumer.streams].flatMap(({ streamId, parameter }) => {
        const value = glowValueOf(parameter);
        return value === undefined ? [] : [[streamId!, isFloat32 ? asFloat32(value) : value] as const];
      });
      consumer.streams.clear();
      for (let at = 0; at < entries.length; at += valuesPerMessage)
        this.#send(consumer, encodeStreams(entries.slice(at, at + valuesPerMessage)));
    }
    if (isBehind)
      this.#streaming ??= this.#options.context.scheduler.schedule(() => {
        this.#streaming = undefined;
        this.#sendStreams();
      }, this.#options.context.settings.streamEvery);
  }

  /** Sends what consumers wait for, by turns, as much as a round allows; the rest in the next one. */
  #pump(): void {
    if (this.#pumping !== undefined) return;
    let left = bytesPerRound;
    let isBlocked = false;
    const waiting = new Set(this.#consumers.values());
    while (left > 0 && waiting.size > 0)
      for (const consumer of waiting) {
        if ((consumer.sender.unsentBytes ?? 0) > maxQueuedBytes) {
          waiting.delete(consumer);
          isBlocked ||= hasWork(consumer);
          continue;
        }
        const message = this.#nextFor(consumer);
        if (message === undefined) waiting.delete(consumer);
        else {
          left -= message.length;
          this.#send(consumer, message);
        }
        if (left <= 0) break;
      }
    if (!isBlocked && waiting.size === 0) return;
    this.#pumping = this.#options.context.scheduler.schedule(
      () => {
        this.#pumping = undefined;
        this.#pump();
      },
      left <= 0 ? 0 : 20,
    );
  }

  #nextFor(consumer: Consumer): Buffer | undefined {
    const [shown] = consumer.directories;
    if (shown !== undefined) {
      consumer.directories.delete(shown);
      return this.#directoryOf(consumer, shown);
    }
    for (const [matrix, targets] of consumer.targets) {
      const connections = [...targets]
        .slice(0, 256)
        .map(([target, disposition]) => this.#connectionOf(matrix, target, disposition));
      for (const { target } of connections) targets.delete(target);
      if (targets.size === 0) consumer.targets.delete(matrix);
      const { identifier } = matrix.contents; // some consumers expect it in each message
      return encodeElements([{ kind: 'matrix', at: matrix.path, contents: { identifier: identifier! }, connections }]);
    }
    if (consumer.values.size === 0) return undefined;
    const elements: Written[] = [];
    for (const leaf of consumer.values) {
      consumer.values.delete(leaf);
      elements.push({ kind: leaf.kind, at: leaf.path, contents: this.#contentsOf(leaf) });
      if (elements.length >= valuesPerMessage) break;
    }
    return encodeElements(elements);
  }

  #directoryOf(consumer: Consumer, shown: Shown): Buffer {
    if (shown.kind === 'matrix') {
      const { path: at, contents, addresses } = shown;
      const connections = addresses.map((_, target) => this.#connectionOf(shown, target, undefined));
      return encodeElements([{ kind: 'matrix', at, contents, children: [], connections }]);
    }
    if (shown.kind !== 'node')
      return encodeElements([
        {
          kind: shown.kind,
          at: shown.path,
          contents: this.#contentsOf(shown),
          ...(shown.kind === 'function' && { children: [] }),
        },
      ]);
    const children: Written[] = [];
    for (const child of shown.children.values())
      if (children.length >= childrenPerMessage) {
        if (child.kind === 'parameter') consumer.values.add(child);
        else consumer.directories.add(child);
      } else {
        const contents = 'contents' in child ? child.contents : this.#contentsOf(child);
        children.push({ kind: child.kind, at: child.number, contents });
      }
    if (shown.path === '') return encodeElements(children);
    // an empty node is how consumers are told that there are no children
    return encodeElements([
      { kind: 'node', at: shown.path, ...(children.length > 0 && { contents: shown.contents, children }) },
    ]);
  }

  #contentsOf(leaf: Leaf): Contents {
    const isBytes = this.#options.context.settings.streamFormat === 'float32' && leaf.streamId !== undefined;
    const contents = contentsOf(leaf);
    return isBytes && contents.type === 'real'
      ? { ...contents, stream: { format: float32Format, offset: 0 } }
      : contents;
  }

  #connectionOf({ settings, addresses }: Matrix, target: number, disposition: number | undefined): Connection {
    const value = this.#options.hub.find(addresses[target]!)?.value;
    const source = typeof value === 'number' ? value - settings.first : -1;
    const isSource = source >= 0 && source < settings.sources && value !== settings.none;
    return { target, sources: isSource ? [source] : [], ...(disposition !== undefined && { disposition }) };
  }

  // Links.

  #repeat(everyMs: number, work: () => void): void {
    const next = this.#options.context.scheduler.schedule(() => {
      this.#following.remove(next);
      work();
      this.#repeat(everyMs, work);
    }, everyMs);
    this.#following.add(next);
  }

  #keepAlive(): void {
    const { log } = this.#options.context;
    for (const consumer of this.#consumers.values())
      if (consumer.missed++ < keepAlives) this.#send(consumer, Buffer.of(frame.keepAlive));
      else {
        log.info({}, `${consumer.sender.name} has been silent for too long, and was disconnected`, 'silent consumer');
        consumer.sender.end?.();
      }
  }

  #send({ sender }: Consumer, packet: Uint8Array): void {
    this.#options.context.wire('out', packet);
    sender.send(packet);
  }
}

const [tally, modified, pending] = [0, 1, 2];

function hasWork({ directories, values, targets }: Consumer): boolean {
  return directories.size + values.size + targets.size > 0;
}

function createBranch(path: string, number: number, contents: Contents): Branch {
  return { kind: 'node', path, number, contents, children: new Map(), nodes: new Map(), watchers: new Set(), last: 0 };
}

function matcherOf(globs: readonly string[]): (address: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return (address) => patterns.some((pattern) => pattern.test(address));
}

/** Returns the key of the node above: `desk/a/` for `desk/a/b` and for `desk/a/b/`. */
function parentOf(key: string): string {
  return key.slice(0, key.slice(0, -1).lastIndexOf('/') + 1);
}

const lastNumbers = new WeakMap<ReadonlyMap<string, number>, Map<string, number>>();

/** Returns the highest number of an earlier run below a node. */
function lastNumberIn(numbers: ReadonlyMap<string, number>, parent: string): number {
  let last = lastNumbers.get(numbers);
  if (last === undefined) {
    last = new Map();
    for (const [key, number] of numbers) last.set(parentOf(key), Math.max(number, last.get(parentOf(key)) ?? 0));
    lastNumbers.set(numbers, last);
  }
  return last.get(parent) ?? 0;
}

function contentsOf({ parameter, isWritable, isOnline, streamId, kind }: Leaf): Contents {
  const { address, type, access, about = {} } = parameter;
  const identifier = address.slice(address.lastIndexOf('/') + 1);
  const named = { identifier, ...(about.label !== undefined && { description: about.label }) };
  if (kind === 'function') return named;
  const { min, max, step, unit, choices = {} } = about;
  const isNumber = type === 'I' || type === 'F';
  const names = Object.entries(choices).filter((pair): pair is [string, number] => Number.isSafeInteger(pair[1]));
  const isEnum = type === 'I' && names.length > 0;
  const value = glowValueOf(parameter);
  return {
    ...named,
    type: isEnum ? 'enum' : type === 'S' ? 'text' : type === 'B' ? 'boolean' : type === 'I' ? 'integer' : 'real',
    access: isWritable ? (access === 'write-only' ? 2 : 3) : 1,
    isOnline,
    ...(value !== undefined && { value }),
    ...(isNumber && min !== undefined && max !== undefined && { minimum: typed(type, min), maximum: typed(type, max) }),
    ...(type === 'I' && step !== undefined && Number.isSafeInteger(step) && { step }),
    ...(isNumber && unit !== undefined && { format: `${type === 'I' ? '%d' : '%.2f'} ${unit.replaceAll('%', '%%')}` }),
    ...(isEnum && { enumMap: names }),
    ...(streamId !== undefined && { streamId }),
  };
}

function asFloat32({ type, value }: GlowValue): GlowValue {
  if (type !== 'real') return { type, value };
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value as number);
  return { type: 'octets', value: bytes };
}

function glowValueOf({ type, value }: Parameter): GlowValue | undefined {
  return value === undefined ? undefined : typed(type, value);
}

function typed(type: Parameter['type'], value: Value): GlowValue {
  if (typeof value === 'string') return { type: 'text', value };
  if (typeof value === 'boolean') return { type: 'boolean', value };
  return type === 'F' ? { type: 'real', value } : { type: 'integer', value: Math.round(value) };
}
