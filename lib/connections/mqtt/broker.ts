// The session with a broker: connects, subscribes, publishes in a defined order, and notices when the broker is unreachable. After a
// connect, the session first subscribes to all topics, then publishes all current values, and finally publishes the status `online`. While
// the broker is unreachable, only topics are queued, not payloads: the payload is determined when the message is sent.

import { randomUUID } from 'node:crypto';
import type { IClientOptions, MqttClient } from 'mqtt';
import { type SchedulerLike, Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { Transport } from '../../device/transport.ts';
import { messageOf } from '../../model/error.ts';
import type { Log } from '../connection.ts';
import { LinkStream } from './link-stream.ts';
import { maxPacketBytes, type Published, PublishWriter, showPublished } from './publish-packet.ts';

/** The number of unsent bytes above which the hub waits before it sends further payloads. */
export const maxUnsentBytes = 262_144;
/** The maximum number of trigger messages that are waiting to be sent. */
export const maxFires = 1024;
/**
 * The maximum number of recently published payloads that are remembered per topic. A broker without `noLocal` sends the hub's own messages
 * back, and the hub recognizes them by their payloads.
 */
export const maxEchoes = 64;
/** The maximum number of payloads, and the number of bytes after which no more of them are sent in one round of the event loop. */
const sentPerRound = 128;
const sentPerRoundBytes = 65_536;
/**
 * The minimum time between two writes to the link, in milliseconds. Under load, each write therefore contains many messages, because a write
 * takes as long as encoding many of them. A message after a pause is sent immediately.
 */
const gatherMs = 5;
/** The maximum number of topic filters in one SUBSCRIBE packet. */
const filtersPerPacket = 200;
/** The pause before the next attempt after the broker has refused the hub, in milliseconds. */
const refusedPauseMs = 30_000;
/** The maximum pause between attempts while the broker's host refuses TCP connections, in milliseconds. */
const longestRefusedMs = 1500;

/** A topic to which a payload is to be published. */
export interface Outgoing {
  readonly topic: string;
  readonly isRetained: boolean;
  /** Returns the latest payload, or undefined if there is nothing to publish. */
  take(): string | undefined;
  /** Returns the stamp for the message. Only needed if several hubs publish to the topic. */
  stampOf?(): Stamp;
}

/**
 * A stamp, which orders the messages for a topic to which several hubs publish. A stamp is sent as an MQTT 5 user property: `patchbay: '17
 * patchbay-1b9d'`.
 */
export interface Stamp {
  readonly number: number;
  /** The client ID of the sender. If two messages have the same number, the message from the sender with the greater client ID wins. */
  readonly by: string;
}

export interface BrokerOptions {
  readonly transports: readonly Transport[];
  readonly clientId: string;
  readonly username: string;
  readonly password: string;
  readonly version: '5' | '3.1.1' | undefined;
  readonly connectTimeoutMs: number;
  readonly keepAliveMs: number;
  /** The topic for the status and the last will; undefined if the session publishes no status. */
  readonly status: string | undefined;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
}

export interface BrokerEvents {
  /** Called when the broker has accepted the connection, before any message arrives. The listener should publish its values. */
  opened(): void;
  /** Called when the retained messages have arrived. The listener should publish values that are missing on the broker. */
  retained(): void;
  /** Called when all filters are subscribed and all values are published. */
  ready(): void;
  away(reason: string): void;
  received(topic: string, payload: Buffer, isRetained: boolean, stamp: Stamp | undefined): void;
  /** Records a message. The bytes are valid until the next message. */
  wire(direction: 'in' | 'out', bytes: Uint8Array): void;
}

/** A topic filter that the session subscribes to. */
export interface Filter {
  readonly topic: string;
  /** Whether the broker should send the retained messages for the filter. */
  readonly isRetainedWanted: boolean;
}

/** The reasons why a broker refuses a connection, keyed by reason code (MQTT 5) or return code (MQTT 3.1.1). */
const refusals: Readonly<Record<number, string>> = {
  2: 'the broker refuses the client ID',
  3: 'the broker is not available',
  4: 'the broker refuses the username or the password',
  5: 'the broker refuses the username or the password',
  133: 'the broker refuses the client ID',
  134: 'the broker refuses the username or the password',
  135: 'the broker refuses the username or the password',
  136: 'the broker is not available',
  137: 'the broker is busy',
  138: 'the broker has banned this client',
  140: 'the broker refuses the authentication method',
  142: 'another client has taken over the client ID',
};
const unsupportedVersion: readonly number[] = [1, 132];
const passing: readonly number[] = [3, 136, 137];

export class Broker {
  readonly #options: BrokerOptions;
  readonly #events: BrokerEvents;
  readonly #link: DeviceLink;
  readonly clientId: string;
  readonly #filters = new Map<string, Filter>();
  readonly #dirty = new Set<Outgoing>();
  readonly #fires: { readonly topic: string; readonly payload: string }[] = [];
  readonly #echoes = new Map<string, string[]>();
  #create: Promise<typeof import('mqtt')> | undefined;
  #client: MqttClient | undefined;
  #stream: LinkStream | undefined;
  #packets: PublishWriter | undefined;
  #version: 4 | 5;
  #isAccepted = false;
  #isReady = false;
  #hasRetained = false;
  /** Whether the hub is waiting for a ping response, which arrives after the retained messages. */
  #isAwaiting = false;
  #isSending = false;
  /** The time at which the last sending round ended, in milliseconds as returned by `performance.now()`. */
  #sentAtMs = 0;
  #isStopped = false;
  /** The number of filters that the broker has not yet confirmed. */
  #pending = 0;
  #timers = new Subscription();
  #refusal: { readonly reason: string; readonly pauseMs: number } | undefined;
  readonly #sendGuarded = () => this.#guarded(() => this.#sendRound());

  constructor(options: BrokerOptions, events: BrokerEvents) {
    this.#options = options;
    this.#events = events;
    this.#version = options.version === '3.1.1' ? 4 : 5;
    this.clientId = options.clientId || `patchbay-${randomUUID().slice(0, 13)}`;
    this.#link = new DeviceLink(
      {
        transports: options.transports,
        connectTimeoutMs: options.connectTimeoutMs,
        idleTimeoutMs: options.keepAliveMs * 1.5,
        scheduler: options.scheduler,
        refusedMs: longestRefusedMs,
      },
      {
        opened: () => {
          this.#opened().catch((error) => this.#link.fail(`internal error: ${messageOf(error)}`));
        },
        received: (bytes) => this.#stream?.receive(bytes),
        ended: (reason) => this.#ended(reason),
      },
    );
  }

  /** Whether all filters are subscribed and all values are published. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the broker supports `noLocal`, in which case it does not send the hub's own messages back. */
  get hasNoLocal(): boolean {
    return this.#version === 5;
  }

  start(): void {
    this.#create = import('mqtt');
    this.#create.catch(() => {}); // `#opened` reports the error
    this.#link.start();
  }

  /** Publishes the status `offline` and closes the link. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timers.unsubscribe();
    const client = this.#client;
    const { status } = this.#options;
    if (client?.connected === true && this.#isAccepted) {
      const said = new Promise<void>((resolve) => {
        if (status !== undefined) client.publish(status, 'offline', { retain: true });
        client.end(false, {}, () => resolve());
      });
      await Promise.race([said, new Promise((resolve) => setTimeout(resolve, 500))]);
    }
    this.#drop();
    await this.#link.stop();
  }

  /** Subscribes to topic filters immediately or, while the broker is unreachable, after the next connect. */
  subscribe(filters: readonly Filter[]): void {
    const fresh = filters.filter(({ topic }) => !this.#filters.has(topic));
    for (const filter of fresh) this.#filters.set(filter.topic, filter);
    if (this.#isAccepted) this.#subscribe(fresh);
  }

  unsubscribe(topics: readonly string[]): void {
    const gone = topics.filter((topic) => this.#filters.delete(topic));
    if (this.#isAccepted && gone.length > 0) this.#client?.unsubscribe(gone, () => {});
  }

  /** Queues a topic so that its latest payload is published. Does nothing while the broker is unreachable. */
  publish(outgoing: Outgoing): void {
    if (!this.#isAccepted) return;
    this.#dirty.add(outgoing);
    this.#send();
  }

  /** Publishes a trigger message, which is never retained. Returns false if the message was dropped. */
  fire(topic: string, payload: string): boolean {
    if (!this.#isReady || this.#fires.length >= maxFires) return false;
    this.#fires.push({ topic, payload });
    this.#send();
    return true;
  }

  // The link and its MQTT client

  async #opened(): Promise<void> {
    const { connectTimeoutMs, keepAliveMs, scheduler, username, password, status } = this.#options;
    this.#timers = new Subscription();
    this.#timers.add(
      scheduler.schedule(() => {
        if (!this.#isAccepted) this.#link.fail(`the broker did not answer within ${connectTimeoutMs / 1000} s`);
      }, connectTimeoutMs),
    );
    const version = this.#version;
    const stream = new LinkStream(this.#link, version, {
      fail: (reason) => this.#link.fail(reason),
      published: (message) => {
        if (this.#stream === stream) this.#receivedPlain(message);
      },
    });
    this.#stream = stream;
    this.#packets = new PublishWriter(version);
    const { MqttClient, Store } = await this.#create!;
    if (this.#stream !== stream) return;
    const options: IClientOptions = {
      clientId: this.clientId,
      protocolVersion: this.#version,
      protocolId: 'MQTT',
      clean: true,
      keepalive: Math.ceil(keepAliveMs / 1000),
      reschedulePings: false, // the client pings even while it is sending, because a broker that does not answer is unreachable
      reconnectPeriod: 0,
      connectTimeout: 2 ** 30,
      queueQoSZero: false,
      incomingStore: new Store({ clean: false }), // the client still reads the store for packets that arrive after the client was closed
      customHandleAcks: (_topic, _message, { qos }, done) => {
        if (qos < 2) done(0);
        // MQTT section 3.8.4: messages arrive with at most the subscribed QoS; a client would have to store messages with QoS 2 until the
        // broker releases them
        else if (this.#stream === stream)
          this.#link.fail('the broker sent a message with QoS 2, to which the hub never subscribes');
      },
      log: () => {}, // the client's log costs a tenth of the time
      resubscribe: false,
      ...(username !== '' && { username }),
      ...(password !== '' && { password }),
      ...(this.#version === 5 && { properties: { maximumPacketSize: maxPacketBytes } }),
      ...(status !== undefined && { will: { topic: status, payload: Buffer.from('offline'), qos: 1, retain: true } }),
    };
    const client = new MqttClient(() => stream as never, options);
    this.#client = client;
    const guarded =
      <Arguments extends unknown[]>(work: (...all: Arguments) => void) =>
      (...all: Arguments) => {
        if (this.#client === client) this.#guarded(() => work(...all));
      };
    client.on('packetreceive', (packet) => {
      stream.taken();
      if (packet.cmd === 'pingresp' && this.#client === client) this.#answered();
    });
    client.on(
      'error',
      guarded((error) => this.#failed(error)),
    );
    client.on(
      'close',
      guarded(() => this.#link.fail('the broker closed the session')),
    );
    client.on(
      'disconnect',
      guarded(({ reasonCode = 0 }) => {
        const reason = refusals[reasonCode];
        if (reason !== undefined) this.#refuse(reason, refusedPauseMs);
      }),
    );
    client.on(
      'connect',
      guarded(() => this.#accepted()),
    );
    client.on(
      'message',
      guarded((topic, payload, { retain, properties }) =>
        this.#received(topic, payload, retain, stampIn(properties?.userProperties?.[stampName])),
      ),
    );
  }

  /** Calls `work` and closes the link if it throws, because an uncaught error in a callback of the MQTT client would end the hub. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#link.fail(`internal error: ${messageOf(error)}`);
    }
  }

  #failed(error: Error & { readonly code?: unknown }): void {
    const { code } = error;
    if (typeof code === 'number' && !this.#isAccepted) {
      if (this.#version === 5 && this.#options.version === undefined && unsupportedVersion.includes(code)) {
        this.#version = 4;
        this.#link.fail('the broker does not support MQTT 5; trying 3.1.1');
      } else
        this.#refuse(
          refusals[code] ?? `the broker refused the connection: ${messageOf(error)}`,
          passing.includes(code) ? 0 : refusedPauseMs,
        );
      return;
    }
    this.#link.fail(messageOf(error));
  }

  #refuse(reason: string, pauseMs: number): void {
    this.#refusal = { reason, pauseMs };
    this.#link.fail(reason);
  }

  /** Handles the end of the link. Returns the minimum pause before the next attempt in milliseconds. */
  #ended(reason: string): number {
    const refusal = this.#refusal;
    const wasHeard = this.#stream?.isHeard === true;
    const isOfVersion = this.#client !== undefined && !this.#isAccepted && !wasHeard && refusal === undefined;
    // a broker that knows only an older version may close the link without answering
    if (isOfVersion && this.#options.version === undefined && !reason.includes(' within '))
      this.#version = this.#version === 5 ? 4 : 5;
    this.#refusal = undefined;
    this.#timers.unsubscribe();
    this.#drop();
    this.#dirty.clear();
    this.#fires.length = 0;
    this.#echoes.clear();
    this.#isAccepted = false;
    this.#isReady = false;
    this.#hasRetained = this.#isAwaiting = false;
    this.#pending = 0;
    if (!this.#isStopped) this.#events.away(refusal?.reason ?? sentenceOf(reason));
    return refusal?.pauseMs ?? 0;
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#stream?.destroy();
    this.#stream = undefined;
    client?.end(true);
  }

  // The session: subscribing, publishing, reporting the status

  #accepted(): void {
    this.#link.prove();
    this.#isAccepted = true;
    this.#events.opened();
    this.#subscribe([...this.#filters.values()]);
    this.#send();
  }

  #subscribe(filters: readonly Filter[]): void {
    const client = this.#client!;
    for (let from = 0; from < filters.length; from += filtersPerPacket) {
      const part = filters.slice(from, from + filtersPerPacket);
      this.#pending++;
      const map = Object.fromEntries(
        part.map(({ topic, isRetainedWanted }) => [topic, { qos: 0 as const, nl: true, rh: isRetainedWanted ? 0 : 2 }]),
      );
      client.subscribe(map, (error, granted) => {
        if (this.#client !== client) return;
        this.#pending--;
        const refused = granted?.filter(({ qos }) => qos >= 128) ?? [];
        for (const { topic } of error !== null && refused.length === 0 ? part : refused)
          this.#options.log.warn({ topic }, `the broker refused the subscription to ${topic}`, 'subscription refused');
        this.#send();
      });
    }
  }

  #send(): void {
    if (this.#isSending || this.#isStopped) return;
    this.#isSending = true;
    const waitMs = this.#sentAtMs + gatherMs - performance.now();
    if (waitMs > 0) setTimeout(this.#sendGuarded, waitMs);
    else setImmediate(this.#sendGuarded);
  }

  /** Publishes queued messages until the link has enough bytes to send, and continues after some bytes have been sent. */
  #sendRound(): void {
    this.#isSending = false;
    if (!this.#isAccepted || this.#client === undefined || this.#isStopped) return;
    if (this.#link.unsentBytes + this.#stream!.writableLength > maxUnsentBytes) {
      this.#isSending = true;
      this.#timers.add(this.#options.scheduler.schedule(this.#sendGuarded, 5));
      return;
    }
    let left = sentPerRound;
    for (const { topic, payload } of this.#fires.splice(0, left)) this.#publish(topic, payload, false);
    for (const outgoing of this.#dirty) {
      if (left-- === 0 || this.#packets!.length > sentPerRoundBytes) break;
      this.#dirty.delete(outgoing);
      const payload = outgoing.take();
      if (payload !== undefined) this.#publish(outgoing.topic, payload, outgoing.isRetained, outgoing.stampOf?.());
    }
    const isWritten = this.#write();
    const isDone = this.#dirty.size === 0 && this.#fires.length === 0;
    this.#sentAtMs = isDone && isWritten ? performance.now() : 0;
    if (!isDone) this.#send();
    else if (!this.#isReady && this.#pending === 0) {
      if (this.#hasRetained) this.#ready();
      else this.#awaitRetained();
    }
  }

  /** Writes the encoded messages to the link. Returns whether there were any. */
  #write(): boolean {
    const packets = this.#packets!;
    if (packets.length === 0) return false;
    this.#stream!.write(packets.take());
    return true;
  }

  /** Encodes a message, which `#write` then writes. */
  #publish(topic: string, payload: string, isRetained: boolean, stamp?: Stamp): void {
    if (!this.hasNoLocal) {
      const echoes = this.#echoes.get(topic) ?? [];
      this.#echoes.set(topic, echoes);
      echoes.push(payload);
      if (echoes.length > maxEchoes) echoes.shift();
    }
    const property = stamp === undefined ? undefined : ([stampName, `${stamp.number} ${stamp.by}`] as const);
    if (this.#packets!.add(topic, payload, isRetained, property)) {
      this.#events.wire('out', showPublished(topic, payload));
      return;
    }
    this.#options.log.warn(
      {},
      `cannot publish to ${topic.slice(0, 80)}…: the topic or the message is too long for MQTT`,
      'too long',
    );
  }

  /** Sends a ping. When the response arrives, all retained messages have arrived as well. */
  #awaitRetained(): void {
    if (this.#timers.closed || this.#isAwaiting) return;
    this.#isAwaiting = true;
    this.#client!.sendPing();
  }

  #answered(): void {
    if (!this.#isAwaiting) return;
    this.#isAwaiting = false;
    this.#hasRetained = true;
    this.#guarded(() => this.#events.retained());
    this.#send();
  }

  #ready(): void {
    this.#isReady = true;
    const { status } = this.#options;
    if (status !== undefined) {
      this.#publish(status, 'online', true);
      this.#write();
    }
    this.#events.ready();
  }

  /** Like `#guarded`, but without a function for each message. */
  #receivedPlain({ topic, payload, isRetained }: Published): void {
    try {
      this.#received(topic, payload, isRetained, undefined);
    } catch (error) {
      this.#link.fail(`internal error: ${messageOf(error)}`);
    }
  }

  #received(topic: string, payload: Buffer, isRetained: boolean, stamp: Stamp | undefined): void {
    this.#events.wire('in', showPublished(topic, payload));
    const echoes = this.#echoes.get(topic);
    if (echoes !== undefined && !isRetained && echoes[0] === payload.toString()) {
      echoes.shift();
      if (echoes.length === 0) this.#echoes.delete(topic);
      return;
    }
    this.#events.received(topic, payload, isRetained, stamp);
  }
}

const stampName = 'patchbay';

/** Reads the stamp of a message from its user property. Returns undefined if the message has no stamp. */
function stampIn(property: unknown): Stamp | undefined {
  const [, number, by] = (typeof property === 'string' && /^(\d{1,15}) (\S{1,128})$/.exec(property)) || [];
  return by === undefined ? undefined : { number: Number(number), by };
}

/** Converts the reason why a link has ended to a sentence for the user. */
function sentenceOf(reason: string): string {
  if (/alert certificate required|peer did not return a certificate/i.test(reason))
    return 'the broker requires a client certificate: set tls.certFile and tls.keyFile';
  if (/alert (?:bad certificate|unknown ca|certificate|unsupported certificate)/i.test(reason))
    return `the broker refuses the certificate of this hub: ${reason}`;
  return reason.replace(/^the device/, 'the broker');
}
