// Receives a device's notifications: traps, and informs, which the hub acknowledges. All connections with the same port share it, and the
// sender's address decides to which connection a notification belongs. If no connection names the sender, the notification is refused
// unread.

import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import type { SchedulerLike } from 'rxjs';
import { type Item, readFirst } from '../../device/ber.ts';
import { DeviceLink } from '../../device/link.ts';
import { type Place, type Refuse, type Sender, UdpPort } from '../../device/ports.ts';
import type { Link, LinkListener, Transport } from '../../device/transport.ts';
import { messageOf } from '../../model/error.ts';
import type { Log } from '../connection.ts';
import { listeningPlace, readPlace } from '../places.ts';
import { MessageLimit, openCommunity, version2c, versionOf, wrapCommunity } from './envelope.ts';
import {
  decodeOid,
  decodePdu,
  encodePdu,
  encodeVarbinds,
  integerBytes,
  type Pdu,
  tags,
  trapOid,
  type Varbind,
  verbs,
} from './message.ts';
import type { SnmpSettings } from './settings.ts';
import {
  authOnly,
  contentOf,
  EngineClock,
  isAuthentic,
  isReportable,
  levelOf,
  openMessage,
  type Sealed,
  type SecureMessage,
  sealMessage,
  timeWindowS,
  User,
  usmCounters,
} from './usm.ts';

/** The maximum number of a device's engines whose clocks are known. */
const keptClocks = 16;
/** The maximum number of informs that are remembered, and for how long, so that a repeated inform has no effect. */
const keptInforms = 64;
const informMs = 60_000;
/** The maximum number of bytes of a refused packet that are shown. */
const shownBytes = 256;

// The port

interface Member {
  readonly addresses: ReadonlySet<string>;
  readonly listener: LinkListener;
  received(bytes: Buffer, sender: Sender): void;
  readonly refuse: Refuse;
}

/** A UDP port that several connections share. */
class SharedPort {
  readonly #port: UdpPort;
  readonly #members = new Set<Member>();
  readonly #byAddress = new Map<string, Set<Member>>();
  #isOpen = false;

  constructor(bind: Place) {
    const refuse: Refuse = (bytes, reason) => this.#refuse(bytes, reason);
    this.#port = new UdpPort({ bind, places: [], guard: undefined, refuse });
  }

  join(member: Member): void {
    this.#members.add(member);
    for (const address of member.addresses) {
      const members = this.#byAddress.get(address) ?? new Set();
      this.#byAddress.set(address, members.add(member));
    }
    if (this.#isOpen) queueMicrotask(() => this.#members.has(member) && member.listener.opened());
    else if (this.#members.size === 1) this.#open();
  }

  leave(member: Member): Promise<void> {
    this.#members.delete(member);
    for (const address of member.addresses) {
      const members = this.#byAddress.get(address);
      if (members?.delete(member) && members.size === 0) this.#byAddress.delete(address);
    }
    return this.#members.size === 0 ? this.#port.close() : Promise.resolve();
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  #open(): void {
    this.#port.open({
      opened: () => {
        this.#isOpen = true;
        for (const { listener } of [...this.#members]) listener.opened();
      },
      closed: (reason) => {
        this.#isOpen = false;
        const members = [...this.#members];
        this.#members.clear();
        this.#byAddress.clear();
        for (const { listener } of members) listener.closed(reason);
      },
      received: (bytes) => {
        const sender = this.#port.sender!;
        const address = sender.host.replace(/^::ffff:/, '');
        const packet = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const members = this.#byAddress.get(address);
        for (const member of members ?? []) member.received(packet, sender);
        if (members === undefined)
          this.#refuse(packet, 'expected a notification from a device that a connection names');
      },
    });
  }

  #refuse(bytes: Uint8Array, reason: string): void {
    const [first] = this.#members;
    first?.refuse(bytes, reason);
  }
}

const ports = new Map<string, SharedPort>();

/** A transport over a shared port, for packets from the given hosts. */
function sharedTransport(
  bind: Place,
  hosts: readonly string[],
  member: Pick<Member, 'received' | 'refuse'>,
): Transport {
  const key = `${bind.host} ${bind.port}`;
  let joined: Member | undefined;
  const leave = async () => {
    const port = ports.get(key);
    if (port === undefined || joined === undefined) return;
    const left = port.leave(joined);
    joined = undefined;
    if (port.isEmpty) ports.delete(key);
    await left;
  };
  return {
    name: `UDP port ${bind.port}`,
    keepsFrames: true,
    isPassive: true,
    open(listener) {
      let isEnded = false;
      void addressesOf(hosts, isIPv6(bind.host)).then(
        (addresses) => {
          if (isEnded) return;
          const port = ports.get(key) ?? new SharedPort(bind);
          ports.set(key, port);
          joined = { addresses, listener, ...member };
          port.join(joined);
        },
        (error) => {
          if (!isEnded) listener.closed(`${messageOf(error)}; check traps.from`);
        },
      );
      const link: Link = {
        send: () => {},
        end: () => {
          isEnded = true;
          void leave();
        },
      };
      return link;
    },
    close: leave,
  };
}

async function addressesOf(hosts: readonly string[], withIPv6: boolean): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    hosts.map(async (host) =>
      isIP(host) === 0
        ? (await lookup(host, { all: true, ...(!withIPv6 && { family: 4 }) })).map(({ address }) => address)
        : [host],
    ),
  );
  return new Set(found.flat());
}

