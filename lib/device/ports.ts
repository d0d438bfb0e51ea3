// Transports for packets: UDP with any number of senders, and TCP as a client or as a server. Each packet arrives as a whole. While a
// packet is being handled, `sender` identifies its sender. The numbers of unsent bytes and of clients are limited. Packets are never sent
// again.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { messageOf } from '../model/error.ts';
import { PacedReader, ReadingRounds } from './paced-reader.ts';
import { type Link, type LinkListener, maxUnsentBytes, type Transport, tcpTransport } from './transport.ts';

/** The maximum number of clients that are connected to a TCP port at the same time. */
export const maxClients = 64;

/** The place of a peer or a port in the network: a host and a port number. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** A peer that has sent a packet, and the way to answer it. */
export interface Sender {
  readonly name: string;
  send(packet: Uint8Array): void;
  /** The number of bytes that are waiting to be sent. Only for clients of a TCP port. */
  readonly unsentBytes?: number;
  /** Ends the link to the sender. Only for clients of a TCP port. */
  end?(): void;
}

export interface PacketTransport extends Transport {
  /** The sender of the packet that is being handled; undefined if the transport has only one peer. */
  readonly sender?: Sender | undefined;
  /** Sends a packet to all peers except one. Missing if the transport has only one peer. */
  sendToOthers?(packet: Uint8Array, but: Sender): void;
}

/** A function that reports refused bytes, which are not a valid packet or come from a sender that is not permitted. */
export type Refuse = (bytes: Uint8Array, reason: string) => void;

type Guard = ((address: string) => boolean) | undefined;

/** Splits the bytes received over a TCP link into packets. */
export interface Framer {
  /** Adds received bytes and returns the packets that are now complete. Errors: `Error` if the rest of the stream cannot be read. */
  push(bytes: Buffer): Buffer[];
}

/** The rules by which a TCP stream is split into packets. */
export interface Framing {
  createFramer(refuse: Refuse): Framer;
  /** Returns the bytes to send for a packet. */
  wrap(packet: Uint8Array): Uint8Array;
}

/** Creates a TCP transport over which the hub connects to a single peer. */
export function tcpClient({ host, port }: Place, framing: Framing, refuse: Refuse): PacketTransport {
  const transport = tcpTransport({ host, port });
  return {
    name: transport.name,
    keepsFrames: true,
    open(listener) {
      const framer = framing.createFramer(refuse);
      let isEnded = false;
      let ended: readonly [reason: string, code: number | undefined] = ['', undefined];
      const stop = () => {
        isEnded = true;
        reader.end();
        link.end();
      };
      const reader = new PacedReader(new ReadingRounds(), {
        take: (bytes) => {
          try {
            for (const packet of framer.push(bytes)) if (!isEnded) listener.received(packet);
          } catch (error) {
            stop();
            listener.closed(messageOf(error));
          }
        },
        pause: (isPaused) => link.pause?.(isPaused),
        closed: () => listener.closed(...ended),
      });
      const link: Link = transport.open({
        opened: () => listener.opened(),
        closed: (reason, code) => {
          ended = [reason, code];
          reader.close();
        },
        received: (bytes) => reader.push(bytes as Buffer),
      });
      return {
        send: (packet) => link.send(framing.wrap(packet)),
        end: stop,
        get unsentBytes() {
          return link.unsentBytes ?? 0;
        },
      };
    },
  };
}

export interface PortOptions {
  readonly bind: Place;
  readonly refuse: Refuse;
  readonly guard: Guard;
}

export interface UdpOptions extends PortOptions {
  readonly places: readonly Place[];
}

/** The maximum number of senders in the cache, which is keyed by address and port. */
const keptSenders = 256;

/** A UDP port. The port remains open when the peer is silent; `open` then only restarts the time limit. */
export class UdpPort implements PacketTransport {
  readonly name: string;
  readonly keepsFrames = true;
  readonly isPassive = true;
  readonly #options: UdpOptions;
  #socket: UdpSocket | undefined;
  #listener: LinkListener | undefined;
  #places: readonly Place[] = [];
  /** Whether each host is permitted to send, keyed by IP address. */
  readonly #allowed = new Map<string, boolean>();
  readonly #senders = new Map<string, Sender & Place>();
  sender: (Sender & Place) | undefined;

