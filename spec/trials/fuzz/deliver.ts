// Sends inputs to a hub and checks the responses: no internal error, and every connection gets a response or is closed.

import { connect, type Socket } from 'node:net';
import { platform } from 'node:os';
import { bytesOfRequest, type HttpInput } from './http-input.ts';
import { frame, type SocketInput } from './socket-input.ts';

export type Input = HttpInput | SocketInput;

/** The ports of the REST API connections: the one is open to all, the other asks for credentials. */
export type Ports = Readonly<Record<'open' | 'locked', number>>;

const deadlineMs = 20_000;
const internalError = 'the request failed; see the log of the hub for the reason';
const lastPing = 'the last';
/** Clients connect from many addresses, to stay below the limits per address. */
const addresses = platform() === 'linux' ? 200 : 0;

/** Counts of the responses: HTTP statuses, `closed`, and socket messages. */
export type Counts = Map<string, number>;

/** Sends inputs one after the other; valid requests share a connection. */
export class Sender {
  readonly #ports: Ports;
  readonly #counts: Counts;
  #kept: Wire | undefined;
  #keptServer: HttpInput['server'] = 'open';

  constructor(ports: Ports, counts: Counts) {
    this.#ports = ports;
    this.#counts = counts;
  }

  /** Sends an input and resolves, once it has been handled, to the fault found; undefined: none. */
  async send(input: Input): Promise<string | undefined> {
    return input.kind === 'http' ? this.#sendRequest(input) : this.#sendFrames(input);
  }

  end(): void {
    this.#kept?.end();
    this.#kept = undefined;
  }

  async #sendRequest(input: HttpInput): Promise<string | undefined> {
    if (this.#kept === undefined || this.#kept.isClosed || this.#keptServer !== input.server) {
      this.end();
      this.#kept = new Wire(this.#ports[input.server]);
      this.#keptServer = input.server;
    }
    const wire = this.#kept;
    wire.write(bytesOfRequest(input));
    if (!input.isOrderly) wire.finish();
    const isHead = input.pieces[0]!.startsWith('HEAD ');
    const isOver = await wire.until((text) => (input.isOrderly ? hasAnswer(text, isHead) : false));
    const answers = [...wire.text.matchAll(/(?:^|\n)HTTP\/1\.1 (\d\d\d) /g)].map(([, status]) => status!);
    for (const status of answers.length === 0 ? ['closed'] : answers) this.#count(status);
    const isWhole = !wire.isClosed && hasAnswer(wire.text, isHead) === 'whole';
    wire.text = '';
    if (!isWhole || !input.isOrderly) this.end();
    if (answers.includes('500')) return 'an answer 500';
    return isOver ? undefined : `neither an answer nor an end within ${deadlineMs} ms`;
  }

  async #sendFrames({ isV1, query, pieces, isOrderly }: SocketInput): Promise<string | undefined> {
    const wire = new Wire(this.#ports.open);
    const protocol = isV1 ? 'Sec-WebSocket-Protocol: patchbay.v1\r\n' : '';
    wire.write(
      Buffer.from(
        `GET /ws${query} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cGF0Y2hiYXkgZnV6eiAuLg==\r\n${protocol}\r\n`,
      ),
    );
    if (!(await wire.until((text) => text.includes('\r\n\r\n')))) return 'no answer to a handshake';
    this.#count(`ws ${/^HTTP\/1\.1 (\d\d\d)/.exec(wire.text)?.[1] ?? 'closed'}`);
    if (!wire.text.startsWith('HTTP/1.1 101')) {
      wire.end();
      return wire.text.startsWith('HTTP/1.1 500') ? 'an answer 500' : undefined;
    }
    wire.text = '';
    wire.write(Buffer.from(pieces.join('') + frame(9, lastPing), 'latin1'));
    if (!isOrderly) wire.finish();
    let isInternal = false;
    const isOver = await wire.until((text) => {
      isInternal ||= text.includes(internalError);
      return text.includes(`\x8a\x08${lastPing}`) ? true : 'forget';
    });
    this.#count(wire.isClosed ? 'ws ended by the hub' : 'ws ended');
    wire.end();
    if (isInternal) return 'a message about an internal error';
    return isOver ? undefined : `neither a pong nor an end within ${deadlineMs} ms`;
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

/** Whether text begins with an answer that is there; `whole`: with nothing after it. */
function hasAnswer(text: string, isHead: boolean): false | true | 'whole' {
  const end = text.indexOf('\r\n\r\n') + 4;
  if (end < 4) return false;
  const head = text.slice(0, end);
  const status = head.slice(9, 12);
  if (/\r\nconnection: close/i.test(head)) return true;
  if (status === '101') return true;
  const bodyless = isHead || status === '204' || status === '304';
  if (!bodyless && /\r\ntransfer-encoding: chunked/i.test(head))
    return text.endsWith('\r\n0\r\n\r\n') ? 'whole' : false;
  const length = bodyless ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (text.length < end + length) return false;
  return text.length === end + length ? 'whole' : true;
}

/** A raw connection; what comes is kept as text, a character per byte. */
class Wire {
  text = '';
  isClosed = false;
  readonly #socket: Socket;
  #look: () => void = () => {};

  constructor(port: number) {
    const localAddress =
      addresses === 0 ? undefined : `127.0.0.${2 + (Math.floor(performance.now() * 1000) % addresses)}`;
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true, ...(localAddress && { localAddress }) });
    this.#socket.on('data', (bytes) => {
      this.text += bytes.toString('latin1');
      this.#look();
    });
    this.#socket.on('error', () => {}); // it is told by its close
    this.#socket.on('close', () => {
      this.isClosed = true;
      this.#look();
    });
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Says that no more will come. */
  finish(): void {
    this.#socket.end();
  }

  end(): void {
    this.#socket.destroy();
  }

  /** Resolves to true when the text is as expected, or the connection has ended; false: not in time. */
  until(isThere: (text: string) => boolean | string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(false), deadlineMs);
      const settle = (isOver: boolean) => {
        clearTimeout(timer);
        this.#look = () => {};
        resolve(isOver);
      };
      this.#look = () => {
        const found = isThere(this.text);
        if (found === 'forget') this.text = this.text.slice(-200);
        else if (found !== false) return settle(true);
        if (this.isClosed) settle(true);
      };
      this.#look();
    });
  }
}
