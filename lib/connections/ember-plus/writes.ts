// Writes to the parameters of a mirrored tree. Writes are merged until the end of the turn, then sent, and are pending until the provider
// reports the value.

import type { Subscription } from 'rxjs';
import { HubError } from '../../model/error.ts';
import type { Change } from '../../model/parameter.ts';
import { convert, type Value } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { type Entry, isReachable, isSameValue, type Live } from './elements.ts';
import { encodeCommand, encodeElements } from './encode.ts';
import { type Connection, commands } from './glow.ts';
import { type ParameterPoint, sourcesOf } from './points.ts';
import type { EmberPlusSettings } from './settings.ts';

/**
 * The time within which the provider must report a written value, in milliseconds. If the provider has confirmed other writes in the
 * meantime, the time starts again, up to `confirmTimes` times, because a provider may need long for thousands of writes.
 */
const confirmMs = 5000;
const confirmTimes = 6;
/** The maximum number of unsent bytes at which writes are sent. Above this number, the latest write to each parameter waits. */
const maxQueuedBytes = 262_144;
/** The maximum number of matrix connections in one message. */
const connectionsPerMessage = 256;
/** The maximum number of function invocations whose results the consumer waits for. */
const maxInvocations = 1024;

export interface WritesOptions {
  readonly context: ConnectionContext<EmberPlusSettings>;
  emit(event: ConnectionEvent): void;
  /** Returns whether the tree has been mirrored completely. */
  isReady(): boolean;
  send(packet: Uint8Array): void;
  unsentBytes(): number;
}

export class Writes {
  readonly #options: WritesOptions;
  readonly #flush: () => void;
  /** The subscriptions that refuse writes to expected parameters that the provider does not have, keyed by parameter ID. */
  readonly #absent = new Map<string, Subscription>();
  readonly #unsent = new Set<Live>();
  readonly #invocations = new Map<number, Live>();
  #invocation = 0;
  /** The time at which the provider last confirmed a write, in milliseconds. */
  #confirmedMs = Number.NEGATIVE_INFINITY;
  #later: Subscription | undefined;

  constructor(options: WritesOptions) {
    this.#options = options;
    this.#flush = options.context.atSettle(() => this.#sendWrites());
  }

