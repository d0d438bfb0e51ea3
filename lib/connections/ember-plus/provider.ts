// The provider role: shows parameters of the hub as a tree to any number of consumers. Each consumer receives the values that it has
// requested. A consumer that reads slowly receives only the latest value of each parameter.

import { Subscription } from 'rxjs';
import { acceptedValue } from '../../device/payload.ts';
import type { Sender } from '../../device/ports.ts';
import { messageOf } from '../../model/error.ts';
import { type Parameter, staleSinceOf } from '../../model/parameter.ts';
import type { ConnectionContext } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import { encodeElements, encodeResult, encodeStreams, type Written } from './encode.ts';
import { type Command, type Connection, commands, decodeGlow, type Element, type GlowMessage } from './glow.ts';
import { command as frame } from './s101.ts';
import type { EmberPlusSettings } from './settings.ts';
import {
  asFloat32,
  type Branch,
  type Consumer,
  contentsOf,
  glowValueOf,
  type Leaf,
  type Matrix,
  type Shown,
  Tree,
} from './tree.ts';

/** The maximum number of unsent bytes for a consumer. Above this number, the provider stops encoding messages for the consumer. */
export const maxQueuedBytes = 262_144;
/** The maximum number of children in the message that answers a directory request. Further children follow in separate messages. */
const childrenPerMessage = 2000;
/** The maximum number of parameter values or stream values in one message, chosen so that the message fits into one frame. */
const valuesPerMessage = 32;
/** The maximum number of bytes that the provider encodes for all consumers in one round of the event loop. */
const bytesPerRound = 32_768;
/** How long the provider waits until a written value is confirmed or refused, in milliseconds. */
const confirmMs = 5000;
/** The interval at which the provider checks which parameters are stale, in milliseconds. */
const lookMs = 1000;
/**
 * The number of keep-alives that a consumer receives within the idle timeout. A consumer that answers none of these keep-alives is
 * disconnected.
 */
const keepAlives = 3;

export interface ProviderOptions {
  readonly context: ConnectionContext<EmberPlusSettings>;
  readonly hub: HubPort;
  /** The element numbers from an earlier run, keyed by parameter address. The provider adds new numbers. */
  readonly numbers: Map<string, number>;
  /** Called when new numbers may have been added to `numbers`. */
  numbered(): void;
}

export class Provider {
  readonly #options: ProviderOptions;
  readonly #consumers = new Map<Sender, Consumer>();
  readonly #tree: Tree;
  readonly #following = new Subscription();
  readonly #flush: () => void;
  #pumping: Subscription | undefined;
  #streaming: Subscription | undefined;

  constructor(options: ProviderOptions) {
    const { context, hub } = options;
    const { settings, log } = context;
    this.#options = options;
    this.#flush = context.atSettle(() => this.#pump());
    this.#tree = new Tree({ settings, log, numbers: options.numbers });
    for (const parameter of hub.parameters()) this.#tree.add(parameter);
    options.numbered();
    const error = () => {}; // these streams never fail
    this.#following.add(hub.changes$.subscribe({ next: ({ parameter }) => this.#changed(parameter), error }));
    this.#following.add(hub.declared$.subscribe({ next: (parameter) => this.#declared(parameter), error }));
    this.#following.add(hub.removed$.subscribe({ next: (parameter) => this.#removed(parameter), error }));
    this.#repeat(lookMs, () => this.#look());
    this.#repeat(settings.idleTimeout / keepAlives, () => this.#keepAlive());
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

  /** Handles a message from a consumer. Returns the reason if the message is refused, otherwise undefined. */
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
      return `expected at most ${settings.requestsPerSecond} requests per second`;
    wire('in', packet);
    for (const command of message.commands) this.#obey(consumer, command);
    // some consumers include the contents of an element in a command to the element, which is not a write
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

  // Changes to the tree.

  #declared(parameter: Parameter): void {
    const leaf = this.#tree.add(parameter);
    if (leaf === undefined) return;
    this.#options.numbered();
    // a consumer that watches a node above the parameter receives all nodes in between
    const between: Branch[] = [];
    for (let one: Branch | undefined = leaf.parent; one !== undefined; one = this.#tree.parentOf(one)) {
      for (const watcher of one.watchers) {
        for (const node of between) watcher.directories.add(node);
        this.#watch(watcher, leaf.parent.watchers);
        watcher.values.add(leaf);
      }
      between.unshift(one);
    }
    this.#flush();
  }

