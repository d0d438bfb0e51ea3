// The UDP socket of a DMX connection. For sACN, packets are sent to multicast groups; for Art-Net, packets are sent directly to the nodes
// that have reported the universe. The socket also polls Art-Net nodes and answers their polls.

import { createSocket, type Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import type { SchedulerLike, Subscription } from 'rxjs';
import type { Link, LinkListener, Transport } from '../../device/transport.ts';
import { maxUnsentBytes } from '../../device/transport.ts';
import { messageOf } from '../../model/error.ts';
import { createGuard, isLoopback, readPlace } from '../places.ts';
import { artPoll, artReplies, type DmxProtocol, groupOf, listOfUniverses, sacn } from './packets.ts';
import type { DmxSettings } from './settings.ts';

/** The maximum number of nodes that the socket remembers. */
const maxNodes = 1024;
/**
 * The interval between Art-Net polls, in milliseconds: Art-Net requires a poll every 2.5 to 3 s. A node is removed after three polls
 * without an answer.
 */
const pollMs = 2500;
const nodeLifeMs = 3 * pollMs + 500;
/** The interval between universe lists, in milliseconds. E1.31 requires an interval of at most 10 s. */
const listMs = 10_000;
/** The maximum number of polls answered per second. */
const maxRepliesPerSecond = 20;

export interface SocketOptions {
  readonly settings: DmxSettings;
  readonly protocol: DmxProtocol;
  readonly cid: Uint8Array;
  readonly receives: readonly number[];
  readonly sends: readonly number[];
  readonly scheduler: SchedulerLike;
  refuse(bytes: Uint8Array, reason: string): void;
}

export class DmxSocket implements Transport {
  readonly name: string;
  readonly keepsFrames = true;
  readonly isPassive = true;
  /** The IP address from which the current packet was received. */
  sender = '';
  readonly #options: SocketOptions;
  readonly #port: number;
  readonly #guard: ((address: string) => boolean) | undefined;
  readonly #targets: readonly { readonly host: string; readonly port: number }[];
  /** The time at which each node will be removed, in milliseconds, by universe and node address. */
  readonly #nodes = new Map<number, Map<string, number>>();
  #nodeCount = 0;
  #replies = 0;
  #repliesSinceMs = 0;
  #socket: Socket | undefined;
  #timer: Subscription | undefined;

  constructor(options: SocketOptions) {
    const { settings, protocol } = options;
    this.#options = options;
    this.#port = settings.port ?? protocol.port;
    this.#guard = createGuard(settings.allowFrom);
    this.#targets = settings.to.map((written) =>
      written.includes(':') ? readPlace(written) : { host: written, port: this.#port },
    );
    this.name = `UDP port ${this.#port}`;
  }

  open(listener: LinkListener): Link {
    const { protocol, receives, settings } = this.#options;
    const socket = createSocket({ type: 'udp4', reuseAddr: true, recvBufferSize: 4 * 1_048_576 });
    let isEnded = false;
    const end = () => {
      if (isEnded) return;
      isEnded = true;
      this.#timer?.unsubscribe();
      if (this.#socket === socket) this.#socket = undefined;
      this.#nodes.clear();
      this.#nodeCount = 0;
      socket.close();
    };
    const fail = (error: unknown) => {
      if (isEnded) return;
      end();
      listener.closed(messageOf(error));
    };
    socket.on('error', fail);
    socket.on('message', (bytes, { address, port }) => {
      if (isEnded) return;
      if (this.#guard?.(address) === false || (isLoopback(settings.interface) && !isLoopback(address))) {
        this.#options.refuse(bytes, 'expected a packet from an allowed sender');
        return;
      }
      this.sender = address;
      if (protocol === sacn || !this.#takeForNodes(bytes, address, port)) listener.received(bytes);
    });
    const needsPort = receives.length > 0 || protocol !== sacn;
    socket.bind({ port: needsPort ? this.#port : 0, address: '0.0.0.0' }, () => {
      if (isEnded) return;
      try {
        this.#socket = socket;
        this.#prepare(socket);
        listener.opened();
        if (!isEnded) this.#announce(0); // `opened` may have ended the link
      } catch (error) {
        fail(error);
      }
    });
    return { send: (packet) => this.#send(packet as Buffer), end };
  }

  #prepare(socket: Socket): void {
    const { protocol, receives, settings } = this.#options;
    if (protocol !== sacn) {
      socket.setBroadcast(true);
      return;
    }
    if (settings.interface !== '') socket.setMulticastInterface(settings.interface);
    socket.setMulticastTTL(16);
    socket.setMulticastLoopback(true); // so that other programs on this machine can receive the packets
    for (const universe of receives) socket.addMembership(groupOf(universe), settings.interface || undefined);
  }

  /** Sends Art-Net polls or sACN universe lists, first immediately and then at regular intervals. */
  #announce(afterMs: number): void {
    const { protocol, scheduler, sends, settings, cid } = this.#options;
    const isSacn = protocol === sacn;
    if (sends.length === 0) return;
    this.#timer = scheduler.schedule(() => {
      if (isSacn) for (const packet of listOfUniverses(sends, settings.name, cid)) this.#send(packet);
      else this.#sendTo(artPoll(), this.#broadcastAddress(), this.#port);
      this.#announce(isSacn ? listMs : pollMs);
    }, afterMs);
  }

  /** Handles polls and node reports. Returns false if the packet is neither a poll nor a report. */
  #takeForNodes(bytes: Buffer, address: string, port: number): boolean {
    const { protocol, receives, sends, settings, scheduler } = this.#options;
    const packet = protocol.decode(bytes);
    if (typeof packet === 'string' || (packet.kind !== 'poll' && packet.kind !== 'node')) return false;
    const now = scheduler.now();
    if (packet.kind === 'poll') {
      if (now - this.#repliesSinceMs >= 1000) [this.#replies, this.#repliesSinceMs] = [0, now];
      if (this.#isOwn(address, port) || ++this.#replies > maxRepliesPerSecond) return true;
      const own = settings.interface || localAddressFor(address);
      for (const reply of artReplies({ receives, sends, name: settings.name, address: own }))
        this.#sendTo(reply, address, port);
      return true;
    }
    for (const universe of packet.universes) this.#remember(universe, address, now + nodeLifeMs);
    return true;
  }

  /** Returns whether a packet is a broadcast from this socket that it has received itself. */
  #isOwn(address: string, port: number): boolean {
    return (
      port === this.#port && addressesOfMachine().some((own) => own.address === address) && this.#targets.length === 0
    );
  }

  #remember(universe: number, address: string, untilMs: number): void {
    if (!this.#options.sends.includes(universe)) return;
    const nodes = this.#nodes.get(universe) ?? new Map<string, number>();
    this.#nodes.set(universe, nodes);
    if (!nodes.has(address)) {
      if (this.#nodeCount >= maxNodes) return;
      this.#nodeCount++;
    }
    nodes.set(address, untilMs);
  }

  /** Returns the addresses of the Art-Net nodes that output a universe. */
  nodesOf(universe: number): readonly string[] {
    const nodes = this.#nodes.get(universe);
    if (nodes === undefined) return [];
    const now = this.#options.scheduler.now();
    for (const [address, untilMs] of nodes)
      if (untilMs < now) {
        nodes.delete(address);
        this.#nodeCount--;
      }
    return [...nodes.keys()];
  }

  #send(packet: Buffer): void {
    const { protocol } = this.#options;
    const universe = protocol.universeOf(packet);
    if (this.#targets.length > 0) for (const { host, port } of this.#targets) this.#sendTo(packet, host, port);
    else if (protocol === sacn) this.#sendTo(packet, groupOf(universe), this.#port);
    else for (const address of this.nodesOf(universe)) this.#sendTo(packet, address, this.#port);
  }

  #sendTo(packet: Buffer, host: string, port: number): void {
    const socket = this.#socket;
    if (socket === undefined || socket.getSendQueueSize() > maxUnsentBytes) return;
    socket.send(packet, port, host, (error) => {
      if (error !== null && this.#socket === socket)
        this.#options.refuse(new Uint8Array(), `not sent to ${host}: ${error.message}`);
    });
  }

  #broadcastAddress(): string {
    const own = addressesOfMachine().find(({ address }) => address === this.#options.settings.interface);
    if (own === undefined) return '255.255.255.255';
    const mask = own.netmask.split('.').map(Number);
    return own.address
      .split('.')
      .map((part, place) => Number(part) | (~mask[place]! & 255))
      .join('.');
  }
}

function addressesOfMachine() {
  return Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ family }) => family === 'IPv4');
}

/** Returns this machine's address in a peer's network. */
function localAddressFor(peer: string): string {
  const bitsOf = (text: string) => text.split('.').reduce((bits, part) => bits * 256 + Number(part), 0);
  const found = addressesOfMachine().find(
    ({ address, netmask }) => (bitsOf(address) & bitsOf(netmask)) === (bitsOf(peer) & bitsOf(netmask)),
  );
  return found?.address ?? addressesOfMachine().find(({ internal }) => !internal)?.address ?? '127.0.0.1';
}
