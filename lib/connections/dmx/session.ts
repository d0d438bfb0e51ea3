// The universes of a DMX connection. For a received universe, the sources are merged: the highest priority wins; if several sources have
// this priority, the highest value of each channel wins. A universe is sent when it changes, at most `rate` times per second, and about
// once per second while it does not change.

import type { SchedulerLike, Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { Transport } from '../../device/transport.ts';
import { messageOf } from '../../model/error.ts';
import type { Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { type DmxPacket, type DmxProtocol, maxChannels } from './packets.ts';
import { type DmxSettings, type Fixture, fixturesOf, readChannels, writeChannels } from './settings.ts';

/** The maximum number of sources for one received universe. */
export const maxSources = 32;
/**
 * The interval at which an unchanged universe is sent again, in milliseconds. In both protocols, receivers may consider a universe lost
 * after 1 s.
 */
const refreshMs = 900;
/** The number of times that values are repeated at the full rate after a change, as E1.31 section 6.6.1 requires. */
const repeats = 3;
/** The number of packets that announce the end of a universe (E1.31, section 6.2.6). */
const endings = 3;
/** The interval at which the hub looks for silent sources, in milliseconds. */
const lookMs = 250;

export interface DmxEvents {
  /** Reports the changed values of the parameters in a received packet. */
  received(values: readonly (readonly [Fixture, Value])[]): void;
  /** Reports whether a received universe has a source. */
  heard(universe: number, isHeard: boolean): void;
  running(): void;
  away(reason: string): void;
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
}

export interface DmxOptions {
  readonly settings: DmxSettings;
  readonly protocol: DmxProtocol;
  readonly cid: Uint8Array;
  readonly transport: Transport & { readonly sender?: string };
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  /** Whether unchanged universes are sent again. Tests expect each packet only once. */
  readonly isRepeated: boolean;
  readonly random?: () => number;
  /** Returns a function that schedules `work` for the end of the current turn; see `ConnectionContext.atSettle`. */
  atSettle(work: () => void): () => void;
}

export class DmxSession {
  readonly #options: DmxOptions;
  readonly #events: DmxEvents;
  readonly #link: DeviceLink;
  readonly #received = new Map<number, ReceivedUniverse>();
  readonly #sent = new Map<number, SentUniverse>();
  readonly #settle: () => void;
  #look: Subscription | undefined;

  constructor(options: DmxOptions, events: DmxEvents) {
    const { settings, transport, scheduler, random } = options;
    this.#options = options;
    this.#events = events;
    const { fixtures } = fixturesOf(settings);
    for (const fixture of fixtures) {
      const { universe } = fixture;
      if (fixture.settings.direction === 'in') {
        const own = this.#received.get(universe) ?? new ReceivedUniverse(options.protocol);
        this.#received.set(universe, own);
        own.fixtures.push(fixture);
      } else if (!this.#sent.has(universe)) this.#sent.set(universe, new SentUniverse(universe));
      const sent = this.#sent.get(universe);
      if (fixture.settings.direction === 'out' && sent !== undefined) sent.reach(fixture);
    }
    this.#settle = options.atSettle(() => {
      for (const universe of this.#sent.values()) if (universe.isChanged) this.#sendSoon(universe);
    });
    this.#link = new DeviceLink(
      {
        transports: [transport],
        connectTimeoutMs: 5000,
        idleTimeoutMs: undefined,
        scheduler,
        ...(random && { random }),
      },
      {
        opened: () => {
          this.#link.prove();
          this.#events.running();
          for (const universe of this.#sent.values()) this.#send(universe);
        },
        received: (bytes) => this.#take(bytes as Buffer),
        ended: (reason) => {
          for (const universe of this.#sent.values()) universe.timer?.unsubscribe();
          for (const universe of this.#received.values()) universe.clear();
          this.#events.away(reason);
          return 0;
        },
      },
    );
  }

  start(): void {
    this.#link.start();
    if (this.#received.size > 0) this.#watch();
  }

  async stop(): Promise<void> {
    this.#look?.unsubscribe();
    for (const universe of this.#sent.values()) {
      universe.timer?.unsubscribe();
      if (this.#options.isRepeated && this.#link.isOpen)
        for (let count = 0; count < endings; count++) this.#link.send(this.#packetOf(universe, true));
    }
    await this.#link.stop();
  }

  /** Sets the channels of a parameter. The channels are sent at the end of the turn. */
  write(fixture: Fixture, value: Value): void {
    const universe = this.#sent.get(fixture.universe)!;
    if (writeChannels(fixture, value, universe.channels)) universe.isChanged = true;
    this.#settle();
  }

  /** Sets the channels of a parameter before the session starts. */
  begin(fixture: Fixture, value: Value): void {
    writeChannels(fixture, value, this.#sent.get(fixture.universe)!.channels);
  }

  /** Discards the reported values of a received universe, so that all values are reported again as soon as the universe has a source. */
  forget(universe: number): void {
    this.#received.get(universe)!.reset();
  }

  refuse(bytes: Uint8Array, reason: string): void {
    this.#events.wire('in', bytes, reason);
    this.#options.log.warn({}, `rejected a packet: ${reason}`, 'refused');
  }

  // Sending

  #sendSoon(universe: SentUniverse): void {
    universe.repeated = 0;
    const waitMs = universe.sentMs + 1000 / this.#options.settings.rate - this.#options.scheduler.now();
    if (waitMs <= 0) this.#send(universe);
    else if (!universe.isSoon) this.#sendAfter(universe, waitMs, true);
  }

  #sendAfter(universe: SentUniverse, waitMs: number, isSoon: boolean): void {
    universe.timer?.unsubscribe();
    universe.isSoon = isSoon;
    universe.timer = this.#options.scheduler.schedule(() => this.#send(universe), waitMs);
  }

  #send(universe: SentUniverse): void {
    const { scheduler, settings, isRepeated } = this.#options;
    universe.timer?.unsubscribe();
    universe.isChanged = universe.isSoon = false;
    universe.sentMs = scheduler.now();
    if (!this.#link.isOpen) return;
    const packet = this.#packetOf(universe, false);
    this.#events.wire('out', packet);
    this.#link.send(packet);
    if (!isRepeated) return;
    const isFast = universe.repeated++ < repeats;
    this.#sendAfter(universe, isFast ? 1000 / settings.rate : refreshMs, false);
  }

  #packetOf({ universe, channels, used, sequence }: SentUniverse, isTerminated: boolean): Buffer {
    const { protocol, settings, cid } = this.#options;
    const { name, priority } = settings;
    this.#sent.get(universe)!.sequence = (sequence + 1) & 255;
    return protocol.encode({
      ...{ universe, name, priority, cid, sequence, isTerminated },
      channels: channels.subarray(0, used),
    });
  }

  // Receiving

  #take(bytes: Buffer): void {
    const { protocol, transport, scheduler } = this.#options;
    const packet = protocol.decode(bytes);
    if (typeof packet === 'string') {
      this.refuse(bytes, packet);
      return;
    }
    const universe = packet.kind === 'dmx' ? this.#received.get(packet.universe) : undefined;
    if (packet.kind !== 'dmx' || universe === undefined) return;
    this.#events.wire('in', bytes);
    const source = packet.source || (transport.sender ?? '');
    try {
      if (!universe.take(packet, source, scheduler.now())) return;
      this.#report(packet.universe, universe);
    } catch (error) {
      this.refuse(bytes, messageOf(error));
    }
  }

  #report(number: number, universe: ReceivedUniverse): void {
    const { isHeard } = universe;
    if (isHeard) {
      const changed = universe.merge();
      if (changed.length > 0) this.#events.received(changed);
    }
    if (universe.wasHeard === isHeard) return;
    universe.wasHeard = isHeard;
    this.#events.heard(number, isHeard);
  }

  /** Periodically removes sources that have been silent for too long. */
  #watch(): void {
    const { scheduler, settings, protocol } = this.#options;
    const limitMs = settings.idleTimeout ?? protocol.idleTimeoutMs;
    this.#look = scheduler.schedule(() => {
      for (const [number, universe] of this.#received)
        if (universe.forget(scheduler.now() - limitMs)) this.#report(number, universe);
      this.#watch();
    }, lookMs);
  }
}

