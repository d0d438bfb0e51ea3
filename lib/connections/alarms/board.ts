// The alarms of a running connection: their causes, acknowledgements and parameters.
import { type Subscriber, Subscription } from 'rxjs';
import { z } from 'zod';
import { addressShape, parameterIdMistake } from '../../model/address.ts';
import { record } from '../../model/record-schema.ts';
import type { Value } from '../../model/value.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { durationSetting, integerSetting } from '../setting.ts';

interface Alarm {
  readonly name: string;
  readonly settings: AlarmSettings;
  state: AlarmState;
  isReported: boolean;
  /** Whether the input has the value that causes the alarm; undefined if the input's value is unknown. */
  isMet: boolean | undefined;
  /** The time at which `isMet` last changed, in milliseconds on the connection's clock. */
  metAtMs: number;
  /** The timer for the delay before the alarm is raised. */
  rising: Subscription;
  /** The time until which the alarm is shelved, in milliseconds on the connection's clock; undefined if it is not shelved. */
  shelvedUntilMs: number | undefined;
  /** The timer that ends the shelving of the alarm. */
  shelf: Subscription;
}

export class AlarmBoard {
  readonly #context: ConnectionContext<AlarmsSettings>;
  readonly #subscriber: Subscriber<ConnectionEvent>;
  readonly #running = new Subscription();
  readonly #totals = new Totals();
  /** The alarms whose inputs have changed in the current turn. */
  readonly #changed = new Set<Alarm>();
  readonly #lookSoon: () => void;

  constructor(context: ConnectionContext<AlarmsSettings>, subscriber: Subscriber<ConnectionEvent>) {
    this.#context = context;
    this.#subscriber = subscriber;
    this.#lookSoon = context.atSettle(() => this.#lookAtChanged());
  }

  /** Starts to follow the inputs and the commands. Returns a subscription that stops doing so. */
  start(): Subscription {
    const { memory, settings } = this.#context;
    this.#subscriber.next({ state: 'running' });
    const every = Object.entries(settings.alarms).map(([name, one]) => this.#add(name, one));
    this.#receive(all, every);
    for (const name of memory?.recalled.keys() ?? [])
      if (!Object.hasOwn(settings.alarms, name)) memory!.changed(name, () => undefined);
    this.#lookSoon();
    this.#running.add(() => this.#leave(every));
    return this.#running;
  }

  #add(name: string, settings: AlarmSettings): Alarm {
    const { memory } = this.#context;
    const left = leftOf(this.#context.left, name, settings);
    const alarm: Alarm = {
      name,
      settings,
      state: 'normal',
      isReported: false,
      isMet: undefined,
      metAtMs: 0,
      rising: Subscription.EMPTY,
      shelvedUntilMs: undefined,
      shelf: Subscription.EMPTY,
    };
    this.#set(`${name}/priority`, settings.priority);
    this.#shelve(alarm, (left?.shelvedUntilMs ?? 0) - this.#context.scheduler.now());
    const state = left?.state ?? memory?.recalled.get(name);
    if (isKeptState(state)) this.#enter(alarm, state);
    if (isKeptState(state) || left?.isReported) this.#handle(alarm, 'none');
    this.#running.add(() => alarm.rising.unsubscribe());
    this.#running.add(() => alarm.shelf.unsubscribe());
    this.#receive(name, [alarm]);
    this.#running.add(this.#context.inbox(`${name}/shelve`).subscribe((ms) => this.#shelveInTurn(alarm, Number(ms))));
    this.#follow(alarm, left);
    return alarm;
  }

  /** Handles writes to a parameter that acknowledges alarms. */
  #receive(id: string, alarms: readonly Alarm[]): void {
    const acknowledged$ = this.#context.inbox(`${id}/ack`);
    this.#running.add(acknowledged$.subscribe(() => this.#handleAll(alarms, 'acknowledged')));
  }

