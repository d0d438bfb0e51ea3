// All alarms of a connection at work: what makes each of them rise and end, who acknowledges it, and what is told of it.

import { type Subscriber, Subscription } from 'rxjs';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { type LeftAlarm, leftOf } from './left.ts';
import { type AlarmSettings, type AlarmsSettings, all } from './settings.ts';
import { type AlarmEvent, type AlarmState, isAcknowledged, isActive, isKeptState, stateAfter } from './states.ts';
import { Totals } from './totals.ts';

interface Alarm {
  readonly name: string;
  readonly settings: AlarmSettings;
  state: AlarmState;
  isTold: boolean;
  /** Whether the parameter has the value that makes the alarm; undefined: it is unknown. */
  isMet: boolean | undefined;
  /** Since when, on the clock of the connection. */
  metAtMs: number;
  /** What ends the delay. */
  rising: Subscription;
}

export class AlarmBoard {
  readonly #context: ConnectionContext<AlarmsSettings>;
  readonly #subscriber: Subscriber<ConnectionEvent>;
  readonly #running = new Subscription();
  readonly #totals = new Totals();
  /** Alarms whose parameters have changed in this turn. */
  readonly #changed = new Set<Alarm>();
  readonly #lookSoon: () => void;

  constructor(context: ConnectionContext<AlarmsSettings>, subscriber: Subscriber<ConnectionEvent>) {
    this.#context = context;
    this.#subscriber = subscriber;
    this.#lookSoon = context.atSettle(() => this.#lookAtChanged());
  }

  /** Follows the parameters; returns what ends that. */
  start(): Subscription {
    const { memory, settings } = this.#context;
    this.#subscriber.next({ state: 'running' });
    const every = Object.entries(settings.alarms).map(([name, one]) => this.#add(name, one));
    this.#hear(all, every);
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
      isTold: false,
      isMet: undefined,
      metAtMs: 0,
      rising: Subscription.EMPTY,
    };
    const state = left?.state ?? memory?.recalled.get(name);
    if (isKeptState(state)) this.#enter(alarm, state);
    if (isKeptState(state) || left?.isTold) this.#handle(alarm, 'none');
    this.#running.add(() => alarm.rising.unsubscribe());
    this.#hear(name, [alarm]);
    this.#follow(alarm, left);
    return alarm;
  }

  /** Hears that some alarms are acknowledged. */
  #hear(id: string, alarms: readonly Alarm[]): void {
    const acknowledged$ = this.#context.inbox(`${id}/ack`);
    this.#running.add(acknowledged$.subscribe(() => this.#handleAll(alarms, 'acknowledged')));
  }

  /** Follows the parameter of an alarm. One that has changed nothing since the connection was left goes on with its delay. */
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
    this.#tellTotals();
  }

  /** Looks at a value that has changed; an alarm that has a delay is what it was until then. */
  #look(alarm: Alarm): void {
    const { scheduler } = this.#context;
    alarm.rising.unsubscribe();
    if (alarm.isMet === undefined) return;
    const delay = alarm.metAtMs + alarm.settings.delay - scheduler.now();
    if (alarm.isMet && delay > 0 && !isActive(alarm.state))
      alarm.rising = scheduler.schedule(() => this.#handleAll([alarm], 'rises'), delay);
    if (!alarm.isMet) this.#handle(alarm, 'ends');
    else if (delay <= 0) this.#handle(alarm, 'rises');
    else if (!alarm.isTold) this.#handle(alarm, 'none');
  }

  #handleAll(alarms: readonly Alarm[], event: AlarmEvent): void {
    this.#context.turn(() => {
      for (const alarm of alarms) this.#handle(alarm, event);
      this.#tellTotals();
    });
  }

  #handle(alarm: Alarm, event: AlarmEvent): void {
    const state = stateAfter(alarm.state, event);
    if (state === alarm.state && (alarm.isTold || event === 'acknowledged')) return;
    if (state !== alarm.state) this.#enter(alarm, state);
    alarm.isTold = true;
    this.#tell(alarm, event === 'acknowledged');
  }

  #enter(alarm: Alarm, state: AlarmState): void {
    this.#totals.change(alarm, alarm.state, state);
    alarm.state = state;
    this.#context.memory?.changed(alarm.name, () => (state === 'normal' ? undefined : state));
  }

  #tell({ name, state }: Alarm, isByHand: boolean): void {
    const because = isByHand ? {} : { because: this.#context.lastChange(name) };
    const set = (id: string, value: boolean | string) => this.#subscriber.next({ set: id, value, ...because });
    set(`${name}/state`, state);
    set(`${name}/active`, isActive(state));
    set(`${name}/acknowledged`, isAcknowledged(state));
    set(name, state !== 'normal');
  }

  #tellTotals(): void {
    for (const [id, value] of Object.entries(this.#totals.values()))
      this.#subscriber.next({ set: `${all}/${id}`, value });
  }

  /** Leaves what they are to a connection that takes the place of this one. */
  #leave(every: readonly Alarm[]): void {
    const { lastChange, leave } = this.#context;
    const left = every.map((alarm): [string, LeftAlarm] => [
      alarm.name,
      { ...alarm, revision: lastChange(alarm.name)?.revision },
    ]);
    leave(new Map(left));
  }
}