/** Returns the local address on which the hub listens for notifications. */
export function trapPlace({ traps, udp, hosts }: SnmpSettings): Place {
  const peers =
    traps!.from.length > 0 ? traps!.from.map((host) => ({ host, port: 0 })) : [udp!, ...hosts].map(readPlace);
  return listeningPlace(traps!.listen, peers);
}

// Notifications

export interface TrapOptions {
  readonly id: string;
  readonly settings: SnmpSettings;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  timeOfDay(): number;
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  /** A test's transport, whose messages have no envelope. */
  readonly played?: Transport | undefined;
}

export interface TrapEvents {
  /** Reports a notification: its OID and its objects. */
  notified(oid: string, varbinds: readonly Varbind[]): void;
  /** Reports that the port is open; `reason` says why it is not. */
  state(reason: string | undefined): void;
}

/** Divides a notification into its OID and its objects. If the message is not a notification, returns the reason as a sentence. */
export function notificationOf({
  verb,
  varbinds,
}: Pdu): { readonly oid: string; readonly varbinds: readonly Varbind[] } | string {
  if (verb !== verbs.trap && verb !== verbs.inform) return 'expected a trap or an inform';
  const name = varbinds[1];
  if (name?.oid !== trapOid || name.tag !== tags.oid)
    return 'expected the OID of the notification as its second object';
  return { oid: decodeOid(name.bytes), varbinds: varbinds.slice(2) };
}

/** The start of the engine's `boots` count, which is in seconds since this time, so that it grows with each start without being stored. */
const firstBootMs = Date.UTC(2020);

export class TrapReceiver {
  readonly #options: TrapOptions;
  readonly #events: TrapEvents;
  readonly #link: DeviceLink;
  readonly #community: Buffer | undefined;
  readonly #user: User | undefined;
  /** The hub's engine, to which informs are addressed. */
  readonly #engineId: Buffer;
  readonly #boots: number;
  readonly #startMs: number;
  readonly #clocks = new Map<string, EngineClock>();
  readonly #informs = new Map<number, number>();
  readonly #limit: MessageLimit;

