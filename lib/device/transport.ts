// Transports to a device: TCP, UDP, WebSocket, a serial port, or a TCP port to which the device connects. Each transport opens one link at
// a time and never reuses a link that has ended. The number of unsent bytes is limited: if the device does not read fast enough, the link
// ends.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, createServer, isIP, isIPv6, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SerialPort } from 'serialport';
import type { WebSocket } from 'ws';
import { messageOf } from '../model/error.ts';

/** The callbacks for the events of a link. `closed` is called last and only once, and never during a call to `send`. */
export interface LinkListener {
  opened(): void;
  /**
   * Called when bytes have been received. Over HTTP, `about` contains the request that the bytes answer, or the event that they belong to.
   */
  received(bytes: Uint8Array, about?: Received): void;
  /** Called when the link has ended. `code` is the close code of a WebSocket. */
  closed(reason: string, code?: number): void;
  /**
   * Called over HTTP when a request has received no usable answer or when an event stream has ended. `isHeard` means that the device has
   * nevertheless answered.
   */
  failed?(request: object, reason: string, isHeard: boolean): void;
  /** Called for messages that the link itself exchanges, for example because of a redirect. */
  exchanged?(direction: 'in' | 'out', bytes: Uint8Array): void;
}

/** The information that accompanies a received HTTP body. */
export interface Received {
  /** The request that was passed to `Link.send`. */
  readonly request: object;
  /** The status and headers of an answer. */
  readonly head?: HttpHead;
  readonly event?: ServerEvent;
}