/** The state of a universe that the hub sends. */
class SentUniverse {
  readonly universe: number;
  readonly channels = new Uint8Array(maxChannels);
  /**
   * The number of channels to send: the channels up to the last parameter, but at least 24, because some receivers ignore shorter packets.
   */
  used = 24;
  sequence = 0;
  isChanged = false;
  /** Whether a timer is already set to send a change as soon as the rate permits. */
  isSoon = false;
  repeated = 0;
  sentMs = Number.NEGATIVE_INFINITY;
  timer: Subscription | undefined;

  constructor(universe: number) {
    this.universe = universe;
  }

  /** Ensures that the packets are long enough to contain the channels of a parameter. */
  reach({ at, settings: { as } }: Fixture): void {
    this.used = Math.max(this.used, at + (as === 'word' ? 2 : 1));
  }
}

interface Source {
  readonly channels: Uint8Array;
  priority: number;
  sequence: number;
  heardMs: number;
}

/** The state of a universe that the hub receives, with its sources. */
class ReceivedUniverse {
  readonly fixtures: Fixture[] = [];
  readonly #protocol: DmxProtocol;
  readonly #sources = new Map<string, Source>();
  readonly #channels = new Uint8Array(maxChannels);
  /** The last reported value of each parameter, in the order of `fixtures`; undefined if no value has been reported yet. */
  #values: (Value | undefined)[] = [];
  /** Whether the last report stated that the universe has a source. */
  wasHeard = false;