  /** Discards all writes that have not been sent and forgets the invocations that are waiting for results. */
  drop(): void {
    this.#later?.unsubscribe();
    this.#later = undefined;
    for (const live of this.#unsent) live.unsent = undefined;
    this.#unsent.clear();
    this.#invocations.clear();
  }

  stop(): void {
    this.drop();
    for (const refusing of this.#absent.values()) refusing.unsubscribe();
  }

  /** Stops refusing writes to an expected parameter, because the provider now has it. */
  allow(id: string): void {
    this.#absent.get(id)?.unsubscribe();
    this.#absent.delete(id);
  }

  /** Refuses writes to an expected parameter while the provider does not have it. */
  refuse(id: string): void {
    const { context } = this.#options;
    const reason = `${id}: the provider currently does not have this parameter`;
    const refuse = () => {
      throw new HubError('unavailable', reason);
    };
    const warn = () => context.log.warn({ parameter: id }, `cannot send ${reason}`, 'not sent'); // a trigger
    this.#absent.get(id)?.unsubscribe();
    this.#absent.set(id, context.inbox(id, refuse).subscribe({ next: warn, error: () => {} }));
  }

  /** Handles a value that the provider reports: the value confirms a pending write, refuses it, or is a change. */
  report(live: Live, value: Value | undefined): void {
    const { emit } = this.#options;
    const { id, own, wanted, type } = live;
    if (type === 'T') {
      if (this.#options.isReady() && live.point.access === 'read-only') emit({ set: id, own, value: true });
    } else if (value === undefined) {
      if (own?.value !== undefined) emit({ unset: id });
    } else if (wanted === undefined) {
      if (own?.value !== value) emit({ set: id, own, value });
    } else if (isSameValue(wanted.value, value)) {
      this.#endWanted(live);
      this.#confirmedMs = this.#options.context.scheduler.now();
      emit({ set: id, own, value, because: wanted.change });
    } else if (live.unsent === undefined && wanted.before !== undefined && isSameValue(wanted.before, value))
      this.settle(
        live,
        new HubError('not-confirmed', `${id}: the provider refused the write: the value is still ${value}`),
      );
    else emit({ set: id, own, value });
  }

  /** Accepts writes to a parameter from clients and rules, and returns the subscription that ends when the parameter is removed. */
  accept(live: Live): Subscription {
    const { context } = this.#options;
    const accept = (input: unknown) => {
      this.#expectOnline(live);
      return convert(live.type, live.point.accept(input));
    };
    return context.inbox(live.id, accept).subscribe({
      next: (value) => this.#write(live, value, context.cause()),
      error: () => {}, // an inbox never fails
    });
  }

  #expectOnline({ id, entry }: Live): void {
    if (!this.#options.isReady()) throw new HubError('unavailable', `${id}: the provider is offline`);
    if (!entry.isOnline || (entry.device !== undefined && !isReachable(entry.device)))
      throw new HubError('unavailable', `${id}: the provider reports this parameter as offline`);
  }

  #write(live: Live, value: Value, change: Change | undefined): void {
    const { scheduler, log } = this.#options.context;
    const { id, type, point, own } = live;
    if (!this.#options.isReady()) {
      log.warn({ parameter: id }, `cannot send ${id}: the provider is offline`);
      return;
    }
    live.unsent = value;
    this.#unsent.add(live);
    if (type !== 'T' && point.access === 'read-write') {
      live.timer?.unsubscribe();
      live.wanted = { value, before: own?.value, change };
      this.#await(live, scheduler.now(), 1);
    }
    this.#flush();
  }

  #await(live: Live, fromMs: number, times: number): void {
    const { scheduler } = this.#options.context;
    live.timer = scheduler.schedule(() => {
      if (this.#confirmedMs > fromMs && times < confirmTimes) this.#await(live, scheduler.now(), times + 1);
      else {
        const limit = `within ${(times * confirmMs) / 1000} s`;
        this.settle(
          live,
          new HubError('not-confirmed', `${live.id}: the provider has not reported the value ${limit}`),
        );
      }
    }, confirmMs);
  }

  #sendWrites(): void {
    const connections = new Map<Entry, Connection[]>();
    for (const live of this.#unsent) {
      if (this.#options.unsentBytes() > maxQueuedBytes) {
        this.#later ??= this.#options.context.scheduler.schedule(() => {
          this.#later = undefined;
          this.#sendWrites();
        }, 20);
        break;
      }
      this.#unsent.delete(live);
      const { unsent: value, entry, target } = live;
      live.unsent = undefined;
      if (value === undefined || !live.isThere) continue;
      if (entry.kind === 'function') this.#invoke(live);
      else if (target === undefined) {
        const { type, write } = live.point as ParameterPoint;
        const contents = { value: write(convert(type, value)) };
        this.#options.send(encodeElements([{ kind: 'parameter', at: entry.path, contents }]));
      } else {
        const list = connections.get(entry) ?? [];
        connections.set(entry, list);
        list.push({ target, sources: sourcesOf(convert(live.point.type, value)), operation: 0 });
        if (list.length >= connectionsPerMessage) this.#connect(entry, list.splice(0));
      }
    }
    for (const [entry, list] of connections) if (list.length > 0) this.#connect(entry, list);
  }

  #connect(entry: Entry, connections: readonly Connection[]): void {
    this.#options.send(encodeElements([{ kind: 'matrix', at: entry.path, connections }]));
  }

  #invoke(live: Live): void {
    this.#invocation = (this.#invocation % 0x7fff_ffff) + 1;
    const invocation = { id: this.#invocation, args: [] };
    const [oldest] = this.#invocations.keys();
    if (this.#invocations.size >= maxInvocations) this.#invocations.delete(oldest!);
    this.#invocations.set(invocation.id, live);
    this.#options.send(encodeCommand({ path: live.entry.path, number: commands.invoke, invocation }, 'function'));
  }

  /** Logs that the function of an invocation has failed. */
  failed(invocation: number): void {
    const live = this.#invocations.get(invocation);
    this.#invocations.delete(invocation);
    if (live !== undefined)
      this.#options.context.log.warn({ parameter: live.id }, 'the provider reports that the function has failed');
  }

  #endWanted(live: Live): void {
    live.timer?.unsubscribe();
    live.wanted = undefined;
  }

  /** Ends a pending write with an error. */
  settle(live: Live, error: HubError): void {
    this.#endWanted(live);
    live.unsent = undefined;
    this.#options.emit({ settle: live.id, error });
  }
}
