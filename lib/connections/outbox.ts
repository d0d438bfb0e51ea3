// Outgoing messages, such as webhooks and mails. Each target has a bounded queue, whose messages are sent in order. Failed attempts are
// repeated, a target that is offline never delays other targets, and parameters show what has become of the messages.

import { randomUUID } from 'node:crypto';
import type { SchedulerLike, Subscription } from 'rxjs';
import { z } from 'zod';
import type { Link, Transport } from '../device/transport.ts';
import { counted } from '../model/digits.ts';
import { messageOf } from '../model/error.ts';
import type { ParameterDeclaration } from '../model/parameter.ts';
import { Backoff, longestRecentPauseMs, recentMs } from '../model/time/backoff.ts';
import type { ValueType } from '../model/value.ts';
import type { ConnectionContext, ConnectionEvent, WrittenMessage } from './connection.ts';
import type { MessageTotals } from './hub-port.ts';

/** The maximum number of messages and the maximum number of bytes in the queue for a target. */
export const maxQueued = 1000;
export const maxQueuedBytes = 1_048_576;
/** The maximum pause that a target may request with `Retry-After`, in milliseconds. */
export const maxPauseMs = 3_600_000;
const backoffTimes = { firstMs: 1000, longestMs: 60_000 };

/** A message in the queue for a target. */
export interface Message {
  /** The ID of the message. It is the same for all attempts, so that the receiver can recognize repetitions. */
  readonly id: string;
  /** The name of the message in the settings. */
  readonly name: string;
  readonly content: string;
  /** The time at which the message was created, in milliseconds since 1970. */
  readonly createdMs: number;
}

/** The outcome of an attempt to send a message. */
export type Outcome =
  | { readonly is: 'delivered' }
  /** The target has refused the message permanently. */
  | { readonly is: 'refused'; readonly reason: string }
  /**
   * The message must be sent again after at least `afterMs` milliseconds. If `content` is set, only this part is sent again. `isUnreached`
   * means that the target has not answered at all.
   */
  | {
      readonly is: 'later';
      readonly reason: string;
      readonly afterMs?: number | undefined;
      readonly content?: string;
      readonly isUnreached?: boolean;
    };

/**
 * A function that starts an attempt to send a message and calls `done` once with the outcome. It returns a function that cancels the
 * attempt without calling `done`.
 */
export type Send = (message: Message, done: (outcome: Outcome) => void) => () => void;

/** An attempt to send a message, with a time limit. */
export interface BoundedAttempt {
  readonly scheduler: SchedulerLike;
  readonly limitMs: number;
  /** The reason in the outcome if the time limit is reached. */
  readonly late: string;
  /** Starts the attempt. Returns a function that aborts it. Only the first call of `end` has an effect. */
  begin(end: (outcome: Outcome) => void, hasEnded: () => boolean): () => void;
}

/**
 * Starts an attempt and calls `done` exactly once, no later than at the time limit. Returns a function that cancels the attempt without
 * calling `done`.
 */
export function attempt(
  { scheduler, limitMs, late, begin }: BoundedAttempt,
  done: (outcome: Outcome) => void,
): () => void {
  let hasEnded = false;
  const end = (outcome: Outcome) => {
    if (hasEnded) return;
    hasEnded = true;
    limit.unsubscribe();
    done(outcome);
  };
  const limit = scheduler.schedule(() => {
    end({ is: 'later', reason: late, isUnreached: true });
    abort();
  }, limitMs);
  const abort = begin(end, () => hasEnded);
  return () => {
    hasEnded = true;
    limit.unsubscribe();
    abort();
  };
}

/** The counts for a message in the settings, which are published as parameters. */
interface Counts {
  delivered: number;
  failed: number;
  dropped: number;
  pending: number;
}
const countNames = ['delivered', 'failed', 'dropped', 'pending'] as const;
const countDescriptions = {
  delivered: 'The number of messages that the target has accepted',
  failed: 'The number of messages that the target refused or the hub gave up on',
  dropped: 'The number of messages that did not fit into the queue',
  pending: 'The number of waiting messages',
};