  #removed(parameter: Parameter): void {
    const leaf = this.#tree.remove(parameter);
    if (leaf !== undefined) this.#setOnline(leaf, false);
    this.#flush();
  }

  #look(): void {
    for (const leaf of this.#tree.leaves()) this.#setOnline(leaf, staleSinceOf(leaf.parameter) === undefined);
    this.#flush();
  }

  #setOnline(leaf: Leaf, isOnline: boolean): void {
    if (leaf.isOnline === isOnline) return;
    leaf.isOnline = isOnline;
    this.#mark(leaf);
  }

  // Requests.

  #obey(consumer: Consumer, { path, number, invocation }: Command): void {
    const shown = this.#tree.find(path);
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

  /** Writes the value or the connections that a received element contains. Returns the functions that answer the write after the turn. */
  #write(consumer: Consumer, { path, contents, connections = [] }: Element): readonly (() => void)[] {
    const shown = this.#tree.find(path);
    if (shown?.kind === 'matrix') return connections.flatMap((one) => this.#connect(consumer, shown, one) ?? []);
    if (shown?.kind !== 'parameter' || contents?.value === undefined) return [];
    const { value, type } = contents.value;
    const input = Buffer.isBuffer(value) || type === 'null' ? undefined : value;
    if (shown.isWritable && input !== undefined && this.#tree.leafOf(shown.parameter) === shown)
      this.#writeTo(consumer, shown.parameter, input);
    // the answer is the parameter's current value, even if the write was refused
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

  /** Calls `work` as soon as no write to the parameter is pending: immediately, or when the device has confirmed or refused the write. */
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
    const leaf = this.#tree.leafOf(parameter);
    if (leaf !== undefined && leaf.kind === 'parameter') this.#mark(leaf);
    const targets = this.#tree.targetsAt(parameter.address);
    for (const [matrix, target] of targets)
      for (const consumer of matrix.watchers) this.#mention(consumer, matrix, target, modified);
    if (targets.length > 0) this.#flush();
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

  /**
   * Sends the messages that consumers are waiting for, in turns, up to the limit for one round. The remaining messages are sent in the next
   * round.
   */
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
      const { identifier } = matrix.contents; // some consumers expect the identifier in each message
      return encodeElements([{ kind: 'matrix', at: matrix.path, contents: { identifier: identifier! }, connections }]);
    }
    if (consumer.values.size === 0) return undefined;
    const { streamFormat } = this.#options.context.settings;
    const elements: Written[] = [];
    for (const leaf of consumer.values) {
      consumer.values.delete(leaf);
      elements.push({ kind: leaf.kind, at: leaf.path, contents: contentsOf(leaf, streamFormat) });
      if (elements.length >= valuesPerMessage) break;
    }
    return encodeElements(elements);
  }

  #directoryOf(consumer: Consumer, shown: Shown): Buffer {
    const { streamFormat } = this.#options.context.settings;
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
          contents: contentsOf(shown, streamFormat),
          ...(shown.kind === 'function' && { children: [] }),
        },
      ]);
    const children: Written[] = [];
    for (const child of shown.children.values())
      if (children.length >= childrenPerMessage) {
        if (child.kind === 'parameter') consumer.values.add(child);
        else consumer.directories.add(child);
      } else {
        const contents = 'contents' in child ? child.contents : contentsOf(child, streamFormat);
        children.push({ kind: child.kind, at: child.number, contents });
      }
    if (shown.path === '') return encodeElements(children);
    // an empty node shows consumers that the node has no children
    return encodeElements([
      { kind: 'node', at: shown.path, ...(children.length > 0 && { contents: shown.contents, children }) },
    ]);
  }

  #connectionOf({ settings, addresses }: Matrix, target: number, disposition: number | undefined): Connection {
    const value = this.#options.hub.find(addresses[target]!)?.value;
    const source = typeof value === 'number' ? value - settings.first : -1;
    const isSource = source >= 0 && source < settings.sources && value !== settings.none;
    return { target, sources: isSource ? [source] : [], ...(disposition !== undefined && { disposition }) };
  }

  // Timers and links.

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
        log.info({}, `${consumer.sender.name} has been silent for too long and was disconnected`, 'silent consumer');
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