  constructor(protocol: DmxProtocol) {
    this.#protocol = protocol;
  }

  get isHeard(): boolean {
    return this.#sources.size > 0;
  }

  /**
   * Stores the channel values from a source. Returns whether any merged value may have changed. Errors: `Error` if there are too many
   * sources.
   */
  take(packet: DmxPacket, name: string, nowMs: number): boolean {
    const { channels, priority, sequence, isTerminated } = packet;
    let source = this.#sources.get(name);
    if (source !== undefined && this.#protocol.isOld(sequence, source.sequence)) return false;
    if (isTerminated) return this.#sources.delete(name);
    if (source === undefined) {
      if (this.#sources.size >= maxSources) throw new Error(`expected at most ${maxSources} sources per universe`);
      source = { channels: new Uint8Array(maxChannels), priority, sequence, heardMs: nowMs };
      this.#sources.set(name, source);
    }
    source.channels.set(channels);
    source.channels.fill(0, channels.length);
    source.priority = priority;
    source.sequence = sequence;
    source.heardMs = nowMs;
    return true;
  }

  /** Removes sources that were last heard before the time `beforeMs`. Returns whether any source was removed. */
  forget(beforeMs: number): boolean {
    const before = this.#sources.size;
    for (const [name, { heardMs }] of this.#sources) if (heardMs < beforeMs) this.#sources.delete(name);
    return this.#sources.size < before;
  }

  /** Removes all sources, for example because the socket was closed. */
  clear(): void {
    this.#sources.clear();
    this.wasHeard = false;
  }

  /** Merges the values of all sources, and returns the parameters whose values have changed, with their new values. */
  merge(): readonly (readonly [Fixture, Value])[] {
    const highest = Math.max(...[...this.#sources.values()].map(({ priority }) => priority));
    const winners = [...this.#sources.values()].filter(({ priority }) => priority === highest);
    this.#channels.set(winners[0]!.channels);
    for (const { channels } of winners.slice(1))
      for (let at = 0; at < maxChannels; at++)
        if (channels[at]! > this.#channels[at]!) this.#channels[at] = channels[at]!;
    const changed: [Fixture, Value][] = [];
    for (const [place, fixture] of this.fixtures.entries()) {
      const value = readChannels(fixture, this.#channels);
      if (this.#values[place] === value) continue;
      this.#values[place] = value;
      changed.push([fixture, value]);
    }
    return changed;
  }

  /** Discards the reported values, so that all values count as changed. */
  reset(): void {
    this.#values = [];
  }
}
