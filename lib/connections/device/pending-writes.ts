// The writes to a device's parameters. A write is checked, waits to be sent, and is pending until the device confirms it (D-46). A newer
// write replaces a waiting write to the same parameter. After a link failure, a write is not sent again unless the description sets
// `replay`.

import { type SchedulerLike, Subscription } from 'rxjs';
import { HubError } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import { toText, type Value } from '../../model/value.ts';
import type { Log } from '../connection.ts';
import { acceptedValue, type Compiled, type Instance } from './compiled.ts';
import type { Outcome, RequestOptions } from './requests.ts';

export interface PendingWritesOptions {
  readonly connectionId: string;
  readonly compiled: Compiled;
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  /** Returns whether the device is online: its values are up to date, or it is answering the first questions. */
  isOnline(): boolean;
  /** Returns the values that messages may use, including the values in `more`. */
  scope(more: Iterable<readonly [string, Value]>): Map<string, Value>;
  /** Returns the number of the next request, which no earlier request has used. */
  nextId(): number;
  /** Queues a request to the device. */
  request(request: RequestOptions): void;
  /** Sets a value that the device does not report. The value counts as set as soon as it has been sent. */
  set(instance: Instance, value: Value): void;
  /** Applies a value from the answer to a write. */
  take(instance: Instance, reported: Value): void;
  /** Called when a write has ended without confirmation. */
  settle(id: string, error: HubError): void;
  /** Asks about a group, or about the parameter itself, after a write. */
  askAgain(name: string, instance: Instance): void;
}

/** A write that the device has not confirmed yet. */
interface Wanted {
  readonly value: Value;
  readonly change: Change | undefined;
  timer: Subscription;
}

/** A write that is waiting to be sent and that a newer write replaces. */
interface QueuedWrite {
  readonly instance: Instance;
  value: Value;
  change: Change | undefined;
}

/** How long a write stays pending after the device has accepted it, in milliseconds. */
const confirmMs = 5000;
/** The maximum number of queued writes to triggers. */
const maxTriggers = 1024;

export class PendingWrites {
  readonly #options: PendingWritesOptions;
  readonly #compiled: Compiled;
  readonly #wanted = new Map<Instance, Wanted>();
  readonly #queued = new Map<Instance, QueuedWrite>();
  #triggers = 0;
  /** The writes that are sent again after a reconnect, by parameter. */
  readonly #replays = new Map<Instance, QueuedWrite>();

  constructor(options: PendingWritesOptions) {
    this.#options = options;
    this.#compiled = options.compiled;
  }

  /** Whether any write is waiting for its confirmation. */
  get isPending(): boolean {
    return this.#wanted.size > 0;
  }

