// NATS over WebSocket (docs.nats.io "Client Protocol"): the protocol's bytes in binary frames, split wherever the server likes. The subject
// is the address, the payload the value. As with the hub, a socket receives its own changes too.

import { FrameReader } from '../../../spec/support/load/frame-reader.ts';
import { encodeClientFrame } from '../../../spec/support/load/web-socket.ts';
import { ExpectedStream } from '../received/expected-stream.ts';
import type { Dialect, Entry } from './dialect.ts';
import { StreamReceiver } from './plain.ts';

const binary = 2;
const subscribed = 'PONG\r\n';
const ping = Buffer.from('PING\r\n');
const pong = encodeClientFrame(Buffer.from('PONG\r\n'), binary);
const leastCycle = 4096;

export function createNatsDialect(address: string, batch: number): Dialect {
  const subject = address.replaceAll('/', '.');
  const batches = Math.ceil(leastCycle / batch);
  const values = Array.from({ length: batches * batch }, (_, index) => String(index / 1000));
  const publish = values.map((value) => `PUB ${subject} ${value.length}\r\n${value}\r\n`);
  const sent = Array.from({ length: batches }, (_, index) =>
    encodeClientFrame(Buffer.from(publish.slice(index * batch, (index + 1) * batch).join('')), binary),
  );
  const stream = new ExpectedStream(
    values.map((value) => Buffer.from(`MSG ${subject} 1 ${value.length}\r\n${value}\r\n`)),
  );
  return {
    entry: enter(subject),
    bystander: (index) => enter(`${subject}.${index}`),
    batch: (index) => sent[index % batches]!,
    createReceiver: () => new NatsReceiver(stream, batch),
  };
}

function enter(subject: string): Entry {
  const commands = `CONNECT {"verbose":false,"pedantic":false}\r\nSUB ${subject} 1\r\nPING\r\n`;
  return { path: '/', greeting: encodeClientFrame(Buffer.from(commands), binary) };
}

class NatsReceiver extends StreamReceiver {
  override isReady = false;
  readonly #frames = new FrameReader((payload) => this.#take(payload));
  #welcome = '';
  /** How many bytes of a PING have arrived; the server sends it between two messages. */
  #pinged = 0;
  #answer: Buffer | undefined;

  override read(chunk: Buffer, length: number): Buffer | undefined {
    this.#answer = undefined;
    this.#frames.read(chunk, length);
    return this.#answer;
  }

  #take(payload: Buffer): void {
    if (!this.isReady) this.#enter(payload);
    else if (this.#pinged > 0) this.#endPing(payload);
    else if (!this.advance(payload, payload.length)) this.#takeAround(payload);
  }

  #enter(payload: Buffer): void {
    this.#welcome += payload.toString('latin1');
    if (this.#welcome.includes('-ERR')) throw new Error(`expected to be let in, got ${this.#welcome}`);
    this.isReady = this.#welcome.endsWith(subscribed);
  }

  /** Takes a payload that contains a PING, or ends with the beginning of one. */
  #takeAround(payload: Buffer): void {
    let at = payload.indexOf(ping);
    for (let part = ping.length - 1; at < 0 && part > 0; part--)
      if (payload.subarray(-part).equals(ping.subarray(0, part))) at = payload.length - part;
    if (at < 0 || !this.advance(payload, at)) throw this.difference(payload, payload.length);
    if (!this.isBetweenChanges) throw this.difference(payload.subarray(at), payload.length - at);
    this.#endPing(payload.subarray(at));
  }

  #endPing(payload: Buffer): void {
    const end = Math.min(payload.length, ping.length - this.#pinged);
    if (!payload.subarray(0, end).equals(ping.subarray(this.#pinged, this.#pinged + end)))
      throw this.difference(payload, payload.length);
    this.#pinged = (this.#pinged + end) % ping.length;
    if (this.#pinged > 0) return;
    this.#answer = pong;
    this.#take(payload.subarray(end));
  }
}