  constructor(options: TrapOptions, events: TrapEvents) {
    const { settings, scheduler, id, timeOfDay } = options;
    const { community, user, from, engineId, perSecond } = settings.traps!;
    this.#options = options;
    this.#events = events;
    this.#limit = new MessageLimit(perSecond);
    const isOwn = community !== undefined || user !== undefined;
    const its = isOwn ? { community, user } : settings;
    this.#community = its.community === undefined ? undefined : Buffer.from(its.community);
    this.#user = its.user && new User(its.user);
    this.#engineId = engineId === undefined ? ownEngineId(id) : Buffer.from(engineId, 'hex');
    this.#boots = Math.max(1, Math.floor((timeOfDay() - firstBootMs) / 1000));
    this.#startMs = scheduler.now();
    const hosts = from.length > 0 ? from : [settings.udp!, ...settings.hosts].map((place) => readPlace(place).host);
    const shared = sharedTransport(trapPlace(settings), hosts, {
      received: (bytes, sender) => this.#received(bytes, (item) => this.#take(item, bytes, sender)),
      refuse: (bytes, reason) => this.#refuse(bytes, reason),
    });
    const transport = options.played ?? shared;
    this.#link = new DeviceLink(
      { transports: [transport], connectTimeoutMs: 5000, idleTimeoutMs: undefined, scheduler },
      {
        opened: () => {
          this.#link.prove();
          events.state(undefined);
        },
        received: (bytes) => {
          const packet = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
          const answer = (pdu: Buffer) => this.#link.send(pdu);
          this.#received(packet, (item) => this.#notify(decodePdu(item), packet, answer));
        },
        ended: (reason) => {
          events.state(`${transport.name}: ${reason}`);
          return 0;
        },
      },
    );
  }

  start(): void {
    this.#link.start();
  }

  stop(): Promise<void> {
    return this.#link.stop();
  }

  #refuse(bytes: Uint8Array, reason: string): void {
    this.#options.wire('in', bytes.subarray(0, shownBytes), reason);
    this.#options.log.warn({}, `rejected a notification: ${reason}`, 'rejected notification');
  }

  /** Takes a packet that is within the limit. If `take` refuses the packet, it returns the reason as a sentence. */
  #received(bytes: Buffer, take: (item: Item) => string | undefined): void {
    const excess = this.#limit.count(bytes.length, this.#options.scheduler.now());
    if (excess !== undefined) {
      this.#refuse(bytes.subarray(0, 0), excess);
      return;
    }
    let refusal: string | undefined;
    try {
      refusal = take(readFirst(bytes));
    } catch (error) {
      refusal = messageOf(error);
    }
    if (refusal !== undefined) this.#refuse(bytes, refusal);
  }

  /** Returns the reason if the message is refused. Errors: `Error` with a readable message. */
  #take(item: Item, bytes: Buffer, sender: Sender): string | undefined {
    if (versionOf(item) !== version2c) return this.#takeSecure(openMessage(item, bytes), sender);
    if (this.#community === undefined) return 'expected an SNMPv3 notification';
    const { community, pdu: content, plain } = openCommunity(item, bytes);
    if (!community.equals(this.#community)) return "expected a notification with the connection's community";
    return this.#notify(decodePdu(content), plain, (answer) => sender.send(wrapCommunity(this.#community!, answer)));
  }

  #takeSecure(message: SecureMessage, sender: Sender): string | undefined {
    const user = this.#user;
    if (user === undefined) return 'expected an SNMPv2c notification';
    const { engineId, boots, timeS } = message;
    const isOwn = engineId.equals(this.#engineId);
    if (!isOwn && isReportable(message)) {
      // The sender asks for the hub's engine, to which informs are addressed.
      this.#report(message, sender, usmCounters.unknownEngine, 0);
      return undefined;
    }
    if (message.user !== user.settings.name)
      return `expected a notification from user ${JSON.stringify(user.settings.name)}`;
    if (levelOf(message) !== user.flags) return "expected a notification with the user's security level";
    if (user.flags !== 0 && !isAuthentic(message, user)) return 'expected a notification with the right password';
    const now = this.#options.scheduler.now();
    if (isOwn && user.flags !== 0 && !this.#isTimely(boots, timeS)) {
      this.#report(message, sender, usmCounters.notInTimeWindow, authOnly);
      return undefined;
    }
    if (!isOwn && user.flags !== 0 && !this.#clockOf(engineId, boots, timeS, now).accepts(boots, timeS, now))
      return 'expected a notification within the time window';
    const { pdu: content, plain, ...scope } = contentOf(message, user);
    const pdu = decodePdu(content);
    if ((pdu.verb === verbs.inform) !== isOwn)
      return "expected a trap with the device's engine ID, or an inform with the hub's engine ID";
    return this.#notify(pdu, plain, (answer) =>
      sender.send(this.#seal({ id: message.id, pdu: answer, flags: user.flags, user, ...scope })),
    );
  }

  #notify(pdu: Pdu, plain: Buffer, acknowledge: (answer: Buffer) => void): string | undefined {
    const notification = notificationOf(pdu);
    if (typeof notification === 'string') return notification;
    this.#options.wire('in', plain);
    if (pdu.verb === verbs.inform) {
      const answer = encodePdu(verbs.response, pdu.id, 0, 0, encodeVarbinds(pdu.varbinds));
      this.#options.wire('out', answer);
      acknowledge(answer);
      if (this.#isRepeated(pdu.id)) return undefined;
    }
    this.#events.notified(notification.oid, notification.varbinds);
    return undefined;
  }

  /** Returns whether an inform was received before, which happens if the sender has missed the acknowledgement. */
  #isRepeated(id: number): boolean {
    const now = this.#options.scheduler.now();
    const atMs = this.#informs.get(id);
    this.#informs.delete(id);
    this.#informs.set(id, now);
    const [oldest] = this.#informs.keys();
    if (this.#informs.size > keptInforms) this.#informs.delete(oldest!);
    return atMs !== undefined && now - atMs < informMs;
  }

  #clockOf(engineId: Buffer, boots: number, timeS: number, nowMs: number): EngineClock {
    const name = engineId.toString('latin1');
    let clock = this.#clocks.get(name);
    if (clock === undefined) {
      clock = new EngineClock();
      clock.set(boots, timeS, nowMs);
      if (this.#clocks.size >= keptClocks) this.#clocks.clear();
      this.#clocks.set(name, clock);
    }
    return clock;
  }

  #timeS(): number {
    return Math.floor((this.#options.scheduler.now() - this.#startMs) / 1000);
  }

  #isTimely(boots: number, timeS: number): boolean {
    return boots === this.#boots && Math.abs(timeS - this.#timeS()) <= timeWindowS;
  }

  #report(message: SecureMessage, sender: Sender, counter: string, flags: number): void {
    const list = encodeVarbinds([{ oid: counter, tag: tags.counter32, bytes: integerBytes(1n) }]);
    const pdu = encodePdu(verbs.report, message.id, 0, 0, list);
    this.#options.wire('out', pdu);
    const user = flags === 0 ? undefined : this.#user;
    sender.send(this.#seal({ id: message.id, pdu, flags, user, context: '' }));
  }

  #seal(sealed: Omit<Sealed, 'engineId' | 'boots' | 'timeS'>): Buffer {
    return sealMessage({ ...sealed, engineId: this.#engineId, boots: this.#boots, timeS: this.#timeS() });
  }
}

/**
 * Returns an engine ID that stays the same after a restart. It consists of the enterprise number for examples, and a hash of the machine
 * and the connection.
 */
function ownEngineId(connectionId: string): Buffer {
  const hash = createHash('sha256').update(`${hostname()} ${connectionId}`).digest();
  return Buffer.concat([Buffer.from('80007ed905', 'hex'), hash.subarray(0, 12)]);
}