  #addressOf({ id }: Instance): string {
    return `${this.#options.connectionId}/${id}`;
  }

  /**
   * Converts the input of a write to a value, provided that the device is online. Errors: `unavailable`, `out-of-range`, `not-convertible`.
   */
  accept(instance: Instance, input: unknown): Value {
    if (!this.#options.isOnline())
      throw new HubError('unavailable', `${this.#addressOf(instance)}: the device is offline`);
    return this.check(instance, input);
  }

  /** Converts the input of a write to a value, regardless of whether the device is online. Errors: `out-of-range`, `not-convertible`. */
  check(instance: Instance, input: unknown): Value {
    const value = acceptedValue(instance.family, input);
    const { write } = instance.family;
    if (typeof value === 'string') this.#expectNoEnd(value);
    if (write !== undefined) for (const text of this.#textsOf(instance, value, 0)) this.#checkText(text);
    return value;
  }

  /** Queues a value. It replaces a value for the same parameter that has not been sent yet. */
  write(instance: Instance, value: Value, change: Change | undefined): void {
    const { write, type, isRead, described } = instance.family;
    if (write === undefined) return;
    if (!this.#options.isOnline()) {
      if (type === 'T') this.#options.log.warn({}, `cannot send ${instance.id}: the device is offline`, 'not sent');
      this.#options.settle(
        instance.id,
        new HubError('unavailable', `${this.#addressOf(instance)}: the device is offline`),
      );
      return;
    }
    if (type !== 'T') this.#want(instance, value, change);
    const queued = type === 'T' ? undefined : this.#queued.get(instance);
    if (queued !== undefined) {
      queued.value = value;
      queued.change = change;
      return;
    }
    if (type === 'T' && this.#triggers >= maxTriggers) {
      this.#options.log.warn({}, `more than ${maxTriggers} triggers were waiting to be sent; one was dropped`);
      return;
    }
    const one: QueuedWrite = { instance, value, change };
    if (type === 'T') this.#triggers++;
    else this.#queued.set(instance, one);
    const sent: QueuedWrite[] = [];
    const known = new Map(write.batch === undefined ? instance.values : []);
    this.#options.request({
      ...write,
      name: `write of ${instance.id}`,
      known,
      takesAny: false,
      write: () => {
        if (sent.length === 0) this.#takeQueued(one, sent);
        return this.#written(sent, known);
      },
      done: (outcome, isLate) => {
        if (isLate) return;
        if (sent.length === 0) this.#takeQueued(one, sent);
        for (const each of sent) this.#answered(each, outcome, isRead && described.optimistic !== true);
      },
    });
  }

  /** Moves a write from the queue to `sent`, together with queued writes that fit into the same batch. */
  #takeQueued(one: QueuedWrite, sent: QueuedWrite[]): void {
    const { family } = one.instance;
    if (family.type === 'T') this.#triggers--;
    if (!this.#queued.has(one.instance) && family.type !== 'T') return; // an earlier frame contained this write
    sent.push(one);
    this.#queued.delete(one.instance);
    const most = family.write?.batch?.most ?? 1;
    for (const [instance, queued] of this.#queued) {
      if (sent.length >= most) return;
      if (instance.family !== family) continue;
      sent.push(queued);
      this.#queued.delete(instance);
    }
  }

  /** Formats the messages for writes. Errors: any error from `Matcher.format`. */
  #written(sent: readonly QueuedWrite[], known: Map<string, Value>): readonly string[] {
    const [first] = sent;
    if (first === undefined) return [];
    const id = this.#options.nextId();
    known.set('id', id);
    const texts = sent.map(({ instance, value }) => this.#textsOf(instance, value, id));
    const batch = first.instance.family.write?.batch;
    if (batch === undefined) return texts[0]!;
    return [batch.start + texts.map(([text]) => text).join(batch.join) + batch.end];
  }

  /** Formats the messages that set a parameter. Errors: `out-of-range`, `not-convertible`, any expression error. */
  #textsOf({ family, values }: Instance, value: Value, id: number): readonly string[] {
    const { send, value: compute } = family.write!;
    const all = this.#options.scope([...values, ['value', value], ['id', id]]);
    if (compute !== undefined) all.set('value', compute(all));
    return send.map((matcher) => matcher.format(all));
  }

  /**
   * Refuses a string that contains an end mark, because the device would take the rest of the string for a second command. Errors:
   * `out-of-range`.
   */
  #expectNoEnd(value: string): void {
    const { framing, format, encoding } = this.#compiled;
    if (format === 'json' || framing === undefined) return;
    const marks =
      framing.kind === 'end'
        ? [...framing.ends, ...(framing.isBlock ? [Buffer.from('\n'), Buffer.from('\r')] : [])]
        : framing.kind === 'enclosed' && framing.escapeByte === undefined
          ? [framing.start, framing.end]
          : [];
    const bytes = Buffer.from(value, encoding);
    // even a single control character from the end mark is refused, because a device may mistake it for the whole mark
    if (marks.some((mark) => [...mark].some((byte) => byte < 32 && bytes.includes(byte)) || bytes.includes(mark)))
      throw new HubError(
        'out-of-range',
        'expected a value that contains none of the characters that start or end a message',
      );
  }

  /** Refuses a message that is too long for a frame. Errors: `out-of-range`. */
  #checkText(text: string): void {
    const { encoding, maxFrameBytes } = this.#compiled;
    const bytes = Buffer.from(text, encoding);
    if (bytes.length > maxFrameBytes)
      throw new HubError('out-of-range', `expected a message of at most ${maxFrameBytes} bytes, got ${bytes.length}`);
    if (encoding === 'latin1' && /[^\0-\xff]/.test(text))
      throw new HubError('out-of-range', 'expected only Latin-1 characters');
  }

  #want(instance: Instance, value: Value, change: Change | undefined): void {
    this.#wanted.get(instance)?.timer.unsubscribe();
    this.#wanted.set(instance, { value, change, timer: new Subscription() });
  }

  /** Handles the outcome of the request that has sent a write. */
  #answered({ instance, value, change }: QueuedWrite, outcome: Outcome, isReported: boolean): void {
    const { id, family } = instance;
    const wanted = this.#wanted.get(instance);
    const isNewest = wanted !== undefined && wanted.change === change && wanted.value === value;
    if ('refused' in outcome) {
      this.#options.log.warn({ parameter: id }, `cannot set ${id}: ${outcome.refused}`, `cannot set ${family.name}`);
      if (isNewest)
        this.giveUp(
          instance,
          new HubError(
            this.#options.isOnline() ? 'not-confirmed' : 'unavailable',
            `${this.#addressOf(instance)}: ${outcome.refused}`,
          ),
        );
      return;
    }
    if (family.type === 'T' || 'isUnchanged' in outcome) {
      for (const name of family.write!.asksThen) this.#options.askAgain(name, instance);
      return;
    }
    const reported = outcome.found.get('value');
    if (!isReported) {
      if (isNewest) this.#options.set(instance, value);
    } else if (reported !== undefined) this.#options.take(instance, reported);
    for (const name of family.write!.asksThen) this.#options.askAgain(name, instance);
    const still = this.#wanted.get(instance);
    if (still === undefined || still !== wanted) return;
    still.timer.unsubscribe();
    still.timer = this.#options.scheduler.schedule(() => {
      if (this.#wanted.get(instance) === still)
        this.giveUp(
          instance,
          new HubError(
            'not-confirmed',
            `${this.#addressOf(instance)}: the device has not reported the value within ${confirmMs / 1000} s`,
          ),
        );
    }, confirmMs);
  }

  /** Ends a pending write to a parameter with an error, because it will not be confirmed. */
  giveUp(instance: Instance, error: HubError): void {
    this.#wanted.get(instance)?.timer.unsubscribe();
    if (this.#wanted.delete(instance)) this.#options.settle(instance.id, error);
  }

  /** Ends a pending write if this value confirms it. Returns the write's change, or undefined if the value confirms no write. */
  confirm(instance: Instance, value: Value): Change | undefined {
    const wanted = this.#wanted.size === 0 ? undefined : this.#wanted.get(instance);
    if (wanted === undefined || !this.#isSame(instance, wanted.value, value)) return undefined;
    wanted.timer.unsubscribe();
    this.#wanted.delete(instance);
    return wanted.change;
  }

  /**
   * Returns whether a reported value confirms a written value. Numbers are equal if the messages that set them are equal, because a device
   * may round them.
   */
  #isSame(instance: Instance, written: Value, reported: Value): boolean {
    if (toText(written) === toText(reported)) return true;
    if (typeof written !== 'number' || typeof reported !== 'number') return false;
    try {
      return this.#textsOf(instance, written, 0).join('\n') === this.#textsOf(instance, reported, 0).join('\n');
    } catch {
      return false;
    }
  }

  /** Empties the queue after a link failure. The writes to send again after a reconnect are kept. */
  clearQueue(): void {
    for (const one of this.#queued.values())
      if (one.instance.family.write?.replays === true) this.#replays.set(one.instance, one);
    this.#queued.clear();
  }

  /** Ends all pending writes, because the device is offline. */
  giveUpAll(reason: string): void {
    this.#triggers = 0;
    for (const instance of [...this.#wanted.keys()])
      this.giveUp(
        instance,
        new HubError('unavailable', `${this.#addressOf(instance)}: the device is offline: ${reason}`),
      );
  }

  /** Queues the writes to send again after a link failure. */
  replay(): void {
    const replays = [...this.#replays.values()];
    this.#replays.clear();
    for (const { instance, value, change } of replays) this.write(instance, value, change);
  }

  stop(): void {
    for (const { timer } of this.#wanted.values()) timer.unsubscribe();
  }
}
