// What has come over a socket and was not read yet: it is read in parts, each within the deadline of all specs.

import type { Socket } from 'node:net';
import { Inbox } from '../inbox.ts';

/** A part of what has come, which takes so many bytes. */
interface Part<T> {
  readonly value: T;
  readonly bytes: number;
}

export class Incoming {
  readonly #wakes = new Inbox<true>();
  #pieces: Buffer[] = [];
  #unreadBytes = 0;
  #isClosed = false;

  constructor(socket: Socket) {
    socket.on('data', (data) => this.#add(data));
    socket.on('close', () => this.#close());
  }

  /** Takes the next so many bytes. */
  bytes(bytes: number): Promise<Buffer> {
    return this.#take(
      () => (this.#unreadBytes < bytes ? undefined : { value: this.#unread().subarray(0, bytes), bytes }),
      `${bytes} bytes`,
    );
  }

  /** Takes the next line, without its end. */
  line(): Promise<string> {
    return this.#take(() => {
      const end = this.#unread().indexOf('\r\n');
      return end < 0 ? undefined : { value: this.#unread().subarray(0, end).toString('latin1'), bytes: end + 2 };
    }, 'a line of an answer');
  }

  /** Takes what has come and was not read. */
  rest(): Buffer {
    const rest = this.#unread();
    this.#leave(Buffer.alloc(0));
    return rest;
  }

  /** Resolves with what was left unread when the other side has closed. */
  async closed(): Promise<Buffer> {
    while (!this.#isClosed) await this.#wakes.next('the connection being closed');
    return this.#unread();
  }

  #add(data: Buffer): void {
    this.#pieces.push(data);
    this.#unreadBytes += data.length;
    this.#wakes.put(true);
  }

  #close(): void {
    this.#isClosed = true;
    this.#wakes.put(true);
  }

  async #take<T>(read: () => Part<T> | undefined, what: string): Promise<T> {
    for (;;) {
      const part = read();
      if (part) {
        this.#leave(this.#unread().subarray(part.bytes));
        return part.value;
      }
      if (this.#isClosed)
        throw new Error(`${what}: the connection was closed, unread: ${this.#unread().toString('latin1')}`);
      await this.#wakes.next(what);
    }
  }

  #unread(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }

  #leave(rest: Buffer): void {
    this.#pieces = [rest];
    this.#unreadBytes = rest.length;
  }
}