  /** Starts to follow the cause of an alarm. If the previous connection has left an alarm with the same cause, its delay continues. */
  #follow(alarm: Alarm, left: LeftAlarm | undefined): void {
    const { input, lastChange, scheduler } = this.#context;
    const { name, settings } = alarm;
    const values = input(name).subscribe((value) => {
      const isMet = value === undefined ? undefined : value === settings.is;
      if (isMet === alarm.isMet) return;
      const isAsLeft =
        alarm.isMet === undefined && left?.isMet === isMet && left?.revision === lastChange(name)?.revision;
      alarm.isMet = isMet;
      alarm.metAtMs = isAsLeft ? left!.metAtMs : scheduler.now();
      this.#changed.add(alarm);
      this.#lookSoon();
    });
    this.#running.add(values);
  }

  #lookAtChanged(): void {
    if (this.#subscriber.closed) return;
    for (const alarm of this.#changed) this.#look(alarm);
    this.#changed.clear();
    this.#publishTotals();
  }

  /** Evaluates the cause of an alarm. The alarm keeps its state during the delay. */
  #look(alarm: Alarm): void {
    const { scheduler } = this.#context;
    alarm.rising.unsubscribe();
    if (alarm.isMet === undefined) return;
    const delay = alarm.metAtMs + alarm.settings.delay - scheduler.now();
    if (alarm.isMet && delay > 0 && !isActive(alarm.state))
      alarm.rising = scheduler.schedule(() => this.#handleAll([alarm], 'rises'), delay);
    if (!alarm.isMet) this.#handle(alarm, 'ends');
    else if (delay <= 0) this.#handle(alarm, 'rises');
    else if (!alarm.isReported) this.#handle(alarm, 'none');
  }

  #handleAll(alarms: readonly Alarm[], event: AlarmEvent): void {
    this.#context.turn(() => {
      for (const alarm of alarms) this.#handle(alarm, event);
      this.#publishTotals();
    });
  }

  #handle(alarm: Alarm, event: AlarmEvent): void {
    const state = stateAfter(alarm.state, event);
    if (state === alarm.state && (alarm.isReported || event === 'acknowledged')) return;
    if (state !== alarm.state) this.#enter(alarm, state);
    alarm.isReported = true;
    this.#report(alarm, event === 'acknowledged');
  }

  #shelveInTurn(alarm: Alarm, ms: number): void {
    this.#context.turn(() => {
      this.#shelve(alarm, ms);
      this.#publishTotals();
    });
  }

  /**
   * Excludes an alarm from the totals for `ms` milliseconds, or includes it again if `ms` is 0 or less. The state of the alarm is not
   * affected.
   */
  #shelve(alarm: Alarm, ms: number): void {
    const { scheduler } = this.#context;
    const lastsMs = Math.min(ms, longestShelfMs);
    const wasShelved = alarm.shelvedUntilMs !== undefined;
    const isShelved = lastsMs > 0;
    alarm.shelf.unsubscribe();
    alarm.shelvedUntilMs = isShelved ? scheduler.now() + lastsMs : undefined;
    if (isShelved) alarm.shelf = scheduler.schedule(() => this.#shelveInTurn(alarm, 0), lastsMs);
    if (isShelved !== wasShelved) this.#totals.shelve(alarm, isShelved);
    this.#set(`${alarm.name}/shelved`, isShelved);
  }

  #set(id: string, value: Value): void {
    this.#subscriber.next({ set: id, value });
  }

  #enter(alarm: Alarm, state: AlarmState): void {
    if (alarm.shelvedUntilMs === undefined) this.#totals.change(alarm, alarm.state, state);
    alarm.state = state;
    this.#context.memory?.changed(alarm.name, () => (state === 'normal' ? undefined : state));
  }

  #report({ name, state }: Alarm, isByHand: boolean): void {
    const because = isByHand ? {} : { because: this.#context.lastChange(name) };
    const set = (id: string, value: boolean | string) => this.#subscriber.next({ set: id, value, ...because });
    set(`${name}/state`, state);
    set(`${name}/active`, isActive(state));
    set(`${name}/acknowledged`, isAcknowledged(state));
    set(name, state !== 'normal');
  }

  #publishTotals(): void {
    for (const [id, value] of Object.entries(this.#totals.values())) this.#set(`${all}/${id}`, value);
  }

  /** Leaves the states of the alarms for the connection that replaces this connection. */
  #leave(every: readonly Alarm[]): void {
    const { lastChange, leave } = this.#context;
    const left = every.map((alarm): [string, LeftAlarm] => [
      alarm.name,
      { ...alarm, revision: lastChange(alarm.name)?.revision },
    ]);
    leave(new Map(left));
  }
}

// The settings of alarms

/** The number of the least urgent priority; 1 is the most urgent. */
const lowestPriority = 9;
const maxAlarms = 10_000;
/** The maximum time that an alarm can be shelved, in milliseconds: one day, so that no alarm is forgotten for longer. */
export const longestShelfMs = 86_400_000;
/** The name under which the totals for all alarms are published. */
export const all = 'all';

const alarm = z.strictObject(
  {
    when: z
      .string({ error: 'an address <Connection ID>/<Parameter ID>' })
      .meta({ pattern: addressShape })
      .describe('The parameter (B) whose value causes the alarm'),
    is: z.boolean().default(true).describe('The value that causes the alarm'),
    delay: durationSetting(0)
      .default(0)
      .describe('How long the parameter must keep this value before the alarm is raised'),
    priority: integerSetting(1, lowestPriority).default(3).describe('1 is the most urgent'),
    text: z.string().default('').describe('The text of the alarm; default: its name'),
  },
  { error: "an alarm such as { when: 'core/silent', delay: '10s' }" },
);

