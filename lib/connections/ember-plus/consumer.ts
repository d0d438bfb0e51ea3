// The consumer role: mirrors a provider's tree. After each connect, the consumer requests the directories of all nodes, compares the
// elements that it finds with the elements that it already has, and then follows the changes. A write is pending until the provider reports
// the value.

import { Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { Transport } from '../../device/transport.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import type { ValueType } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { createEntry, type Entry, isReachable, type Live, nameOf, readValue, selectBy } from './elements.ts';
import { encodeCommand } from './encode.ts';
import {
  type Connection,
  type Contents,
  commands,
  decodeGlow,
  type Element,
  type GlowMessage,
  type GlowValue,
  readStream,
} from './glow.ts';
import { type Point, pointOfFunction, pointOfParameter, pointOfTargets, valueOfSources } from './points.ts';
import { command as frame } from './s101.ts';
import type { EmberPlusSettings } from './settings.ts';
import { Writes } from './writes.ts';

/** The maximum number of elements from one provider that the consumer mirrors. */
export const maxElements = 200_000;
/** The maximum number of directory requests that may wait for an answer at a time. */
const window = 64;
const requestTries = 2;
/**
 * The longest pause before the next attempt after the provider's host has refused the connection, in milliseconds. The pause is short
 * because walking the tree afterwards takes additional time.
 */
const refusedMs = 1000;

export interface ConsumerOptions {
  readonly context: ConnectionContext<EmberPlusSettings>;
  readonly transports: readonly Transport[];
  /** The value types of the parameters in the setting `expect`, keyed by Parameter ID. */
  readonly expected: ReadonlyMap<string, ValueType>;
  emit(event: ConnectionEvent): void;
  /** Called when the tree has been mirrored. `away` is called when the provider goes offline. */
  running(): void;
  away(reason: string): void;
  random?(): number;
}

interface Request {
  readonly entry: Entry;
  readonly tries: number;
  readonly timer: Subscription;
}

export class Consumer {
  readonly #options: ConsumerOptions;
  readonly #link: DeviceLink;
  readonly #writes: Writes;
  readonly #isIncluded: (id: string, isNode: boolean) => boolean;
  readonly #lives = new Map<string, Live>();
  #entries = new Map<string, Entry>();
  readonly #toAsk = new Map<Entry, number>();
  readonly #asked = new Map<string, Request>();
  readonly #streams = new Map<number, Set<Live>>();
  /** The nodes that report whether they are online. */
  readonly #devices = new Set<Entry>();
  #isReady = false;
  #timers = new Subscription();
  #declared = 0;
  // The effects of the current message, collected until the whole message has been processed.
  #fresh: Live[] = [];
  #gone: string[] = [];
  #values: (() => void)[] = [];

  constructor(options: ConsumerOptions) {
    const { context, transports, random, expected } = options;
    const { settings, scheduler } = context;
    this.#options = options;
    this.#isIncluded = selectBy(settings);
    this.#writes = new Writes({
      context,
      emit: options.emit,
      isReady: () => this.#isReady,
      send: (packet) => this.#send(packet),
      unsentBytes: () => this.#link.unsentBytes,
    });
    for (const id of expected.keys()) this.#writes.refuse(id);
    this.#link = new DeviceLink(
      {
        ...{ transports, connectTimeoutMs: settings.connectTimeout, idleTimeoutMs: settings.idleTimeout },
        ...{ hearsOnlyReported: true, refusedMs, scheduler },
        ...(random && { random }),
      },
      {
        opened: () => this.#opened(),
        received: (bytes) => this.#received(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        ended: (reason) => this.#ended(reason),
      },
    );
  }

  start(): void {
    this.#link.start();
  }

  stop(): Promise<void> {
    this.#stopWork();
    for (const { writing, timer } of this.#lives.values()) {
      writing?.unsubscribe();
      timer?.unsubscribe();
    }
    this.#writes.stop();
    return this.#link.stop();
  }

  /** Makes the values of all mirrored parameters unknown. */
  forget(): void {
    this.#options.context.turn(() => {
      for (const { id, type } of this.#lives.values()) if (type !== 'T') this.#options.emit({ unset: id });
    });
  }

  // Link.

  #opened(): void {
    this.#timers = new Subscription();
    this.#keepAlive();
    this.#streams.clear();
    this.#devices.clear();
    for (const live of this.#lives.values()) live.isThere = false;
    const root = createEntry('node', '', '', undefined, {});
    this.#entries = new Map([['', root]]);
    this.#ask(root);
    this.#pump();
  }

  #keepAlive(): void {
    const { scheduler, settings } = this.#options.context;
    const next = scheduler.schedule(() => {
      this.#timers.remove(next);
      this.#send(Buffer.of(frame.keepAlive));
      this.#keepAlive();
    }, settings.idleTimeout / 3);
    this.#timers.add(next);
  }

  #ended(reason: string): number {
    this.#stopWork();
    const error = (id: string) => new HubError('unavailable', `${id}: the provider is offline: ${reason}`);
    for (const live of this.#lives.values()) if (live.wanted !== undefined) this.#writes.settle(live, error(live.id));
    this.#options.away(reason);
    return 0;
  }

  #stopWork(): void {
    this.#isReady = false;
    this.#timers.unsubscribe();
    for (const { timer } of this.#asked.values()) timer.unsubscribe();
    this.#asked.clear();
    this.#toAsk.clear();
    this.#writes.drop();
  }

  #send(packet: Uint8Array): void {
    if (!this.#link.isOpen) return;
    this.#options.context.wire('out', packet);
    this.#link.send(packet);
  }

  #received(packet: Buffer): void {
    const { context } = this.#options;
    if (packet[0] === frame.keepAlive || packet[0] === frame.keepAliveAnswer) {
      context.wire('in', packet);
      this.#link.hear();
      if (packet[0] === frame.keepAlive) this.#send(Buffer.of(frame.keepAliveAnswer));
      return;
    }
    let message: GlowMessage;
    try {
      message = decodeGlow(packet);
    } catch (error) {
      context.wire('in', packet, messageOf(error));
      context.log.warn({}, `rejected a message: ${messageOf(error)}`, 'rejected message');
      return;
    }
    context.wire('in', packet);
    this.#link.hear();
    for (const element of message.elements) this.#learn(element);
    for (const [id, value] of message.streams) this.#hearStream(id, value);
    if (message.result !== undefined && !message.result.isSuccess) this.#writes.failed(message.result.id);
    if (message.elements.length === 0 && message.streams.length === 0 && message.result === undefined)
      this.#answered('');
    this.#apply();
    this.#pump();
  }

  /** Applies the effects of a message: first declares the new parameters, then reports all values in one turn. */
  #apply(): void {
    const { emit, context } = this.#options;
    const [fresh, values] = [this.#fresh.filter(({ isThere }) => isThere), this.#values];
    if (this.#gone.length > 0) emit({ withdraw: this.#gone.splice(0) });
    this.#fresh = [];
    this.#values = [];
    if (fresh.length > 0) {
      emit({ declare: fresh.map((live) => this.#declarationOf(live)) });
      for (const live of fresh) {
        live.own = context.own(live.id);
        if (live.writing === undefined && live.point.access !== 'read-only') live.writing = this.#writes.accept(live);
      }
    }
    if (values.length > 0)
      context.turn(() => {
        for (const set of values) set();
      });
  }

  // Walk through the tree.

  #ask(entry: Entry, tries = 1): void {
    if (!this.#asked.has(entry.path)) this.#toAsk.set(entry, tries);
  }

  #pump(): void {
    const { settings, scheduler } = this.#options.context;
    for (const [entry, tries] of this.#toAsk) {
      if (this.#asked.size >= window || !this.#link.isOpen) return;
      this.#toAsk.delete(entry);
      const timer = scheduler.schedule(() => this.#timedOut(entry, tries), settings.timeout);
      this.#asked.set(entry.path, { entry, tries, timer });
      this.#send(encodeCommand({ path: entry.path, number: commands.getDirectory }, entry.kind));
    }
    if (!this.#isReady && this.#asked.size === 0 && this.#link.isOpen) this.#becomeReady();
  }

  #timedOut(entry: Entry, tries: number): void {
    this.#asked.delete(entry.path);
    if (tries < requestTries) this.#ask(entry, tries + 1);
    else if (entry.path === '') {
      this.#link.fail(`no answer within ${this.#options.context.settings.timeout / 1000} s`);
      return;
    } // some providers do not send an answer for a node without children
    this.#pump();
  }

  #answered(path: string): void {
    const request = this.#asked.get(path);
    if (request === undefined) return;
    request.timer.unsubscribe();
    this.#asked.delete(path);
  }

  #becomeReady(): void {
    const { emit, running, expected } = this.#options;
    this.#isReady = true;
    this.#link.prove();
    const gone = [...this.#lives.values()].filter(({ isThere }) => !isThere);
    for (const live of gone) this.#remove(live);
    this.#apply();
    for (const { id } of gone) if (expected.has(id)) emit({ unset: id });
    running();
    for (const device of this.#devices) emit({ stale: !isReachable(device), device: device.id });
  }

  // Elements.

  #learn(element: Element): void {
    const { path, contents } = element;
    const parentPath = path.slice(0, Math.max(0, path.lastIndexOf('.')));
    this.#answered(path);
    if (contents?.identifier !== undefined) this.#answered(parentPath);
    let entry = this.#entries.get(path);
    if (entry === undefined) {
      entry = this.#create(element, this.#entries.get(parentPath));
      if (entry === undefined) return;
    } else if (entry.kind !== element.kind) return;
    else if (contents !== undefined) entry.contents = { ...entry.contents, ...contents };
    const isNew = contents?.identifier !== undefined && entry.contents === contents;
    if (entry.kind === 'node') this.#learnNode(entry, contents, isNew);
    else if (entry.kind === 'parameter') this.#learnParameter(entry, contents);
    else if (entry.kind === 'matrix') this.#learnMatrix(entry, element, isNew);
    else if (isNew && (contents.argumentCount ?? 0) === 0)
      this.#bind(entry, entry.id, pointOfFunction(contents), undefined);
  }

  #create({ path, kind, contents }: Element, parent: Entry | undefined): Entry | undefined {
    const { log } = this.#options.context;
    if (parent === undefined) {
      // the provider has added an element below a node that the hub does not know
      let above = path;
      do above = above.slice(0, Math.max(0, above.lastIndexOf('.')));
      while (!this.#entries.has(above));
      const nearest = this.#entries.get(above)!;
      if (nearest.kind === 'node' && this.#isIncluded(nearest.id, true)) this.#ask(nearest);
      return undefined;
    }
    if (contents?.identifier === undefined) return undefined;
    if (this.#entries.size >= maxElements) {
      log.warn({}, `the provider has more than ${maxElements} elements; the remaining elements are skipped`);
      return undefined;
    }
    const name = nameOf(contents.identifier, path.slice(path.lastIndexOf('.') + 1), parent.names);
    const id = parent.id === '' ? name : `${parent.id}/${name}`;
    const mistake = parameterIdMistake(id);
    if (mistake !== undefined) {
      log.warn({ path }, `skipped an element: ${mistake}`, 'skipped element');
      return undefined;
    }
    const entry = createEntry(kind, path, id, parent, contents);
    parent.names.add(name);
    parent.children.push(entry);
    this.#entries.set(path, entry);
    return entry;
  }

  #learnNode(entry: Entry, contents: Contents | undefined, isNew: boolean): void {
    if (entry.path === '') return;
    if (contents?.isOnline !== undefined) {
      if (entry.device !== entry) this.#makeDevice(entry);
      if (contents.isOnline !== entry.isOnline) {
        entry.isOnline = contents.isOnline;
        if (this.#isReady) this.#markDevices(entry);
        if (entry.isOnline) this.#ask(entry);
      }
    }
    if (isNew && entry.isOnline && this.#isIncluded(entry.id, true)) this.#ask(entry);
  }

  /**
   * Registers a node that reports whether it is online as the device of all elements below it. Nodes further down that report their own
   * state stay the devices of the elements below them.
   */
  #makeDevice(entry: Entry): void {
    const above = entry.device;
    this.#devices.add(entry);
    const take = (one: Entry) => {
      one.device = entry;
      for (const live of one.targets?.values() ?? []) this.#declareAgain(live);
      if (one.live !== undefined) this.#declareAgain(one.live);
      for (const child of one.children) if (child.device === above) take(child);
    };
    take(entry);
    if (this.#isReady) this.#values.push(() => this.#markDevices(entry));
  }

  #markDevices(entry: Entry): void {
    if (entry.device === entry) this.#options.emit({ stale: !isReachable(entry), device: entry.id });
    for (const child of entry.children) if (child.kind === 'node') this.#markDevices(child);
  }

  #learnParameter(entry: Entry, contents: Contents | undefined): void {
    if (contents === undefined || !this.#isIncluded(entry.id, false)) return;
    const isMore = Object.keys(contents).some((key) => key !== 'value' && key !== 'isOnline');
    if (isMore || entry.live === undefined) {
      const point = pointOfParameter(entry.contents);
      if (point === undefined) return;
      const live = this.#bind(entry, entry.id, point, undefined);
      if (live === undefined) return;
      const { streamId } = entry.contents;
      if (streamId !== undefined && contents.streamId !== undefined) this.#followStream(streamId, live);
    }
    const live = entry.live!;
    if (contents.isOnline !== undefined) entry.isOnline = contents.isOnline;
    const value = contents.value ?? (contents.isOnline === true ? entry.contents.value : undefined);
    if (!entry.isOnline) this.#values.push(() => this.#options.emit({ unset: live.id }));
    else if (value !== undefined) this.#values.push(() => this.#writes.report(live, readValue(live, value)));
  }

  #followStream(streamId: number, live: Live): void {
    const lives = this.#streams.get(streamId);
    if (lives === undefined) this.#streams.set(streamId, new Set([live]));
    else lives.add(live);
    this.#send(encodeCommand({ path: live.entry.path, number: commands.subscribe }, 'parameter'));
  }

  #hearStream(id: number, value: GlowValue): void {
    for (const live of this.#streams.get(id) ?? []) {
      const { stream } = live.entry.contents;
      if (stream === undefined) this.#values.push(() => this.#writes.report(live, readValue(live, value)));
      else if (Buffer.isBuffer(value.value)) {
        const number = readStream(value.value, stream);
        if (number !== undefined)
          this.#values.push(() => this.#writes.report(live, readValue(live, { type: 'real', value: number })));
      }
    }
  }

  #learnMatrix(entry: Entry, { contents, targets, sources, connections }: Element, isNew: boolean): void {
    if (!this.#isIncluded(entry.id, true)) return;
    if (isNew) {
      this.#ask(entry);
      this.#send(encodeCommand({ path: entry.path, number: commands.subscribe }, 'matrix'));
    }
    if (sources !== undefined) entry.sources = sources;
    const isListed = entry.contents.addressing === 1;
    const { targetCount, sourceCount, matrixType } = contents ?? {};
    if ((isListed ? (targets ?? sources) : (targetCount ?? sourceCount ?? matrixType)) !== undefined)
      this.#bindTargets(entry, isListed ? targets : undefined);
    for (const connection of connections ?? []) this.#hearConnection(entry, connection);
  }

  #bindTargets(entry: Entry, listed: readonly number[] | undefined): void {
    const count = Math.min(entry.contents.targetCount ?? 0, this.#options.context.settings.maxDiscovered);
    const numbers = new Set(
      entry.contents.addressing === 1
        ? (listed ?? entry.targets?.keys() ?? [])
        : Array.from({ length: count }, (_, index) => index),
    );
    const point = pointOfTargets(entry.contents, entry.contents.addressing === 1 ? entry.sources : undefined);
    entry.targets ??= new Map();
    for (const [number, live] of entry.targets)
      if (!numbers.has(number)) {
        entry.targets.delete(number);
        this.#remove(live);
      }
    for (const number of numbers) {
      const live = this.#bind(entry, `${entry.id}/${number}`, point, number);
      if (live !== undefined) entry.targets.set(number, live);
    }
  }

  #hearConnection(entry: Entry, { target, sources, disposition }: Connection): void {
    const live = entry.targets?.get(target);
    if (live === undefined || disposition === 2) return; // pending: the target is not connected to these sources yet
    const value = valueOfSources(sources, live.type === 'S');
    this.#values.push(() => {
      if (disposition === 3 && live.wanted !== undefined)
        this.#writes.settle(
          live,
          new HubError('not-confirmed', `${live.id}: the provider refused the write: the target is locked`),
        );
      if (disposition !== 3 || sources.length > 0) this.#writes.report(live, value);
    });
  }

  // Parameters of the hub.

  /** Binds an element to a parameter of the hub: to the parameter from an earlier link or to a new parameter. */
  #bind(entry: Entry, id: string, point: Point, target: number | undefined): Live | undefined {
    const { context, expected } = this.#options;
    if (!this.#isIncluded(id, false)) return undefined;
    const type = expected.get(id) ?? point.type;
    const old = this.#lives.get(id);
    const isOwn = old?.entry === entry && old.target === target;
    if (old?.isThere === true && !isOwn) {
      context.log.warn(
        { parameter: id },
        `${id}: the provider has two elements with this ID; one is left out`,
        'two IDs',
      );
      return undefined;
    }
    const isSame = old !== undefined && old.type === type && old.point.access === point.access;
    if (old !== undefined && !isSame) this.#remove(old);
    if (!isSame && !expected.has(id) && ++this.#declared > context.settings.maxDiscovered) {
      this.#declared--;
      context.log.warn(
        {},
        `the provider has more than ${context.settings.maxDiscovered} parameters; further parameters are left out`,
      );
      return undefined;
    }
    const live: Live = isSame
      ? Object.assign(old, { point, entry, target, isThere: true })
      : {
          ...{ id, type, point, entry, target, isThere: true, key: '' },
          ...{ own: undefined, writing: undefined, unsent: undefined, wanted: undefined, timer: undefined },
        };
    if (target === undefined) entry.live = live;
    this.#lives.set(id, live);
    this.#writes.allow(id);
    this.#declareAgain(live);
    return live;
  }

  #declareAgain(live: Live): void {
    const key = JSON.stringify(this.#declarationOf(live));
    if (key === live.key) return;
    live.key = key;
    this.#fresh.push(live);
  }

  #declarationOf({ id, type, point: { access, about }, entry }: Live): ParameterDeclaration {
    return {
      ...{ id, type, access, about },
      ...(access === 'read-write' && type !== 'T' && { isConfirmed: true }),
      ...(entry.device !== undefined && { device: entry.device.id }),
    };
  }

  #remove(live: Live): void {
    const { id } = live;
    this.#lives.delete(id);
    live.isThere = false;
    live.writing?.unsubscribe();
    if (live.wanted !== undefined)
      this.#writes.settle(live, new HubError('unavailable', `${id}: the provider no longer has this parameter`));
    if (this.#options.expected.has(id)) this.#writes.refuse(id);
    else {
      this.#declared--;
      this.#gone.push(id);
    }
  }
}
