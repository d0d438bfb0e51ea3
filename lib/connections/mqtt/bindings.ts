// Connects parameters to topics: determines which values a message sets, which payload a write publishes, and which writes are pending
// until the device reports the value (D-46). When a device reports that it is offline, its parameters become stale; when the link to the
// broker is lost, all parameters become stale.

import { Subscription } from 'rxjs';
import { acceptedValue, Payload } from '../../device/payload.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { About, Change, Parameter, ParameterDeclaration } from '../../model/parameter.ts';
import { toText, type Value, type ValueType } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import type { Broker, Filter } from './broker.ts';
import type { MqttSettings } from './settings.ts';

/** How long a write stays pending until the device reports the value, in milliseconds. */
const confirmMs = 5000;
/** The maximum size of a payload that is parsed, in bytes. */
export const maxPayloadBytes = 1_048_576;

/** A topic that reports whether a device is online. */
export interface Availability {
  readonly topic: string;
  /** Returns whether the device is online, or undefined if the payload does not contain this information. */
  read(payload: Payload): boolean | undefined;
}

/**
 * A device behind the broker, with the topics that report its availability. The device counts as online until a message arrives at one of
 * these topics.
 */
export interface Device {
  readonly name: string;
  readonly availability: readonly Availability[];
  /**
   * How reports from several topics are combined. `all` (default): offline if any topic reports offline; `any`: online if any topic reports
   * online; `latest`: the latest message decides.
   */
  readonly mode?: 'all' | 'any' | 'latest';
}

/** A parameter and the topics that report or set its value. */
export interface Binding {
  readonly id: string;
  readonly type: ValueType;
  readonly about: About | undefined;
  readonly device: Device | undefined;
  /** The topic that reports the value; undefined if no topic reports it. */
  readonly topic: string | undefined;
  /** Further topics that report the value in the same format. */
  readonly moreTopics?: readonly string[];
  /**
   * The time after a message for which the value is valid, in milliseconds. Without a further message, the parameter's device then becomes
   * stale.
   */
  readonly expireMs?: number;
  /** The time after which true becomes false unless true is reported again, in milliseconds. */
  readonly offMs?: number;
  /**
   * Reads the value from a payload. Returns null if the value is unknown, and undefined if the payload does not concern the parameter.
   * Errors: `not-convertible`, any expression error.
   */
  read(payload: Payload): Value | null | undefined;
  readonly write: BindingWrite | undefined;
}

export interface BindingWrite {
  readonly topic: string;
  readonly isRetained: boolean;
  readonly isOptimistic: boolean;
  /** Returns the payload that sets a value. Errors: `not-convertible`, `out-of-range`, any expression error. */
  format(value: Value): string;
}

export function declarationOf({ id, type, about, device, topic, write }: Binding): ParameterDeclaration {
  const access = write === undefined ? 'read-only' : topic === undefined ? 'write-only' : 'read-write';
  return {
    id,
    type,
    access,
    ...(access === 'read-write' && type !== 'T' && !isShared({ topic, write }) && { isConfirmed: true }),
    ...(about !== undefined && { about }),
    ...(device !== undefined && { device: device.name }),
  };
}

function topicsOf({ topic, moreTopics = [] }: Pick<Binding, 'topic' | 'moreTopics'>): readonly string[] {
  return topic === undefined ? moreTopics : [topic, ...moreTopics];
}

/**
 * Returns whether the topic that reports the value also receives the writes. Anyone may publish to such a topic, so a write needs no
 * confirmation.
 */
function isShared({ topic, write }: Pick<Binding, 'topic' | 'write'>): boolean {
  return write !== undefined && write.topic === topic;
}

/** The state of a binding while the connection is running. */
interface Live {
  readonly binding: Binding;
  readonly own: Parameter | undefined;
  wanted: { readonly value: Value; readonly change: Change | undefined; timer: Subscription } | undefined;
  expiring: Subscription | undefined;
  switchingOff: Subscription | undefined;
  /** The value to publish; undefined if no value is waiting to be published. */
  unsent: Value | undefined;
  writing: Subscription | undefined;
  /** Whether the parameter's current value came from the topic. */
  isHeard: boolean;
  /** Whether the value that the hub publishes after a connect is newer than the retained value on the broker. */
  isAhead: boolean;
}

interface LiveDevice {
  readonly device: Device;
  /** The last availability report from each topic; undefined if the topic has not reported yet. */
  readonly said: (boolean | undefined)[];
  /** The latest availability report from any topic. */
  latest: boolean | undefined;
  isExpired: boolean;
  users: number;
  isOnline: boolean;
}

export interface BindingsOptions {
  readonly context: ConnectionContext<MqttSettings>;
  readonly broker: Broker;
  emit(event: ConnectionEvent): void;
}

