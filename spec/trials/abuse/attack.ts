// Building blocks of attacks: connections that are sent bytes for as long as they accept them, or that repeat a request after every
// response.

import { connect, type Socket } from 'node:net';
import { protocolName } from '../../../lib/wire/protocol.ts';
import { encodeClientText, openWebSocket } from '../../support/load/web-socket.ts';

const reopenAfterMs = 10;
const pouredBytes = 256 * 1024;

/** Opens a connection; it is opened again when it ends, unless `onceOnly`. `begin` is called each time. */
export function keepOpen(port: number, begin: (socket: Socket) => void, onceOnly = false): void {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('connect', () => begin(socket));
  socket.on('error', () => {});
  socket.on('close', () => {
    if (!onceOnly) setTimeout(keepOpen, reopenAfterMs, port, begin);
  });
}

/** The same for a WebSocket. What comes is read and forgotten. */
export function keepWebSocketOpen(
  port: number,
  path: string,
  begin: (socket: Socket) => void,
  protocol?: string,
  localAddress?: string,
): void {
  let isOver = false;
  const reopen = () => {
    if (isOver) return;
    isOver = true;
    setTimeout(keepWebSocketOpen, reopenAfterMs, port, path, begin, protocol, localAddress);
  };
  openWebSocket(port, path, { onBytes: () => {}, onClose: reopen }, protocol, { localAddress }).then((socket) => {
    socket.on('close', reopen);
    begin(socket);
  }, reopen);
}

/** Sends a piece again and again, as fast as the socket takes it. */
export function pour(socket: Socket, piece: Uint8Array): void {
  const times = Math.max(1, Math.floor(pouredBytes / piece.length));
  const bytes = Buffer.concat(Array.from({ length: times }, () => piece));
  const write = () => {
    while (!socket.destroyed && socket.write(bytes)) {}
  };
  socket.on('drain', write);
  write();
}

/** A request: its line, such as `GET /hub/log`, and what else it has. */
export interface Question {
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Opens so many HTTP connections, each of which asks one question after the other, for ever; text is the path of a GET. */
export function keepAsking(port: number, connections: number, questionOf: (number: number) => Question | string): void {
  let number = 0;
  for (let count = 0; count < connections; count++)
    keepOpen(port, (socket) => {
      const ask = () => socket.write(encode(questionOf(number++)));
      const answers = new AnswerReader(ask);
      socket.on('data', (chunk: Buffer) => answers.read(chunk));
      ask();
    });
}

function encode(question: Question | string): string {
  const { line, headers = {}, body } = typeof question === 'string' ? { line: `GET ${question}` } : question;
  const length = body !== undefined && { 'Content-Length': Buffer.byteLength(body) };
  const lines = Object.entries({ Host: 'localhost', ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** Finds the end of each answer: of those with a length, those in chunks, and those without a body. */
class AnswerReader {
  readonly #onEnd: () => void;
  #head = '';
  /** How many bytes of the body are to come. */
  #left: number | undefined = undefined;
  /** The end so far of a body in chunks. */
  #end: string | undefined = undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  read(chunk: Buffer): void {
    let at = 0;
    if (this.#left === undefined && this.#end === undefined) {
      const before = this.#head.length;
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      at = end + 4 - before;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1];
      if (/\r\ntransfer-encoding: chunked/i.test(this.#head)) this.#end = '';
      else this.#left = Number(length ?? 0);
      this.#head = '';
    }
    if (this.#left !== undefined) this.#left -= chunk.length - at;
    else this.#end = (this.#end + chunk.toString('latin1', Math.max(at, chunk.length - 8))).slice(-8);
    if (this.#left === undefined ? !this.#end!.endsWith('0\r\n\r\n') : this.#left > 0) return;
    this.#left = this.#end = undefined;
    this.#onEnd();
  }
}

/** Opens so many sockets, of patchbay.v1 unless said, each of which sends the next message when the last has been answered. */
export function keepSending(
  port: number,
  sockets: number,
  messageOf: (number: number) => string,
  isAnswer: (text: string) => boolean,
): void {
  let number = 0;
  const open = () => {
    let isOver = false;
    const reopen = () => {
      if (!isOver) setTimeout(open, reopenAfterMs);
      isOver = true;
    };
    let send = () => {};
    const onBytes = (bytes: Buffer, length: number) => {
      if (isAnswer(bytes.toString('latin1', 0, length))) send();
    };
    openWebSocket(port, '/ws', { onBytes, onClose: reopen }, protocolName).then((socket) => {
      socket.on('close', reopen);
      send = () => void socket.write(encodeClientText(messageOf(number++)));
      send();
    }, reopen);
  };
  for (let count = 0; count < sockets; count++) open();
}