  constructor(options: UdpOptions) {
    const { places, bind } = options;
    this.#options = options;
    this.name = places.length > 0 ? places.map(nameOf).join(', ') : `UDP port ${bind.port}`;
  }

  open(listener: LinkListener): Link {
    this.#listener = listener;
    void this.#open(listener);
    return {
      send: (packet) => {
        for (const place of this.#places) this.#send(packet, place);
      },
      end: () => {
        if (this.#listener === listener) this.#listener = undefined;
      },
    };
  }

  sendToOthers(packet: Uint8Array, but: Sender): void {
    const { host } = but as Sender & Place;
    for (const place of this.#places) if (place.host !== host) this.#send(packet, place);
  }

  /** The bound port number; undefined if the socket is not bound yet. */
  get port(): number | undefined {
    return this.#socket?.address().port;
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#listener = undefined;
    if (socket !== undefined) await new Promise<void>((resolve) => socket.close(resolve));
  }

  /** Opens the socket. The host names are resolved again each time, because their addresses may have changed. */
  async #open(listener: LinkListener): Promise<void> {
    try {
      this.#socket ??= await this.#bind(listener);
      if (this.#listener !== listener) return;
      const family = isIPv6(this.#options.bind.host) ? 6 : 4;
      this.#places = await Promise.all(
        this.#options.places.map(async ({ host, port }) => ({ host: (await lookup(host, { family })).address, port })),
      );
      this.#allowed.clear();
      if (this.#listener === listener) listener.opened();
    } catch (error) {
      if (this.#listener === listener) listener.closed(messageOf(error));
    }
  }

  #bind(listener: LinkListener): Promise<UdpSocket | undefined> {
    const { host, port } = this.#options.bind;
    return new Promise((resolve, reject) => {
      const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 4 * 1_048_576 });
      socket.on('error', (error) => {
        reject(error);
        if (this.#socket !== socket) return;
        this.#socket = undefined;
        socket.close();
        this.#listener?.closed(messageOf(error));
      });
      socket.on('message', (packet, { address, port: from }) => this.#received(packet, address, from));
      socket.bind({ address: host, port, exclusive: true }, () => {
        if (this.#listener === listener) resolve(socket);
        else socket.close(() => resolve(undefined)); // the port was stopped in the meantime
      });
    });
  }

  #received(packet: Buffer, address: string, port: number): void {
    if (!this.#isAllowed(address)) {
      this.#options.refuse(packet, 'expected a packet from an allowed sender');
      return;
    }
    const name = `${address}:${port}`;
    let sender = this.#senders.get(name);
    if (sender === undefined) {
      if (this.#senders.size >= keptSenders) this.#senders.clear();
      sender = { name, host: address, port, send: (bytes) => this.#send(bytes, { host: address, port }) };
      this.#senders.set(name, sender);
    }
    this.sender = sender;
    this.#listener?.received(packet);
    this.sender = undefined;
  }

  #isAllowed(address: string): boolean {
    const known = this.#allowed.get(address);
    if (known !== undefined) return known;
    const { guard } = this.#options;
    const isPeer = this.#places.some(({ host }) => host === address);
    const isAllowed = isPeer || (guard === undefined ? this.#places.length === 0 : guard(address));
    if (this.#allowed.size >= keptSenders) this.#allowed.clear();
    this.#allowed.set(address, isAllowed);
    return isAllowed;
  }

  #send(packet: Uint8Array, { host, port }: Place): void {
    const socket = this.#socket;
    if (socket === undefined || socket.getSendQueueSize() > maxUnsentBytes) return;
    socket.send(packet, port, host, (error) => {
      if (error !== null && this.#socket === socket)
        this.#options.refuse(new Uint8Array(), `not sent: ${error.message}`);
    });
  }
}

interface Client extends Sender {
  end(): void;
}

export interface TcpServerOptions extends PortOptions {
  readonly framing: Framing;
  /** How long a client may be silent before its link ends, in milliseconds; undefined means no limit. */
  readonly idleTimeoutMs: number | undefined;
  /** Called when a client has connected. */
  joined?(client: Sender): void;
  /** Called when a client's link has ended. */
  left?(client: Sender): void;
}

/** A TCP port to which any number of clients may connect. The port counts as an open link while the hub is listening. */
export class TcpPort implements PacketTransport {
  readonly name: string;
  readonly keepsFrames = true;
  readonly isPassive = true;
  readonly #options: TcpServerOptions;
  readonly #clients = new Set<Client>();
  readonly #rounds = new ReadingRounds();
  #server: Server | undefined;
  #listener: LinkListener | undefined;
  sender: Sender | undefined;

  constructor(options: TcpServerOptions) {
    this.#options = options;
    this.name = `port ${options.bind.port}`;
  }

  open(listener: LinkListener): Link {
    this.#listener = listener;
    if (this.#server === undefined) this.#listen();
    else queueMicrotask(() => this.#opened(listener));
    return {
      send: (packet) => this.#sendToAll(packet, undefined),
      end: () => {
        if (this.#listener === listener) this.#listener = undefined;
      },
    };
  }

  sendToOthers(packet: Uint8Array, but: Sender): void {
    this.#sendToAll(packet, but);
  }

  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#listener = undefined;
    for (const client of this.#clients) client.end();
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  #opened(listener: LinkListener): void {
    if (this.#listener === listener) listener.opened();
  }

  #listen(): void {
    const { host, port } = this.#options.bind;
    const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 }, (socket) =>
      this.#take(socket),
    );
    this.#server = server;
    server.on('error', (error) => {
      if (this.#server === server) this.#server = undefined;
      this.#listener?.closed(messageOf(error));
    });
    server.listen({ host, port, exclusive: true }, () => {
      if (this.#server === server && this.#listener !== undefined) this.#opened(this.#listener);
    });
  }

  #take(socket: Socket): void {
    const { guard, refuse, framing, idleTimeoutMs, joined, left } = this.#options;
    const { remoteAddress = '', remotePort = 0 } = socket;
    socket.on('error', () => socket.destroy());
    if (guard?.(remoteAddress) === false || this.#clients.size >= maxClients) {
      const isFull = this.#clients.size >= maxClients;
      refuse(
        new Uint8Array(),
        isFull ? `expected at most ${maxClients} clients` : 'expected a client from an allowed address',
      );
      socket.destroy();
      return;
    }
    const framer = framing.createFramer(refuse);
    const leave = () => {
      if (this.#clients.delete(client)) left?.(client);
    };
    const client: Client = {
      name: `${remoteAddress}:${remotePort}`,
      send: (packet) => {
        if (socket.writableLength + packet.length > maxUnsentBytes) socket.destroy();
        else socket.write(framing.wrap(packet));
      },
      get unsentBytes() {
        return socket.writableLength;
      },
      end: () => {
        reader.end();
        socket.destroy();
        leave();
      },
    };
    const reader = new PacedReader(this.#rounds, {
      take: (bytes) => {
        try {
          for (const packet of framer.push(bytes)) {
            if (!this.#clients.has(client)) return;
            this.sender = client;
            this.#listener?.received(packet);
          }
        } catch {
          client.end(); // the framer has already reported the reason
        } finally {
          this.sender = undefined;
        }
      },
      pause: (isPaused) => void (isPaused ? socket.pause() : socket.resume()),
      closed: leave,
    });
    this.#clients.add(client);
    joined?.(client);
    if (idleTimeoutMs !== undefined) socket.setTimeout(idleTimeoutMs, () => socket.destroy());
    socket.on('close', () => reader.close());
    socket.on('data', (bytes: Buffer) => reader.push(bytes));
  }

  #sendToAll(packet: Uint8Array, but: Sender | undefined): void {
    for (const client of this.#clients) if (client !== but) client.send(packet);
  }
}

function nameOf({ host, port }: Place): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
