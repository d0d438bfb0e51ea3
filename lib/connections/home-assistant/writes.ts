// Writes to entities: each parameter has at most one service action under way, while its newest value waits. A write is pending until the
// entity reports the value. Errors contain Home Assistant's own message.

import type { Subscription } from 'rxjs';
import { HubError } from '../../model/error.ts';
import type { About, Change, Parameter } from '../../model/parameter.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { checkWrite, type Part, type Reported } from './kinds.ts';
import type { Outcome } from './session.ts';
import { domainOf, type HomeAssistantSettings } from './settings.ts';

/** The maximum number of service actions in progress at the same time. Further actions wait, one per parameter. */
export const maxCalls = 64;
/** The maximum number of waiting presses of a trigger. */
export const maxPresses = 16;
/** How long the hub waits for a service action to end, in milliseconds. */
const longestCallMs = 30_000;
/** The number of unsent bytes beyond which no further service action is called. */
const maxQueuedBytes = 262_144;
/** How often the time for a confirmation starts again because the entity is still changing and reports other states. */
const confirmTimes = 12;

export interface Write {
  readonly value: Value;
  readonly change: Change | undefined;
}

/** A parameter of the hub that belongs to an entity, or that only calls a service action. */
export interface Live {
  readonly id: string;
  readonly type: ValueType;
  readonly name: string;
  part: Part;
  /** Whether the settings define the parameter. */
  readonly isStatic: boolean;
  readonly entity: LiveEntity | undefined;
  about: About;
  /** The declaration as text, for comparisons. */
  key: string;
  own: Parameter | undefined;
  writing: Subscription | undefined;
  /** The last event of a trigger. */
  lastFired: string | undefined;
  /** The writes that are waiting to be sent: the newest write, or the presses of a trigger. */
  waiting: Write[];
  /** The write whose service action is under way. */
  called: Write | undefined;
  /** The newest pending write. */
  wanted: Write | undefined;
  timer: Subscription | undefined;
  timesLeft: number;
}

export interface LiveEntity extends Reported {
  readonly id: string;
}

export interface WritesOptions {
  readonly context: ConnectionContext<HomeAssistantSettings>;
  emit(event: ConnectionEvent): void;
  /** Returns why a parameter currently cannot be written; undefined if it can be written. */
  whyNot(live: Live): string | undefined;
  isReady(): boolean;
  unsentBytes(): number;
  call(
    command: { readonly type: 'call_service'; readonly [key: string]: unknown },
    done: (outcome: Outcome) => void,
  ): void;
}

export class Writes {
  readonly #options: WritesOptions;
  readonly #flush: () => void;
  readonly #waiting = new Set<Live>();
  readonly #pending = new Set<Live>();
  /** The parameters whose service actions are under way, with their time limits. */
  readonly #called = new Map<Live, Subscription>();
  #later: Subscription | undefined;

  constructor(options: WritesOptions) {
    this.#options = options;
    this.#flush = options.context.atSettle(() => this.#send());
  }