export interface HttpHead {
  readonly status: number;
  readonly statusText: string;
  /** The headers of the answer, keyed by their lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A server-sent event from an HTTP device. */
export interface ServerEvent {
  readonly name: string;
  /** The last event ID in the stream so far; '' if there has been no ID. */
  readonly id: string;
  readonly data: string;
  /** The pause that the stream requests before it is reopened, in milliseconds; undefined if it requests no pause. */
  readonly retryMs: number | undefined;
}

/** A link to a device that is open or being opened. */
export interface Link {
  /**
   * Sends bytes. Ends the link if more than `maxUnsentBytes` are unsent. Over HTTP, `request` identifies the request until it has been
   * answered.
   */
  send(bytes: Uint8Array, request?: object): void;
  /** Cancels an HTTP request. Its answer is no longer reported. */
  cancel?(request: object): void;
  /**
   * Ends the link without any further callbacks. If `isBroken` is true, data that the device has not received yet is discarded. Otherwise,
   * the operating system would continue to send this data, and a device that is back online would execute old commands after newer
   * commands.
   */
  end(isBroken?: boolean): void;
  /** The number of bytes that are waiting to be sent. Only TCP links with streams or messages implement `unsentBytes` and `pause`. */
  readonly unsentBytes?: number;
  /** Pauses or resumes reading. While reading is paused, the peer must wait. */
  pause?(isPaused: boolean): void;
}

export interface Transport {
  /** The name of the device in messages to operators, such as `router.local:9990`. */
  readonly name: string;
  /** Whether each received chunk is a whole frame, as for datagrams and WebSocket messages. */
  readonly keepsFrames: boolean;
  /** Whether the device opens the link. In this case, there is no connect timeout. */
  readonly isPassive?: boolean;
  open(listener: LinkListener): Link;
  /** Frees the resources that the transport holds between links, such as a port. The promise resolves when they are free. */
  close?(): Promise<void>;
}

/** The maximum number of unsent bytes on a link. */
export const maxUnsentBytes = 1_048_576;
/** The maximum size of a WebSocket message, in bytes. */
export const maxMessageBytes = 4 * 1_048_576;

export interface TcpTarget {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsTarget | undefined;
}

export interface TlsTarget {
  readonly ca?: Buffer | undefined;
  readonly fingerprint?: string | undefined;
  /** The hub's certificate and private key in PEM format. */
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

export function tcpTransport({ host, port, tls }: TcpTarget): Transport {
  return {
    name: placeOf(host, port),
    keepsFrames: false,
    open(listener) {
      const socket = socketTo({ host, port, tls }, (bytes) => link.received(bytes));
      const link = new SocketLink(socket, listener, tls === undefined ? 'connect' : 'secureConnect', (opened) =>
        tls?.fingerprint === undefined ? undefined : fingerprintFault(opened, tls.fingerprint),
      );
      return link;
    },
  };
}

/**
 * Returns the options for `tls.connect` that verify the certificate chain. A pinned certificate is checked by `fingerprintFault` instead.
 */
export function tlsOptions({ fingerprint, ...files }: TlsTarget) {
  return { rejectUnauthorized: fingerprint === undefined, ...files };
}

/** Returns an error message if the peer's certificate is not the pinned certificate, otherwise undefined. */
export function fingerprintFault(socket: Socket, expected: string): string | undefined {
  const { fingerprint256 = '' } =
    (socket as { getPeerCertificate?(): { fingerprint256?: string } }).getPeerCertificate?.() ?? {};
  const plain = (text: string) => text.replaceAll(':', '').toLowerCase();
  return plain(fingerprint256) === plain(expected)
    ? undefined
    : `expected the certificate ${expected}, got ${fingerprint256}`;
}

const notTrusted =
  'its certificate is from an authority that this machine does not trust; set tls.caFile or tls.fingerprint';
/** The sentences for TLS and name resolution errors. Errors are recognized by their messages, because libraries replace the error codes. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [
    /self-signed certificate in certificate chain|unable to (?:verify the first|get (?:local )?issuer) certificate/,
    notTrusted,
  ],
  [/self-signed certificate/, 'its certificate is self-signed; set tls.caFile or tls.fingerprint'],
  [/certificate has expired/, 'its certificate has expired'],
  [/ENOTFOUND|EAI_AGAIN/, 'unknown host name'],
  [/wrong version number|packet length too long/, 'this port does not accept TLS'],
];

/** Returns a sentence that states why a connection has failed and what to do about it. */
export function connectReason(error: unknown): string {
  const message = messageOf(error);
  const [, reason] = reasons.find(([pattern]) => pattern.test(message)) ?? [];
  if (reason !== undefined) return reason;
  return /does not match certificate's altnames/.test(message)
    ? `its certificate is for another name: ${message}`
    : message;
}

/**
 * Opens a TCP or TLS connection. With TLS, the certificate is checked before any data is sent. Calls `opened` once, unless the socket is
 * destroyed first.
 */
export function openSocket(target: TcpTarget, timeoutMs: number, opened: (error: Error | null) => void): Socket {
  const socket = socketTo(target);
  const fingerprint = target.tls?.fingerprint;
  let isOver = false;
  const end = (error: Error | null) => {
    if (isOver) return;
    isOver = true;
    socket.setTimeout(0);
    socket.off('error', end);
    if (error !== null) {
      socket.on('error', () => {});
      socket.destroy();
    }
    opened(error);
  };
  socket.setTimeout(timeoutMs, () => end(new Error(`no answer within ${timeoutMs / 1000} s`)));
  socket.on('error', end);
  socket.once(target.tls === undefined ? 'connect' : 'secureConnect', () => {
    const fault = fingerprint === undefined ? undefined : fingerprintFault(socket, fingerprint);
    end(fault === undefined ? null : new Error(fault));
  });
  return socket;
}

/** Destroys a socket and discards its unsent data. TLS sockets cannot discard unsent data. */
export function breakOff(socket: Socket): void {
  if (socket.destroyed || socket.connecting || 'encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/**
 * The read buffer that all sockets share. Without it, Node.js would allocate 64 KiB for each read, which is thousands of times the size of
 * a message.
 */
const readRoom = Buffer.allocUnsafeSlow(65_536);

/** Creates a socket. Received bytes are passed to `received`. With TLS or without `received`, the socket emits `data` events instead. */
function socketTo({ host, port, tls }: TcpTarget, received?: (bytes: Buffer) => void): Socket {
  const onread = received && {
    buffer: readRoom,
    callback: (length: number) => {
      received(Buffer.from(readRoom.subarray(0, length)));
      return true;
    },
  };
  if (tls === undefined)
    return connect({
      ...{ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 },
      ...(onread && { onread }),
    });
  return connectTls({ host, port, servername: isIP(host) === 0 ? host : '', ...tlsOptions(tls) }).setNoDelay(true);
}

class SocketLink implements Link {
  readonly #socket: Socket;
  readonly #listener: LinkListener;
  #isEnded = false;
  #reason = 'the device closed the link';

  constructor(
    socket: Socket,
    listener: LinkListener,
    openedBy: 'connect' | 'secureConnect' | undefined,
    check: (socket: Socket) => string | undefined = () => undefined,
  ) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on('error', (error) => {
      this.#reason = connectReason(error);
    });
    socket.on('close', () => {
      if (!this.#isEnded) listener.closed(this.#reason);
      this.#isEnded = true;
    });
    const listen = () => socket.on('data', (bytes: Buffer) => this.received(bytes));
    if (openedBy === undefined)
      queueMicrotask(() => {
        if (this.#isEnded) return;
        listener.opened();
        listen(); // before the bytes that have already arrived are handled
      });
    else
      socket.once(openedBy, () => {
        const fault = check(socket);
        if (fault !== undefined) this.#fail(fault);
        else if (!this.#isEnded) {
          listener.opened();
          listen();
        }
      });
  }

  received(bytes: Buffer): void {
    if (!this.#isEnded) this.#listener.received(bytes);
  }

  send(bytes: Uint8Array): void {
    if (this.#isEnded) return;
    if (this.#socket.writableLength + bytes.length > maxUnsentBytes)
      this.#fail('the device is not reading what the hub sends');
    else {
      this.#gather();
      this.#socket.write(bytes);
    }
  }

  end(isBroken = false): void {
    this.#isEnded = true;
    if (isBroken) breakOff(this.#socket);
    else this.#socket.destroy();
  }

  /** Combines all data that is sent until the current work ends, such as several requests, into one packet. */
  #gather(): void {
    if (this.#socket.writableCorked > 0) return;
    this.#socket.cork();
    queueMicrotask(() => this.#socket.uncork());
  }

  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  pause(isPaused: boolean): void {
    if (isPaused) this.#socket.pause();
    else this.#socket.resume();
  }

  #fail(reason: string): void {
    this.#reason = reason;
    this.#socket.destroy();
  }
}

/**
 * Creates a UDP transport that exchanges datagrams with a single peer. The link counts as open immediately; only an answer shows that the
 * peer is reachable.
 */
export function udpTransport(host: string, port: number, localPort = 0): Transport {
  return {
    name: placeOf(host, port),
    keepsFrames: true,
    open(listener) {
      return new UdpLink(host, port, localPort, listener);
    },
  };
}

class UdpLink implements Link {
  readonly #socket: UdpSocket;
  #isEnded = false;
  #isConnected = false;

  constructor(host: string, port: number, localPort: number, listener: LinkListener) {
    this.#socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    const close = (reason: string) => {
      if (this.#isEnded) return;
      this.end();
      listener.closed(reason);
    };
    this.#socket.on('error', (error) => close(connectReason(error)));
    this.#socket.on('message', (bytes) => {
      if (!this.#isEnded) listener.received(bytes);
    });
    this.#socket.bind(localPort, () => {
      if (this.#isEnded) return;
      this.#socket.connect(port, host, (error?: Error) => {
        if (error != null) close(connectReason(error));
        else if (!this.#isEnded) {
          this.#isConnected = true;
          listener.opened();
        }
      });
    });
  }

  send(bytes: Uint8Array): void {
    if (!this.#isConnected || this.#isEnded || this.#socket.getSendQueueSize() > maxUnsentBytes) return;
    this.#socket.send(bytes, () => {}); // a lost datagram is not sent again, and the socket also emits errors as events
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket.close();
  }
}

/**
 * Creates a transport that listens on a TCP port to which the device connects. A new link replaces the previous link, because a device that
 * was switched off never closes its link.
 */
export function listenTransport(port: number, bindIp: string): Transport {
  return new Listening(port, bindIp);
}

class Listening implements Transport {
  readonly name: string;
  readonly keepsFrames = false;
  readonly isPassive = true;
  readonly #port: number;
  readonly #bindIp: string;
  #server: Server | undefined;
  #listener: LinkListener | undefined;
  #link: SocketLink | undefined;
  #waiting: Socket | undefined;

  constructor(port: number, bindIp: string) {
    this.name = `port ${port}`;
    this.#port = port;
    this.#bindIp = bindIp;
  }

  open(listener: LinkListener): Link {
    this.#listener = listener;
    this.#listen();
    if (this.#waiting !== undefined) this.#take(this.#waiting);
    return {
      send: (bytes) => {
        if (this.#listener === listener) this.#link?.send(bytes);
      },
      end: () => {
        if (this.#listener === listener) this.#release();
      },
    };
  }

  close(): Promise<void> {
    this.#waiting?.destroy();
    this.#waiting = undefined;
    const server = this.#server;
    this.#server = undefined;
    return new Promise((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  }

  #listen(): void {
    if (this.#server !== undefined) return;
    const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 }, (socket) => {
      if (this.#server !== server) socket.destroy();
      else if (this.#listener !== undefined && this.#link === undefined) this.#take(socket);
      else this.#replace(socket);
    });
    this.#server = server;
    server.on('error', (error) => {
      this.#server = undefined;
      this.#close(messageOf(error));
    });
    server.listen({ port: this.#port, exclusive: true, ...(this.#bindIp === '' ? {} : { host: this.#bindIp }) });
  }

  #take(socket: Socket): void {
    this.#waiting = undefined;
    const listener = this.#listener!;
    const closed = (reason: string) => {
      if (this.#listener === listener) this.#close(reason);
    };
    this.#link = new SocketLink(socket, { ...bound(listener), closed }, undefined);
  }

  #replace(socket: Socket): void {
    this.#waiting?.destroy();
    this.#waiting = socket;
    socket.on('error', () => socket.destroy());
    this.#close('the device has dialled in again');
  }

  #close(reason: string): void {
    const listener = this.#listener;
    this.#release();
    listener?.closed(reason);
  }

  #release(): void {
    this.#link?.end();
    this.#link = undefined;
    this.#listener = undefined;
  }
}

function bound(listener: LinkListener): Pick<LinkListener, 'opened' | 'received'> {
  return { opened: () => listener.opened(), received: (bytes) => listener.received(bytes) };
}

function placeOf(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

export interface WsOptions {
  /** Whether the hub sends binary messages. */
  readonly isBinary?: boolean;
  /** The maximum size of a message. A longer message ends the link. The default is `maxMessageBytes`. */
  readonly maxBytes?: number;
}

/** Creates a transport for WebSocket messages. */
export function wsTransport(
  url: string,
  protocols: readonly string[],
  tls: TcpTarget['tls'],
  options: WsOptions = {},
): Transport {
  return {
    name: url.replace(/^wss?:\/\//, '').replace(/\/$/, ''),
    keepsFrames: true,
    open: (listener) => new WsLink(url, protocols, { tls, ...options }, listener),
  };
}

class WsLink implements Link {
  #socket: WebSocket | undefined;
  #opened: Socket | undefined;
  #isEnded = false;
  #isFailed = false;
  #reason = 'the device closed the link';

  readonly #isBinary: boolean;
  readonly #maxBytes: number;

  constructor(
    url: string,
    protocols: readonly string[],
    { tls, isBinary = false, maxBytes = maxMessageBytes }: WsOptions & { readonly tls: TcpTarget['tls'] },
    listener: LinkListener,
  ) {
    this.#isBinary = isBinary;
    this.#maxBytes = maxBytes;
    void this.#open(url, protocols, tls, listener).catch((error) => {
      if (!this.#isEnded) listener.closed(messageOf(error));
      this.#isEnded = true;
    });
  }

  async #open(url: string, protocols: readonly string[], tls: TcpTarget['tls'], listener: LinkListener): Promise<void> {
    const { WebSocket: Socket } = await import('ws'); // loaded on demand, because most hubs have no WebSocket devices
    if (this.#isEnded) return;
    const socket = new Socket(url, [...protocols], {
      maxPayload: this.#maxBytes,
      perMessageDeflate: false,
      followRedirects: false,
      ...(tls === undefined ? {} : tlsOptions(tls)),
    });
    this.#socket = socket;
    socket.on('open', () => {
      if (!this.#isEnded) listener.opened();
    });
    socket.on('upgrade', (response) => {
      this.#opened = response.socket;
      const fault = tls?.fingerprint === undefined ? undefined : fingerprintFault(response.socket, tls.fingerprint);
      if (fault !== undefined) this.#fail(fault);
    });
    socket.on('error', (error) => {
      if (!this.#isFailed) this.#reason = connectReason(error);
    });
    socket.on('message', (data) => {
      if (!this.#isEnded) listener.received(data as Buffer);
    });
    socket.on('close', (code, said) => {
      if (!this.#isEnded) listener.closed(said.length > 0 ? `the device reported: ${said}` : this.#reason, code);
      this.#isEnded = true;
    });
  }

  send(bytes: Uint8Array): void {
    const socket = this.#socket;
    if (this.#isEnded || socket === undefined || socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount + bytes.length > maxUnsentBytes)
      this.#fail('the device is not reading what the hub sends');
    else socket.send(bytes, { binary: this.#isBinary }, () => {}); // an error event also ends the link
  }

  end(isBroken = false): void {
    this.#isEnded = true;
    if (isBroken && this.#opened !== undefined) breakOff(this.#opened);
    this.#socket?.terminate();
  }

  get unsentBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  pause(isPaused: boolean): void {
    if (isPaused) this.#socket?.pause();
    else this.#socket?.resume();
  }

  #fail(reason: string): void {
    this.#reason = reason;
    this.#isFailed = true; // the error that follows says only that the link was closed
    this.#socket!.terminate();
  }
}

export interface SerialTarget {
  readonly path: string;
  readonly baudRate: number;
  readonly dataBits: 5 | 6 | 7 | 8;
  readonly stopBits: 1 | 1.5 | 2;
  readonly parity: 'none' | 'even' | 'odd';
}

/**
 * Creates a transport for a serial port, which requires the optional package `serialport`. If the package is missing, the link ends with a
 * message that names the package.
 */
export function serialTransport(target: SerialTarget): Transport {
  return { name: target.path, keepsFrames: false, open: (listener) => new SerialLink(target, listener) };
}

class SerialLink implements Link {
  #port: SerialPort | undefined;
  #isEnded = false;
  #unsentBytes = 0;
  readonly #listener: LinkListener;

  constructor(target: SerialTarget, listener: LinkListener) {
    this.#listener = listener;
    void this.#open(target).catch((error) => this.#close(messageOf(error)));
  }

  async #open(target: SerialTarget): Promise<void> {
    const { SerialPort } = await import('serialport').catch(() => {
      throw new Error('the package serialport is not installed: run npm install serialport');
    });
    if (this.#isEnded) return;
    const port = new SerialPort({ ...target, autoOpen: false });
    this.#port = port;
    port.on('error', (error) => this.#close(messageOf(error)));
    port.on('close', (error: Error | null) => this.#close(error?.message ?? 'the serial port was closed'));
    port.on('data', (bytes: Buffer) => {
      if (!this.#isEnded) this.#listener.received(bytes);
    });
    port.open((error) => {
      if (error !== null) this.#close(messageOf(error));
      else if (this.#isEnded) port.close(() => {});
      else this.#listener.opened();
    });
  }

  send(bytes: Uint8Array): void {
    if (this.#isEnded || this.#port === undefined) return;
    if (this.#unsentBytes + bytes.length > maxUnsentBytes) {
      queueMicrotask(() => this.#close('the device is not reading what the hub sends'));
      return;
    }
    this.#unsentBytes += bytes.length;
    this.#port.write(bytes);
    this.#port.drain(() => {
      this.#unsentBytes -= bytes.length;
    });
  }

  end(): void {
    this.#isEnded = true;
    if (this.#port?.isOpen === true) this.#port.close(() => {});
  }

  #close(reason: string): void {
    if (this.#isEnded) return;
    this.end();
    this.#listener.closed(reason);
  }
}
