// The session with Home Assistant: signs in, sends commands, and passes on results and events. The messages and their order follow Home
// Assistant's documentation of its WebSocket API. Received messages are handled in rounds, so that a large number of them delays nobody.

import { Subscription } from 'rxjs';
import { DeviceLink } from '../../device/link.ts';
import type { Transport } from '../../device/transport.ts';
import { messageOf } from '../../model/error.ts';
import { isJsonObject } from '../../model/json-object.ts';
import type { ConnectionContext } from '../connection.ts';
import type { HomeAssistantSettings } from './settings.ts';

/** How many received messages are handled in one round of the event loop. */
export const readPerRound = 32;
/** The number of unread messages at which the hub stops reading. */
export const maxUnread = 256;
/**
 * The pause before the next attempt after Home Assistant has refused the token, in milliseconds. Home Assistant warns its users about each
 * attempt.
 */
const refusedPauseMs = 30_000;
/**
 * The longest pause while the host refuses the connection, in milliseconds. It is short, because restarting Home Assistant already takes
 * long enough.
 */
const longestRefusedMs = 1500;
/** The maximum length of a sentence from Home Assistant that the hub shows, in characters. */
const maxSentenceLength = 300;

/** The outcome of a command. */
export type Outcome =
  | { readonly result: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

export interface CommandHandler {
  /** Called once, unless the link ends first. */
  done?(outcome: Outcome): void;
  /** Called for each event of a subscription. */
  event?(event: unknown): void;
}

export interface SessionOptions {
  readonly context: ConnectionContext<HomeAssistantSettings>;
  readonly transports: readonly Transport[];
  /** Called when the token has been accepted and commands may be sent. */
  signedIn(): void;
  /** Called when a message, or several coalesced messages, have been passed on. */
  taken(): void;
  away(reason: string): void;
  random?(): number;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #link: DeviceLink;
  readonly #commands = new Map<number, CommandHandler>();
  #nextId = 1;
  #isSignedIn = false;
  #isRefused = false;
  #timers = new Subscription();
  #unread: Buffer[] = [];
  #isReading = false;
  #isPaused = false;

  constructor(options: SessionOptions) {
    const { context, transports, random } = options;
    const { settings, scheduler } = context;
    this.#options = options;
    this.#link = new DeviceLink(
      {
        ...{ transports, connectTimeoutMs: settings.connectTimeout, idleTimeoutMs: settings.idleTimeout },
        ...{ hearsOnlyReported: true, refusedMs: longestRefusedMs, scheduler },
        ...(random && { random }),
      },
      {
        opened: () => this.#opened(),
        received: (bytes) => this.#received(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
        ended: (reason) => this.#ended(reason),
      },
    );
  }

  get isSignedIn(): boolean {
    return this.#isSignedIn;
  }

  get unsentBytes(): number {
    return this.#link.unsentBytes;
  }

  start(): void {
    this.#link.start();
  }

  stop(): Promise<void> {
    this.#drop();
    return this.#link.stop();
  }

  /** Records that Home Assistant works. */
  prove(): void {
    this.#link.prove();
  }

  fail(reason: string): void {
    this.#link.fail(reason);
  }

  /** Sends a command and returns its ID. Does nothing while Home Assistant is offline. */
  send(command: { readonly type: string; readonly [key: string]: unknown }, handler: CommandHandler = {}): number {
    const id = this.#nextId++;
    if (!this.#isSignedIn) return id;
    this.#commands.set(id, handler);
    this.#write({ id, ...command });
    return id;
  }

  /** Ends a subscription. */
  unsubscribe(id: number): void {
    if (this.#commands.delete(id)) this.send({ type: 'unsubscribe_events', subscription: id });
  }

  #write(message: object): void {
    const bytes = Buffer.from(JSON.stringify(message));
    this.#options.context.wire('out', bytes);
    this.#link.send(bytes);
  }

  #opened(): void {
    const { settings, scheduler } = this.#options.context;
    this.#timers = new Subscription();
    this.#nextId = 1;
    this.#isRefused = false;
    this.#timers.add(
      scheduler.schedule(() => {
        if (!this.#isSignedIn) this.#link.fail(`the hub could not sign in within ${settings.connectTimeout / 1000} s`);
      }, settings.connectTimeout),
    );
    this.#keepAlive();
  }

  #keepAlive(): void {
    const { settings, scheduler } = this.#options.context;
    const next = scheduler.schedule(() => {
      this.#timers.remove(next);
      if (this.#isSignedIn) this.send({ type: 'ping' });
      this.#keepAlive();
    }, settings.idleTimeout / 3);
    this.#timers.add(next);
  }

  #ended(reason: string): number {
    const isRefused = this.#isRefused;
    this.#drop();
    this.#options.away(reason);
    return isRefused ? refusedPauseMs : 0;
  }

  #drop(): void {
    this.#isSignedIn = false;
    this.#timers.unsubscribe();
    this.#commands.clear();
    this.#unread = [];
    this.#isPaused = false;
  }

  #received(bytes: Buffer): void {
    this.#unread.push(bytes);
    if (!this.#isPaused && this.#unread.length >= maxUnread) this.#pause(true);
    if (!this.#isReading) this.#read();
  }

  #pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#link.pause(isPaused);
  }

  #read(): void {
    this.#isReading = true;
    for (const bytes of this.#unread.splice(0, readPerRound)) {
      try {
        this.#take(bytes);
      } catch (error) {
        this.#link.fail(`internal error: ${messageOf(error)}`);
      }
    }
    if (this.#isPaused && this.#unread.length < maxUnread / 4) this.#pause(false);
    if (this.#unread.length === 0) this.#isReading = false;
    else setImmediate(() => this.#read());
  }

  #take(bytes: Buffer): void {
    const { context } = this.#options;
    let json: unknown;
    try {
      json = JSON.parse(bytes.toString());
    } catch {
      this.#refuse(bytes, 'expected JSON');
      return;
    }
    // several messages may be coalesced into one; their values belong together
    const messages: readonly unknown[] = Array.isArray(json) ? json : [json];
    if (!messages.every((one) => isJsonObject(one) && typeof one.type === 'string')) {
      this.#refuse(bytes, 'expected an object with a type');
      return;
    }
    context.wire('in', bytes);
    this.#link.hear();
    for (const message of messages as readonly Record<string, unknown>[]) this.#handle(message);
    this.#options.taken();
  }

  #refuse(bytes: Buffer, reason: string): void {
    this.#options.context.wire('in', bytes, reason);
    this.#options.context.log.warn({}, `rejected a message: ${reason}`);
  }

  #handle(message: Readonly<Record<string, unknown>>): void {
    const { settings } = this.#options.context;
    const { type, id } = message;
    if (type === 'auth_required' && !this.#isSignedIn) this.#write({ type: 'auth', access_token: settings.token });
    else if (type === 'auth_ok' && !this.#isSignedIn) {
      this.#isSignedIn = true;
      this.#options.signedIn();
    } else if (type === 'auth_invalid') {
      this.#isRefused = true;
      this.#link.fail(`Home Assistant refused the token: ${sentenceIn(message.message) ?? 'it gave no reason'}`);
    } else if (typeof id === 'number') this.#answered(id, message);
  }

  #answered(id: number, { type, success, result, error, event }: Readonly<Record<string, unknown>>): void {
    const handler = this.#commands.get(id);
    if (handler === undefined) return;
    if (type === 'event') {
      handler.event?.(event);
      return;
    }
    if (type !== 'result' && type !== 'pong') return;
    const isFailed = type === 'result' && success !== true;
    if (handler.event === undefined || isFailed) this.#commands.delete(id);
    if (isFailed) handler.done?.({ error: errorIn(error) });
    else handler.done?.({ result });
  }
}

function errorIn(error: unknown): { readonly code: string; readonly message: string } {
  const { code, message } = isJsonObject(error) ? error : {};
  return { code: String(code ?? 'unknown_error').slice(0, 100), message: sentenceIn(message) ?? 'it gave no reason' };
}

function sentenceIn(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  return text
    .slice(0, maxSentenceLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
}