  /** Ends all writes, because no command is sent again after the link has been lost. */
  drop(reason: string): void {
    this.#later?.unsubscribe();
    this.#later = undefined;
    for (const live of this.#waiting) live.waiting = [];
    this.#waiting.clear();
    for (const [live, limit] of this.#called) {
      limit.unsubscribe();
      live.called = undefined;
    }
    this.#called.clear();
    for (const live of [...this.#pending]) this.#settle(live, new HubError('unavailable', `${live.id}: ${reason}`));
  }

  /** Ends the writes to a parameter whose entity currently cannot take them. */
  end(live: Live, reason: string): void {
    if (this.#waiting.delete(live)) live.waiting = [];
    if (live.wanted !== undefined) this.#settle(live, new HubError('unavailable', `${live.id}: ${reason}`));
  }

  /** Takes writes from clients, rules and other connections to a parameter. */
  accept(live: Live): Subscription {
    const { context, whyNot } = this.#options;
    const accept = (input: unknown) => {
      const reason = whyNot(live);
      if (reason !== undefined) throw new HubError('unavailable', `${live.id}: ${reason}`);
      const value = convert(live.type, input);
      checkWrite(live.id, live.part, value, live.about);
      return value;
    };
    return context.inbox(live.id, accept).subscribe({
      next: (value) => this.#add(live, { value, change: context.cause() }),
      error: () => {}, // an inbox never fails
    });
  }

  #add(live: Live, write: Write): void {
    const { context, whyNot } = this.#options;
    const reason = whyNot(live);
    if (reason !== undefined) {
      context.log.warn({ parameter: live.id }, `not sent: ${reason}`, 'not sent'); // a trigger; other writes were refused earlier
      return;
    }
    if (live.type === 'T') {
      if (live.waiting.length >= maxPresses) {
        context.log.warn(
          { parameter: live.id },
          `more than ${maxPresses} presses are waiting; one was dropped`,
          'press dropped',
        );
        return;
      }
      live.waiting.push(write);
    } else live.waiting = [write];
    this.#waiting.add(live);
    if (isConfirmed(live)) {
      live.timer?.unsubscribe();
      live.timer = undefined;
      live.wanted = write;
      this.#pending.add(live);
    }
    this.#flush();
  }

  #send(): void {
    const { context, isReady, unsentBytes } = this.#options;
    if (!isReady()) return;
    for (const live of this.#waiting) {
      if (this.#called.size >= maxCalls) return;
      if (unsentBytes() > maxQueuedBytes) {
        this.#later ??= context.scheduler.schedule(() => {
          this.#later = undefined;
          this.#send();
        }, 20);
        return;
      }
      if (live.called !== undefined) continue; // sent when the action that is under way has ended
      const write = live.waiting.shift();
      if (live.waiting.length === 0) this.#waiting.delete(live);
      if (write !== undefined) this.#call(live, write);
    }
  }

  #call(live: Live, write: Write): void {
    const { entity, part } = live;
    const { service, data } = part.call!(write.value, entity ?? { state: '', attributes: {} });
    const [domain, action] = service.includes('.') ? service.split('.') : [domainOf(entity!.id), service];
    live.called = write;
    const command = {
      type: 'call_service',
      ...{ domain, service: action },
      ...(data !== undefined && { service_data: data }),
      ...(entity !== undefined && { target: { entity_id: entity.id } }),
    } as const;
    const limit = this.#options.context.scheduler.schedule(() => {
      const error = { code: 'timeout', message: `no answer within ${longestCallMs / 1000} s` };
      this.#ended(live, write, { error });
    }, longestCallMs);
    this.#called.set(live, limit);
    this.#options.call(command, (outcome) => this.#ended(live, write, outcome));
  }

  #ended(live: Live, write: Write, outcome: Outcome): void {
    if (live.called !== write) return; // the action was aborted
    live.called = undefined;
    this.#called.get(live)?.unsubscribe();
    this.#called.delete(live);
    const isNewest = live.wanted === write;
    if ('error' in outcome) {
      const reason = `Home Assistant reported: ${outcome.error.message}`; // Home Assistant's own message
      if (isNewest) this.#settle(live, new HubError('not-confirmed', `${live.id}: ${reason}`));
      else this.#options.context.log.warn({ parameter: live.id }, `${live.id}: ${reason}`, 'action failed');
    } else if (isNewest) {
      live.timesLeft = confirmTimes;
      this.#await(live);
      const { own } = live;
      if (own?.value !== undefined && this.#isSame(live, write.value, own.value)) this.report(live, own.value);
    }
    if (this.#waiting.size > 0) this.#send();
  }

  /** Waits for the report of a value whose service action has ended. */
  #await(live: Live): void {
    const { scheduler, settings } = this.#options.context;
    live.timer?.unsubscribe();
    live.timer = scheduler.schedule(() => {
      const seconds = settings.confirmTimeout / 1000;
      this.#settle(
        live,
        new HubError('not-confirmed', `${live.id}: Home Assistant has not reported the value within ${seconds} s`),
      );
    }, settings.confirmTimeout);
  }

  /** Called when an entity has reported a state. An entity that is still changing to a written value gets more time. */
  heard(live: Live): void {
    if (live.timer !== undefined && live.wanted !== undefined && live.timesLeft-- > 0) this.#await(live);
  }

  /** Reports a value of an entity, which either confirms a write or is a change. */
  report(live: Live, value: Value, isRestored = false): void {
    const { emit } = this.#options;
    const { id, own, wanted, called } = live;
    if (wanted !== undefined && this.#isSame(live, wanted.value, value)) {
      this.#endWanted(live);
      emit({ set: id, own, value, because: wanted.change });
    } else if (own?.value === value) return;
    else if (called !== undefined && this.#isSame(live, called.value, value))
      emit({ set: id, own, value, because: called.change });
    else emit({ set: id, own, value, ...(isRestored && { isRestored }) });
  }

  /** Returns whether a reported value is the written value. Entities round numbers to their steps. */
  #isSame({ about: { step = 0 } }: Live, written: Value, reported: Value): boolean {
    if (typeof written !== 'number' || typeof reported !== 'number') return written === reported;
    return Math.abs(written - reported) <= step / 2 || Math.fround(written) === Math.fround(reported);
  }

  #endWanted(live: Live): void {
    live.timer?.unsubscribe();
    live.timer = undefined;
    live.wanted = undefined;
    this.#pending.delete(live);
  }

  #settle(live: Live, error: HubError): void {
    this.#endWanted(live);
    this.#options.emit({ settle: live.id, error });
  }
}

/** Returns whether a write stays pending until the entity reports the value. */
export function isConfirmed({ type, part }: Pick<Live, 'type' | 'part'>): boolean {
  return type !== 'T' && part.call !== undefined && part.isWriteOnly !== true;
}