export class Bindings {
  readonly #options: BindingsOptions;
  readonly #live = new Map<string, Live>();
  /**
   * The subscriptions that refuse writes to parameters that a device has not announced yet or no longer announces, keyed by Parameter ID.
   */
  readonly #absent = new Map<string, Subscription>();
  readonly #byTopic = new Map<string, Set<Live>>();
  readonly #devices = new Map<string, LiveDevice>();
  readonly #byAvailability = new Map<string, Set<readonly [LiveDevice, number]>>();
  #isFresh = false;

  constructor(options: BindingsOptions) {
    this.#options = options;
  }

  get(id: string): Binding | undefined {
    return this.#live.get(id)?.binding;
  }

  /** Binds declared parameters to their topics. Replaces earlier bindings for the same IDs. */
  add(bindings: readonly Binding[]): void {
    const { context, broker } = this.#options;
    const filters: Filter[] = [];
    for (const binding of bindings) {
      this.remove([binding.id]);
      const { id, write, device } = binding;
      this.#absent.get(id)?.unsubscribe(); // before the new subscription, because unsubscribing later would undo it
      this.#absent.delete(id);
      const live: Live = {
        binding,
        own: context.own(id),
        wanted: undefined,
        expiring: undefined,
        switchingOff: undefined,
        unsent: undefined,
        writing: undefined,
        isHeard: false,
        isAhead: false,
      };
      this.#live.set(id, live);
      for (const one of topicsOf(binding))
        if (addTo(this.#byTopic, one, live)) filters.push({ topic: one, isRetainedWanted: true });
      if (device !== undefined) filters.push(...this.#addDevice(device));
      if (write !== undefined) live.writing = this.#takeWrites(live, write);
    }
    broker.subscribe(filters);
  }

  /** Refuses writes to declared parameters until they are bound. */
  refuseUntilBound(ids: Iterable<string>): void {
    const { context } = this.#options;
    for (const id of ids) {
      if (this.#live.has(id)) continue;
      const reason = `${id}: the device currently does not have this parameter`;
      const refuse = () => {
        throw new HubError('unavailable', reason);
      };
      const warn = () => context.log.warn({ parameter: id }, `cannot send ${reason}`, 'not sent'); // a trigger
      this.#absent.get(id)?.unsubscribe();
      this.#absent.set(id, context.inbox(id, refuse).subscribe(warn));
    }
  }

  remove(ids: readonly string[]): void {
    const topics: string[] = [];
    for (const id of ids) {
      const live = this.#live.get(id);
      if (live === undefined) continue;
      this.#live.delete(id);
      live.writing?.unsubscribe();
      endTimers(live);
      this.#giveUp(live, new HubError('unavailable', `${id}: the device no longer has this parameter`));
      const { device } = live.binding;
      for (const one of topicsOf(live.binding))
        if (removeFrom(this.#byTopic, one, live) && !this.#byAvailability.has(one)) topics.push(one);
      if (device !== undefined) topics.push(...this.#removeDevice(device));
    }
    this.#options.broker.unsubscribe(topics);
  }

  /** Publishes the values of shared topics after a connect, except for values that came from these topics. */
  opened(): void {
    for (const live of this.#live.values()) {
      const { own, binding } = live;
      if (!isShared(binding) || binding.type === 'T' || own?.value === undefined || live.isHeard) continue;
      live.unsent = own.value;
      live.isAhead = true;
      this.#publish(live);
    }
  }

  /** Called when all retained messages have arrived. Later messages count even if the hub has published its own value. */
  retained(): void {
    for (const live of this.#live.values()) live.isAhead = false;
  }

  /**
   * Called when all topics are subscribed and all values are published. The values are then fresh, except for the values from offline
   * devices.
   */
  ready(): void {
    this.#isFresh = true;
    const { emit } = this.#options;
    emit({ stale: false });
    for (const { device, isOnline } of this.#devices.values()) emit({ stale: !isOnline, device: device.name });
  }

  away(reason: string): void {
    this.#isFresh = false;
    this.#options.emit({ stale: true });
    for (const live of this.#live.values()) {
      live.expiring?.unsubscribe();
      if (live.wanted !== undefined)
        this.#giveUp(live, new HubError('unavailable', `${live.binding.id}: the broker is offline: ${reason}`));
    }
    for (const one of this.#devices.values()) {
      one.said.fill(undefined);
      one.latest = undefined;
      one.isExpired = false;
      one.isOnline = true;
    }
  }

  forgetAll(): void {
    for (const { binding } of this.#live.values()) if (binding.type !== 'T') this.#options.emit({ unset: binding.id });
  }

  /** Handles a message. Returns false if neither a parameter nor a device uses the topic. */
  received(topic: string, bytes: Buffer, isRetained: boolean): boolean {
    const found = this.#byTopic.get(topic);
    const devices = this.#byAvailability.get(topic);
    if (found === undefined && devices === undefined) return false;
    const { context } = this.#options;
    if (bytes.length > maxPayloadBytes) {
      context.log.warn(
        { topic },
        `${topic}: ignored a payload of more than ${maxPayloadBytes} bytes`,
        'payload too long',
      );
      return true;
    }
    const payload = new Payload(bytes);
    if (devices !== undefined) for (const [device, place] of devices) this.#hear(device, place, payload);
    if (found === undefined) return true;
    if (found.size === 1) for (const live of found) this.#read(live, payload, isRetained);
    else
      context.turn(() => {
        for (const live of found) this.#read(live, payload, isRetained);
      });
    return true;
  }

  stop(): void {
    for (const refusing of this.#absent.values()) refusing.unsubscribe();
    for (const live of this.#live.values()) {
      live.writing?.unsubscribe();
      live.wanted?.timer.unsubscribe();
      endTimers(live);
    }
  }

  #read(live: Live, payload: Payload, isRetained: boolean): void {
    const { binding, own } = live;
    const { id, type } = binding;
    if (isRetained && (type === 'T' || live.isAhead)) return; // it fired long ago or is older than the hub's value
    const { emit, context } = this.#options;
    if (binding.expireMs !== undefined) this.#restartExpiry(live, binding.expireMs);
    let value: Value | null | undefined;
    try {
      value = payload.isEmpty && type !== 'S' && type !== 'T' ? null : binding.read(payload);
    } catch (error) {
      context.log.warn({ parameter: id }, `cannot read ${id}: ${messageOf(error)}`, `cannot read ${id}`);
      return;
    }
    if (value === undefined) return;
    if (value === null) {
      if (own?.value !== undefined) emit({ unset: id });
      return;
    }
    live.isHeard = true;
    if (binding.offMs !== undefined) this.#restartOff(live, binding.offMs, value);
    const { wanted } = live;
    if (wanted !== undefined && toText(wanted.value) === toText(value)) {
      wanted.timer.unsubscribe();
      live.wanted = undefined;
      emit({ set: id, own, value, because: wanted.change });
    } else if (isRetained && own?.value === undefined) emit({ set: id, value, isRestored: true });
    else emit({ set: id, own, value });
  }

  #restartExpiry(live: Live, expireMs: number): void {
    const device = this.#devices.get(live.binding.device?.name ?? '');
    if (device === undefined) return;
    const set = (isExpired: boolean) => {
      device.isExpired = isExpired;
      this.#update(device);
    };
    live.expiring?.unsubscribe();
    live.expiring = this.#options.context.scheduler.schedule(() => set(true), expireMs);
    set(false);
  }

  #restartOff(live: Live, offMs: number, value: Value): void {
    const { context, emit } = this.#options;
    live.switchingOff?.unsubscribe();
    if (value === true)
      live.switchingOff = context.scheduler.schedule(() => emit({ set: live.binding.id, value: false }), offMs);
  }

  // Device availability.

  #addDevice(device: Device): Filter[] {
    const known = this.#devices.get(device.name);
    if (known !== undefined) {
      known.users++;
      return [];
    }
    const live: LiveDevice = {
      device,
      said: device.availability.map(() => undefined),
      latest: undefined,
      isExpired: false,
      users: 1,
      isOnline: true,
    };
    this.#devices.set(device.name, live);
    if (this.#isFresh) this.#options.emit({ stale: false, device: device.name });
    return device.availability.flatMap(({ topic }, place) =>
      addTo(this.#byAvailability, topic, [live, place] as const) ? [{ topic, isRetainedWanted: true }] : [],
    );
  }

  #removeDevice(device: Device): string[] {
    const live = this.#devices.get(device.name);
    if (live === undefined || --live.users > 0) return [];
    this.#devices.delete(device.name);
    return live.device.availability.flatMap(({ topic }) => {
      const all = this.#byAvailability.get(topic);
      for (const one of all ?? []) if (one[0] === live) all!.delete(one);
      if (all === undefined || all.size > 0) return [];
      this.#byAvailability.delete(topic);
      return this.#byTopic.has(topic) ? [] : [topic];
    });
  }

  #hear(live: LiveDevice, place: number, payload: Payload): void {
    const said = live.device.availability[place]!.read(payload);
    if (said === undefined) return;
    live.said[place] = said;
    live.latest = said;
    this.#update(live);
  }

  #update(live: LiveDevice): void {
    const isOnline = !live.isExpired && isAvailable(live);
    if (isOnline === live.isOnline) return;
    live.isOnline = isOnline;
    if (this.#isFresh) this.#options.emit({ stale: !isOnline, device: live.device.name });
  }

  // Writes to parameters.

  #takeWrites(live: Live, write: BindingWrite): Subscription {
    const { context } = this.#options;
    const { id, type, about = {} } = live.binding;
    const accept = (input: unknown) => {
      if (!isShared(live.binding)) this.#expectThere(live);
      const value = acceptedValue(type, about, input);
      write.format(value);
      return value;
    };
    return context.inbox(id, accept).subscribe((value) => this.#write(live, write, value));
  }

  /** Checks that a parameter's device is online. Errors: `unavailable`. */
  #expectThere({ binding: { id, device } }: Live): void {
    if (!this.#isFresh) throw new HubError('unavailable', `${id}: the broker is offline`);
    if (device !== undefined && this.#devices.get(device.name)?.isOnline === false)
      throw new HubError('unavailable', `${id}: the device is offline`);
  }

  #write(live: Live, write: BindingWrite, value: Value): void {
    const { context, broker, emit } = this.#options;
    const { id, type, topic } = live.binding;
    if (type === 'T') {
      try {
        this.#expectThere(live);
        if (!broker.fire(write.topic, write.format(value)))
          throw new HubError('unavailable', `${id}: too many triggers are waiting to be sent`);
      } catch (error) {
        context.log.warn({ parameter: id }, `cannot send ${id}: ${messageOf(error)}`, 'not sent');
      }
      return;
    }
    const change = context.cause();
    live.isHeard = false;
    live.unsent = value;
    if (!this.#isFresh && isShared(live.binding)) live.isAhead = true;
    if (topic !== undefined && !isShared(live.binding)) {
      live.wanted?.timer.unsubscribe();
      live.wanted = { value, change, timer: Subscription.EMPTY };
      if (!this.#isFresh) {
        this.#giveUp(live, new HubError('unavailable', `${id}: the broker is offline`));
        return;
      }
      if (write.isOptimistic) {
        live.wanted = undefined;
        emit({ set: id, value, because: change });
      } else this.#awaitReport(live);
    }
    this.#publish(live);
  }

  #awaitReport(live: Live): void {
    const { wanted, binding } = live;
    wanted!.timer = this.#options.context.scheduler.schedule(() => {
      if (live.wanted === wanted)
        this.#giveUp(
          live,
          new HubError(
            'not-confirmed',
            `${binding.id}: the device has not reported the value within ${confirmMs / 1000} s`,
          ),
        );
    }, confirmMs);
  }

  #giveUp(live: Live, error: HubError): void {
    if (live.wanted === undefined) return;
    live.wanted.timer.unsubscribe();
    live.wanted = undefined;
    live.unsent = undefined;
    this.#options.emit({ settle: live.binding.id, error });
  }

  #publish(live: Live): void {
    const { topic, isRetained, format } = live.binding.write!;
    this.#options.broker.publish(outgoingOf(live, topic, isRetained, format));
  }
}

function isAvailable({ device: { mode }, said, latest }: LiveDevice): boolean {
  if (mode === 'latest') return latest !== false;
  return !said.includes(false) || (mode === 'any' && said.includes(true));
}

function endTimers({ expiring, switchingOff }: Live): void {
  expiring?.unsubscribe();
  switchingOff?.unsubscribe();
}

const outgoings = new WeakMap<Live, ReturnType<typeof createOutgoing>>();

/**
 * Returns the object that represents the topic of a binding in the publishing queue. It is the same object for every call, so that the
 * queue contains each topic only once.
 */
function outgoingOf(live: Live, topic: string, isRetained: boolean, format: (value: Value) => string) {
  const known = outgoings.get(live) ?? createOutgoing(live, topic, isRetained, format);
  outgoings.set(live, known);
  return known;
}

function createOutgoing(live: Live, topic: string, isRetained: boolean, format: (value: Value) => string) {
  const take = () => {
    const { unsent } = live;
    live.unsent = undefined;
    if (unsent === undefined) return undefined;
    try {
      return format(unsent);
    } catch {
      return undefined; // `accept` has reported the error
    }
  };
  return { topic, isRetained, take };
}

/** Adds an item to the set for a key. Returns whether the key is new. */
function addTo<Item>(map: Map<string, Set<Item>>, key: string, item: Item): boolean {
  const items = map.get(key);
  if (items === undefined) map.set(key, new Set([item]));
  else items.add(item);
  return items === undefined;
}

/** Removes an item from the set for a key. Returns whether the set is now empty. */
function removeFrom<Item>(map: Map<string, Set<Item>>, key: string, item: Item): boolean {
  const items = map.get(key);
  items?.delete(item);
  if (items === undefined || items.size > 0) return false;
  return map.delete(key);
}