/** Returns the declarations of a message's parameters: a parameter that sends the message, and several parameters that show the outcome. */
export function messageParameters(name: string, type: ValueType, description: string): ParameterDeclaration[] {
  return [
    { id: name, type, access: 'write-only', about: { description } },
    ...countNames.map((count) => ({
      id: `${name}/${count}`,
      type: 'I' as const,
      access: 'read-only' as const,
      defaultValue: 0,
      about: { description: countDescriptions[count] },
    })),
    {
      id: `${name}/online`,
      type: 'B',
      access: 'read-only',
      about: { description: 'Whether the last attempt reached the target; unknown before the first attempt' },
    },
  ];
}

interface Waiting extends Message {
  readonly number: number;
  content: string;
  readonly bytes: number;
  /** The time at which the outbox gives up on the message, in milliseconds on the connection's clock. */
  readonly endsAtMs: number;
}

/** The form in which a message is stored and passed to the connection's next run. */
const keptMessage = z.strictObject({
  id: z.string(),
  name: z.string(),
  content: z.string(),
  createdMs: z.number(),
  leftMs: z.number(),
});
type KeptMessage = z.output<typeof keptMessage>;

export interface Target {
  /** The key of the queue. Messages to targets with the same key are sent one after another. */
  readonly key: string;
  /** The name of the target in messages to operators. It contains no secrets. */
  readonly name: string;
}