export const settingsSchema = z.strictObject({
  alarms: record(z.string().superRefine(checkName), alarm, { error: 'an object of alarms by name' })
    .refine((alarms) => Object.keys(alarms).length <= maxAlarms, {
      error: ({ input }) => `expected at most ${maxAlarms} alarms, got ${Object.keys(input as object).length}`,
    })
    .describe('The alarms by name'),
});

export type AlarmsSettings = z.output<typeof settingsSchema>;
type AlarmSettings = z.output<typeof alarm>;

function checkName(name: string, context: z.RefinementCtx): void {
  const isTaken = name === all || name.startsWith(`${all}/`);
  const message = isTaken
    ? `expected a name other than "${name}": ${all}/… is reserved for the totals`
    : parameterIdMistake(`${name}/acknowledged`);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}

// The states of an alarm, as in ISA-18.2: an alarm remains until its cause is over and an operator has acknowledged it.

/** The state of an alarm. `returned` means that the cause is over, but the alarm has not been acknowledged. */
type AlarmState = 'normal' | 'unacknowledged' | 'acknowledged' | 'returned';

/** An event that may change the state of an alarm. `none` changes nothing. */
type AlarmEvent = 'none' | 'rises' | 'ends' | 'acknowledged';

const next: Readonly<Record<AlarmState, Partial<Record<AlarmEvent, AlarmState>>>> = {
  normal: { rises: 'unacknowledged' },
  unacknowledged: { ends: 'returned', acknowledged: 'acknowledged' },
  acknowledged: { ends: 'normal' },
  returned: { rises: 'unacknowledged', acknowledged: 'normal' },
};

/** Returns the state of an alarm after an event. In many states, an event changes nothing. */
function stateAfter(state: AlarmState, event: AlarmEvent): AlarmState {
  return next[state][event] ?? state;
}

function isActive(state: AlarmState): boolean {
  return state === 'unacknowledged' || state === 'acknowledged';
}

function isAcknowledged(state: AlarmState): boolean {
  return state === 'normal' || state === 'acknowledged';
}

/** Returns whether the data is a valid alarm state other than `normal`. */
function isKeptState(data: unknown): data is AlarmState {
  return typeof data === 'string' && data !== 'normal' && Object.hasOwn(next, data);
}

// The states that alarms leave when a reload changes the settings of their connection. Alarms with the same cause continue from these
// states.

/** The state that an alarm has left behind. */
interface LeftAlarm
  extends Readonly<Pick<Alarm, 'settings' | 'state' | 'isReported' | 'isMet' | 'metAtMs' | 'shelvedUntilMs'>> {
  /** The revision of the last change to the alarm's parameter; undefined if the parameter has not changed. */
  readonly revision: number | undefined;
}

/** Returns the state that an alarm with the same name and cause has left behind, or undefined if there is no such state. */
function leftOf(left: unknown, name: string, { when, is }: AlarmSettings): LeftAlarm | undefined {
  const alarm = left instanceof Map ? (left.get(name) as LeftAlarm | undefined) : undefined;
  return alarm?.settings.when === when && alarm.settings.is === is ? alarm : undefined;
}

// The totals of all alarms that are not shelved. The cost of updating the totals does not depend on the number of alarms.

interface CountedAlarm {
  readonly name: string;
  readonly settings: AlarmSettings;
}

class Totals {
  #shelved = 0;
  #active = 0;
  #unacknowledged = 0;
  /**
   * The alarms that are not `normal`. There is one set for each combination of priority and acknowledgement, most urgent first; within a
   * set, the alarms are in the order of their last change.
   */
  readonly #present = Array.from({ length: 2 * lowestPriority }, () => new Set<CountedAlarm>());

  change(alarm: CountedAlarm, before: AlarmState, after: AlarmState): void {
    this.#add(alarm, before, -1);
    this.#add(alarm, after, 1);
  }

  /** Removes an alarm from the totals, or adds it again. */
  shelve(alarm: CountedAlarm & Pick<Alarm, 'state'>, isShelved: boolean): void {
    this.#shelved += isShelved ? 1 : -1;
    this.#add(alarm, alarm.state, isShelved ? -1 : 1);
  }

  /** Returns the values of the totals, keyed by parameter name. */
  values(): Readonly<Record<string, Value>> {
    const [first] = this.#present.find(({ size }) => size > 0) ?? [];
    return {
      active: this.#active,
      unacknowledged: this.#unacknowledged,
      shelved: this.#shelved,
      priority: first?.settings.priority ?? 0,
      text: first === undefined ? '' : first.settings.text || first.name,
    };
  }

  #add(alarm: CountedAlarm, state: AlarmState, count: number): void {
    if (isActive(state)) this.#active += count;
    if (!isAcknowledged(state)) this.#unacknowledged += count;
    if (state === 'normal') return;
    const place = 2 * (alarm.settings.priority - 1) + (isAcknowledged(state) ? 1 : 0);
    if (count > 0) this.#present[place]!.add(alarm);
    else this.#present[place]!.delete(alarm);
  }
}
