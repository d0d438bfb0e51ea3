// The subprotocol patchbay.v1 (D-27, lib/client/README.md): greeting, messages, and the end of those who do not
// read or make no sense.

import { randomUUID } from 'node:crypto';
import type { Parameter } from '../../../../model/parameter.ts';
import { type CloseCode, closeCodes, mayReturn } from '../../../../wire/close-codes.ts';
import { maxMessageBytes, maxPatterns, maxRate, maxRegexes, maxSubscriptions } from '../../../../wire/limits.ts';
import { protocolName } from '../../../../wire/protocol.ts';
import type { Hello } from '../../../../wire/v1/hub-messages.ts';
import { asHubError } from '../../input/fault-gate.ts';
import type { LimitHits } from '../../limits/limit-hits.ts';
import { limits } from '../../limits/limits.ts';
import type { Pace } from '../../pacing/pace.ts';
import type { Task, TaskQueue } from '../../pacing/work-queue.ts';
import type { Channel } from '../channel.ts';
import type { Protocol, ProtocolContext } from '../protocol.ts';
import type { Session, Socket } from '../session.ts';
import type { Interests, SessionStatus } from '../status.ts';
import { Client } from './client.ts';
import { encode } from './frames.ts';
import { Views } from './groups.ts';
import { type Receiver, type Rest, receive } from './handlers/handlers.ts';
import { StallWatch } from './stall-watch.ts';
import { interestsOf, statusOf } from './status.ts';
import { createSubscriptionReader } from './subscription.ts';

/** After so many messages in a row that made no sense a socket is closed. */
const maxMistakes = limits.mistakes.default;

interface V1Protocol extends Protocol {
  /** Tells of a parameter that is new. */
  declare(parameter: Parameter): void;
  /** Tells of a parameter that is no more. */
  forget(channel: Channel): void;
}

/** Serves clients that offer the subprotocol. */
export function serveV1({ hub, settings, log, hits, pace, tasks, fanOut, bound }: ProtocolContext): V1Protocol {
  const sessions = new Set<V1Session>();
  const giveUp = (client: Client) => {
    hits.add('stallMs', client.address);
    views.remove(client);
    stalls.delete(client);
    setImmediate(() => client.end(closeCodes.stalled, 'you did not read'));
  };
  const stalls = new StallWatch(settings.stallTimeout, giveUp);
  const views = new Views(hub, fanOut, giveUp);
  const readSubscription = createSubscriptionReader(bound, fanOut);
  const receiver = { hub, log, fanOut, views, readSubscription, epoch: randomUUID() };
  const shared = { receiver, hits, pace, tasks, sessions, stalls, hello: encode(helloOf(receiver)) };

  return {
    name: protocolName,
    subprotocol: protocolName,
    accept: (origin, address) => new V1Session(shared, new Client(origin, address, stalls)),
    declare: (parameter) => views.declare(fanOut.channelOf(parameter)),
    forget: (channel) => views.forget(channel),
    close() {
      for (const session of [...sessions]) session.end(closeCodes.goingAway, 'the hub stops');
    },
  };
}

interface Shared {
  readonly receiver: Receiver;
  readonly hits: LimitHits;
  readonly pace: Pace;
  readonly tasks: TaskQueue;
  readonly sessions: Set<V1Session>;
  readonly stalls: StallWatch;
  readonly hello: string;
}

class V1Session implements Session, Task {
  readonly #shared: Shared;
  readonly #client: Client;
  /** How many of its last messages made no sense, one after the other. */
  #mistakes = 0;
  /** What is left to do of its last message. */
  #rest: Rest | undefined = undefined;

  constructor(shared: Shared, client: Client) {
    this.#shared = shared;
    this.#client = client;
  }

  prepare(): boolean {
    return false;
  }

  open(socket: Socket): void {
    this.#client.socket = socket;
    this.#shared.sessions.add(this);
    this.#client.send(this.#shared.hello);
  }

  receive(message: ArrayBuffer, isBinary: boolean): void {
    this.#client.received++;
    try {
      this.#rest = receive(this.#shared.receiver, this.#client, message, isBinary);
    } catch (error) {
      this.#answerMistake(error, subscriptionOf(message));
      return;
    }
    if (this.#rest === undefined) this.#mistakes = 0;
    else this.#shared.tasks.do(this);
  }

  get isBusy(): boolean {
    return this.#rest !== undefined;
  }

  get address(): string {
    return this.#client.address;
  }

  /** Goes on with the message that takes long. */
  advance(endMs: number): boolean {
    if (this.#client.isClosed || this.#rest === undefined) return false;
    if (this.#goOn(this.#rest, endMs)) return true;
    this.#rest = undefined;
    this.#shared.pace.request(); // more may wait
    return false;
  }

  dropped(): void {}

  drained(): void {
    const { stalls, receiver } = this.#shared;
    if (!this.#client.isFull || !this.#client.hasDrained()) return;
    stalls.delete(this.#client);
    receiver.views.resume(this.#client);
  }

  close(): void {
    this.#shared.sessions.delete(this);
    this.#shared.stalls.delete(this.#client);
    this.#shared.tasks.remove(this);
    this.#shared.receiver.views.remove(this.#client);
    this.#client.isClosed = true;
  }

  status(nowMs: number): SessionStatus {
    return statusOf(this.#client, nowMs);
  }

  interests(): Interests {
    return interestsOf(this.#client);
  }

  #goOn(rest: Rest, endMs: number): boolean {
    try {
      if (rest.advance(endMs)) return true;
      this.#mistakes = 0;
    } catch (error) {
      this.#answerMistake(error, rest.sub);
    }
    return false;
  }

  #answerMistake(error: unknown, sub: number | undefined): void {
    const { receiver, hits } = this.#shared;
    hits.addError(error, this.#client.address);
    this.#client.send(encode({ error: asHubError(error, receiver.log).message, sub }));
    if (++this.#mistakes < maxMistakes) return;
    hits.add('mistakes', this.#client.address);
    this.#client.end(closeCodes.senseless, 'too many messages made no sense');
  }

  end(code: CloseCode, reason: string): void {
    this.#client.send(encode({ bye: { code, reason, retry: mayReturn(code) } }));
    this.#client.end(code, reason);
  }
}

function helloOf({ epoch, hub }: Receiver): Hello {
  const told = {
    messageBytes: maxMessageBytes,
    subscriptions: maxSubscriptions,
    patterns: maxPatterns,
    regexes: maxRegexes,
    rate: maxRate,
  };
  return { hello: { epoch, hub: `patchbay ${hub.version}`, limits: told } };
}

/** The number of the subscription that a message is about, for the answer to a mistake. */
function subscriptionOf(message: ArrayBuffer): number | undefined {
  if (message.byteLength > maxMessageBytes) return undefined;
  try {
    const { sub } = JSON.parse(Buffer.from(message).toString()) as { sub?: unknown };
    return typeof sub === 'number' ? sub : undefined;
  } catch {
    return undefined;
  }
}