export interface OutboxOptions {
  readonly context: Pick<ConnectionContext<unknown>, 'scheduler' | 'timeOfDay' | 'memory' | 'log' | 'own'>;
  /** The target of each message, keyed by the message's name in the settings. */
  readonly targets: ReadonlyMap<string, Target>;
  /** The state that `stop` returned in the previous run. */
  readonly left: unknown;
  /** The time after which the outbox gives up on a message, in milliseconds. */
  readonly giveUpMs: number;
  readonly send: Send;
  /**
   * Checks whether the target can be reached. Called at startup and after a failure while no message is waiting. If `probe` is omitted,
   * only attempts to send messages show whether the target can be reached.
   */
  readonly probe?: (done: (outcome: Outcome) => void) => () => void;
  emit(event: ConnectionEvent): void;
  /** Returns a random number from 0 to 1. */
  random?(): number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lines = new Map<string, Line>();
  readonly #counts = new Map<string, Counts>();
  readonly #online = new Map<string, boolean>();
  readonly #changed = new Set<string>();
  #publishing: Subscription | undefined;
  #number = 0;
  /** Whether the initial counts have been published. Counts that have not changed since the previous run are omitted from them. */
  #isLive = false;
  #fault: string | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    const { context, targets } = options;
    for (const [name, target] of targets) {
      const before = (count: string) => Number(context.own(`${name}/${count}`)?.value ?? 0);
      this.#counts.set(name, {
        delivered: before('delivered'),
        failed: before('failed'),
        dropped: before('dropped'),
        pending: 0,
      });
      if (!this.#lines.has(target.key))
        this.#lines.set(target.key, new Line(target.name, options, (report) => this.#report(report)));
      this.#lines.get(target.key)!.names.push(name);
      this.#changed.add(name);
    }
  }

  /** Starts sending. Messages that an earlier run has left behind are sent first. */
  start(): void {
    const { left, context } = this.#options;
    const { memory } = context;
    const recalled = [...(memory?.recalled ?? [])].filter(([name]) => name.startsWith(memoryPrefix));
    recalled.sort(([one], [other]) => numberOf(one) - numberOf(other));
    for (const [name] of recalled) memory!.changed(name, () => undefined);
    this.#number = recalled.reduce((most, [name]) => Math.max(most, numberOf(name)), 0);
    for (const kept of [...leftMessages(left), ...recalled.map(([, message]) => message)]) this.#recall(kept);
    if (this.#options.probe === undefined) this.#showState();
    this.#publish();
    for (const line of this.#lines.values()) line.advance();
  }

  add(name: string, content: string): void {
    const { context, giveUpMs } = this.#options;
    this.#put({ id: randomUUID(), name, content, createdMs: context.timeOfDay(), leftMs: giveUpMs });
    this.#lineOf(name).advance();
  }

  /** Counts a message that could not be created. */
  fail(name: string, reason: string): void {
    this.#counts.get(name)!.failed++;
    this.#options.context.log.warn({}, `cannot send ${name}: ${reason}`, `cannot send ${name}`);
    this.#touch(name);
  }

  get totals(): MessageTotals {
    const sum = { delivered: 0, failed: 0, dropped: 0, pending: 0 };
    for (const counts of this.#counts.values()) for (const count of countNames) sum[count] += counts[count];
    return sum;
  }

  /** Cancels the current attempts and returns the waiting messages for the connection's next run. */
  stop(): readonly unknown[] {
    this.#publishing?.unsubscribe();
    const left: KeptMessage[] = [];
    for (const line of this.#lines.values()) {
      line.stop();
      for (const message of line.messages) left.push(this.#keep(message));
    }
    return left;
  }

  #lineOf(name: string): Line {
    return this.#lines.get(this.#options.targets.get(name)!.key)!;
  }

  #recall(kept: unknown): void {
    const { targets, context, giveUpMs } = this.#options;
    const { data } = keptMessage.safeParse(kept);
    if (data === undefined || !targets.has(data.name)) {
      context.log.warn({}, 'dropped a message from an earlier run: the settings no longer define it');
      return;
    }
    this.#put({ ...data, leftMs: Math.min(Math.max(data.leftMs, 0), giveUpMs) });
  }

  #put({ leftMs, ...message }: KeptMessage): void {
    const { context } = this.#options;
    const { name, content } = message;
    const line = this.#lineOf(name);
    const bytes = Buffer.byteLength(content);
    const waiting: Waiting = {
      ...message,
      number: ++this.#number,
      bytes,
      endsAtMs: context.scheduler.now() + leftMs,
    };
    for (const one of line.makeRoom(bytes)) this.#drop(one);
    if (!line.hasRoomFor(bytes)) {
      this.#counts.get(name)!.dropped++;
      this.#touch(name);
      return;
    }
    line.push(waiting);
    this.#counts.get(name)!.pending++;
    this.#remember(waiting);
    this.#touch(name);
  }

  #drop(message: Waiting): void {
    const counts = this.#counts.get(message.name)!;
    counts.dropped++;
    counts.pending--;
    this.#options.context.log.warn(
      {},
      `${message.name}: more than ${maxQueued} messages or ${maxQueuedBytes / 1024} KiB were waiting for the target; the oldest was dropped`,
      `dropped ${message.name}`,
    );
    this.#forget(message);
    this.#touch(message.name);
  }

  #keep({ id, name, content, createdMs, endsAtMs }: Waiting): KeptMessage {
    return { id, name, content, createdMs, leftMs: endsAtMs - this.#options.context.scheduler.now() };
  }

  #remember(message: Waiting): void {
    this.#options.context.memory?.changed(memoryName(message), () => this.#keep(message));
  }

  #forget(message: Waiting): void {
    this.#options.context.memory?.changed(memoryName(message), () => undefined);
  }

  #report(report: Report): void {
    const { line, message, outcome } = report;
    if (message !== undefined) this.#count({ ...report, message });
    for (const name of line.names) {
      this.#showOnline(name, outcome.is !== 'later');
      this.#touch(name);
    }
    if (line.fault !== line.shownFault || this.#fault === undefined) this.#showState();
  }

  /** Reports whether a target is online. This is reported before the connection's state changes as a result, except at startup. */
  #showOnline(name: string, isOnline: boolean): void {
    if (this.#online.get(name) === isOnline) return;
    this.#online.set(name, isOnline);
    if (this.#fault === undefined) this.#showState();
    this.#options.emit({ set: `${name}/online`, value: isOnline });
  }

  #count({ message, outcome, isGivenUp }: Report & { readonly message: Waiting }): void {
    const { name } = message;
    const { log } = this.#options.context;
    const counts = this.#counts.get(name)!;
    if (outcome.is === 'later' && !isGivenUp) {
      log.info({}, `cannot send ${name} yet, will try again: ${outcome.reason}`, `again ${name}`);
      this.#remember(message);
      return;
    }
    counts.pending--;
    if (outcome.is === 'delivered') counts.delivered++;
    else {
      counts.failed++;
      log.warn({}, `${name}: ${isGivenUp ? 'given up' : 'refused'}: ${outcome.reason}`, `failed ${name}`);
    }
    this.#forget(message);
  }

  #showState(): void {
    const faults: string[] = [];
    for (const line of this.#lines.values()) {
      line.shownFault = line.fault;
      if (line.fault !== undefined) faults.push(line.fault);
    }
    const others = faults.length > 1 ? `; and ${counted(faults.length - 1, 'other target')}` : '';
    const fault = faults.length === 0 ? '' : `${faults[0]}${others}`;
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#options.emit(fault === '' ? { state: 'running' } : { state: 'degraded', reason: fault });
  }

  /** Schedules the publication of changed counts, so that many messages in one round of the event loop change each count only once. */
  #touch(name: string): void {
    this.#changed.add(name);
    this.#publishing ??= this.#options.context.scheduler.schedule(() => {
      this.#publishing = undefined;
      this.#publish();
    });
  }

  #publish(): void {
    const { emit, context } = this.#options;
    for (const name of this.#changed) {
      const counts = this.#counts.get(name)!;
      for (const count of countNames)
        if (counts[count] !== (context.own(`${name}/${count}`)?.value ?? 0) || this.#isLive)
          emit({ set: `${name}/${count}`, value: counts[count] });
    }
    this.#changed.clear();
    this.#isLive = true;
  }
}

/** The prefix of a message's name in the connection's memory, as in `message 17`. */
const memoryPrefix = 'message ';

function memoryName({ number }: Waiting): string {
  return memoryPrefix + number;
}

function numberOf(name: string): number {
  return Number(name.slice(memoryPrefix.length)) || 0;
}

function leftMessages(left: unknown): readonly unknown[] {
  return Array.isArray(left) ? left : [];
}

/** The result of an attempt to send the first message in a queue. If `message` is undefined, the attempt was a probe. */
interface Report {
  readonly line: Line;
  readonly message: Waiting | undefined;
  readonly outcome: Outcome;
  readonly isGivenUp: boolean;
}

/** The queue of messages to a single target, which are sent one at a time. */
class Line {
  /** The names of the messages in the settings that have this target. */
  readonly names: string[] = [];
  readonly messages: Waiting[] = [];
  /** The reason why the last attempt failed, as a sentence; undefined if it succeeded. */
  fault: string | undefined;
  /** The fault that the state of the connection currently shows. */
  shownFault: string | undefined;
  readonly #target: string;
  readonly #options: OutboxOptions;
  readonly #report: (report: Report) => void;
  readonly #backoff = new Backoff(backoffTimes);
  #bytes = 0;
  #cancel: (() => void) | undefined;
  #pause: Subscription | undefined;
  #isAdvancing = false;
  #isStopped = false;
  /** Whether the last attempt reached the target. */
  #isProved = false;
  /** The time at which an attempt last reached the target, and the time at which the last attempt began, in milliseconds. */
  #provedMs = Number.NEGATIVE_INFINITY;
  #triedMs = 0;

  constructor(target: string, options: OutboxOptions, report: (report: Report) => void) {
    this.#target = target;
    this.#options = options;
    this.#report = report;
  }

  hasRoomFor(bytes: number): boolean {
    return this.messages.length < maxQueued && this.#bytes + bytes <= maxQueuedBytes;
  }

  /**
   * Removes the oldest messages, but not a message that is being sent, until there is room for a message of `bytes` bytes. Returns the
   * removed messages.
   */
  makeRoom(bytes: number): readonly Waiting[] {
    const removed: Waiting[] = [];
    const first = this.#cancel === undefined ? 0 : 1;
    if (bytes > maxQueuedBytes) return removed;
    while (!this.hasRoomFor(bytes) && this.messages.length > first) {
      const [message] = this.messages.splice(first, 1);
      this.#bytes -= message!.bytes;
      removed.push(message!);
    }
    return removed;
  }

  push(message: Waiting): void {
    this.messages.push(message);
    this.#bytes += message.bytes;
  }

  /** Sends messages until an attempt needs time or fails, or until no messages are waiting. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (!this.#isStopped && this.#cancel === undefined && this.#pause === undefined && this.#isDue)
      this.#attempt(this.messages[0]);
    this.#isAdvancing = false;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#pause?.unsubscribe();
  }

  get #isDue(): boolean {
    return this.messages.length > 0 || (this.#options.probe !== undefined && !this.#isProved);
  }

  /** Sends a message. If `message` is undefined, checks whether the target can be reached. */
  #attempt(message: Waiting | undefined): void {
    const { send, probe, context } = this.#options;
    this.#triedMs = context.scheduler.now();
    let isDone = false;
    const done = (outcome: Outcome) => {
      if (isDone || this.#isStopped) return;
      isDone = true;
      this.#cancel = undefined;
      this.#end(message, outcome);
      this.advance();
    };
    try {
      const cancel = message === undefined ? probe!(done) : send(message, done);
      if (!isDone) this.#cancel = cancel;
    } catch (error) {
      done({ is: 'refused', reason: messageOf(error) }); // the data in the store may be invalid
    }
  }

  #end(message: Waiting | undefined, outcome: Outcome): void {
    const { scheduler } = this.#options.context;
    const isGivenUp = outcome.is === 'later' && message !== undefined && scheduler.now() >= message.endsAtMs;
    this.fault = outcome.is === 'delivered' ? undefined : `${this.#target}: ${outcome.reason}`;
    this.#isProved = outcome.is !== 'later';
    if (outcome.is === 'later') {
      // the rest is a part of the message, so the size remains an upper bound
      if (outcome.content !== undefined && message !== undefined) message.content = outcome.content;
      this.#wait(outcome);
    } else {
      this.#backoff.reset();
      this.#provedMs = scheduler.now();
    }
    if (message !== undefined && (outcome.is !== 'later' || isGivenUp)) {
      this.messages.shift();
      this.#bytes -= message.bytes;
    }
    this.#report({ line: this, message, outcome, isGivenUp });
  }

  /** Schedules the next attempt. If the target answered recently, the pause is short, because the target may soon be back. */
  #wait({ afterMs = 0, isUnreached = false }: Pick<Outcome & { is: 'later' }, 'afterMs' | 'isUnreached'>): void {
    const { context, random = Math.random } = this.#options;
    const now = context.scheduler.now();
    const isRecent = isUnreached && now - this.#provedMs < recentMs;
    const longestMs = isRecent ? longestRecentPauseMs(now - this.#triedMs) : Number.POSITIVE_INFINITY;
    const backoffMs = Math.min(this.#backoff.next(), longestMs) * (0.5 + random() / 2);
    const pauseMs = Math.max(Math.min(afterMs, maxPauseMs), backoffMs);
    this.#pause = context.scheduler.schedule(() => {
      this.#pause = undefined;
      this.advance();
    }, pauseMs);
  }
}

// In tests, the target is simulated: messages are sent to the test's transport.

/** Returns the text of a message in a test. Errors: `Error` with a readable message. */
export function textOf(written: WrittenMessage): string {
  if (typeof written === 'string') return written;
  if ('text' in written) return written.text;
  throw new Error('expected text, got { hex }');
}

/** The pause before the next attempt while a test's target is unreachable, in milliseconds. */
const playedAgainMs = 1000;

/** The link to a simulated target in a test. */
export class PlayedLink {
  readonly #transport: Transport;
  readonly #context: Pick<ConnectionContext<unknown>, 'scheduler' | 'wire'>;
  readonly #received: (bytes: Buffer) => void;
  #link: Link | undefined;
  #isOpen = false;
  #opening: Subscription | undefined;
  #waiting: (() => void) | undefined;

  constructor(
    transport: Transport,
    context: Pick<ConnectionContext<unknown>, 'scheduler' | 'wire'>,
    received: (bytes: Buffer) => void = () => {},
  ) {
    this.#transport = transport;
    this.#context = context;
    this.#received = received;
  }

  open(): void {
    this.#link = this.#transport.open({
      opened: () => {
        this.#isOpen = true;
        this.#waiting?.();
      },
      received: (bytes) => {
        const copy = Buffer.from(bytes);
        this.#context.wire('in', copy);
        this.#received(copy);
      },
      closed: () => {
        this.#isOpen = false;
        this.#link = undefined;
        this.#opening = this.#context.scheduler.schedule(() => this.open(), playedAgainMs);
      },
    });
  }

  /** Like `Send`. The message is delivered if the link is open. If the link has never been open, the message waits. */
  send(frame: Uint8Array, done: (outcome: Outcome) => void): () => void {
    const end = () => {
      this.#waiting = undefined;
      this.#context.wire('out', frame);
      done({ is: 'delivered' });
    };
    if (this.#isOpen) end();
    else if (this.#link === undefined) done({ is: 'later', reason: 'the test has ended the link' });
    else this.#waiting = end;
    return () => {
      this.#waiting = undefined;
    };
  }

  close(): void {
    this.#opening?.unsubscribe();
    this.#link?.end();
  }
}
