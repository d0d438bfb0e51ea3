// Alarms: each rises when a parameter has had a value for a while, and is there until it is over and acknowledged.

import { Observable, type Subscriber, Subscription } from 'rxjs';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import { type LeftAlarm, leftOf } from './left.ts';
import { type AlarmSettings, type AlarmsSettings, all, settingsSchema } from './settings.ts';
import { type AlarmEvent, type AlarmState, isAcknowledged, isActive, isKeptState, stateAfter } from './states.ts';
import { Totals } from './totals.ts';

export const alarms = defineConnectionType({
  type: 'alarms',
  isExternal: false,
  settingsSchema,
  parameters: ({ alarms }) => [...Object.keys(alarms).flatMap(parametersOf), ...parametersOfAll],
  inputs: ({ alarms }) => Object.fromEntries(Object.entries(alarms).map(([name, { when }]) => [name, when])),
  inputPath: (name) => ['alarms', name, 'when'],
  follows: (settings) => (parameterId) => followedBy(settings, parameterId),
  mistakes: ({ alarms }, inputTypes) =>
    Object.entries(alarms).flatMap(([name, { when }]) => {
      const type = inputTypes.get(name);
      if (type === undefined || type === 'B') return [];
      return { path: ['alarms', name, 'when'], message: `expected a parameter of type B, got "${when}" (${type})` };
    }),
  run: (context) => new Observable((subscriber) => runAlarms(context, subscriber)),
});

function parametersOf(name: string): ParameterDeclaration[] {
  return [
    { id: name, type: 'B', access: 'read-only' },
    { id: `${name}/active`, type: 'B', access: 'read-only' },
    { id: `${name}/acknowledged`, type: 'B', access: 'read-only' },
    { id: `${name}/state`, type: 'S', access: 'read-only' },
    { id: `${name}/ack`, type: 'T', access: 'write-only' },
  ];
}

const parametersOfAll: readonly ParameterDeclaration[] = [
  { id: `${all}/active`, type: 'I', access: 'read-only' },
  { id: `${all}/unacknowledged`, type: 'I', access: 'read-only' },
  { id: `${all}/priority`, type: 'I', access: 'read-only' },
  { id: `${all}/text`, type: 'S', access: 'read-only' },
  { id: `${all}/ack`, type: 'T', access: 'write-only' },
];

/** The inputs, which are called as the alarms, that a parameter depends on. */
function followedBy({ alarms }: AlarmsSettings, parameterId: string): readonly string[] {
  if (parameterId.startsWith(`${all}/`)) return Object.keys(alarms);
  const name = Object.hasOwn(alarms, parameterId) ? parameterId : parameterId.replace(/\/[^/]*$/, '');
  return Object.hasOwn(alarms, name) ? [name] : [];
}

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

function runAlarms(context: ConnectionContext<AlarmsSettings>, subscriber: Subscriber<ConnectionEvent>): Subscription {
  const { scheduler, memory, turn, inbox, input, lastChange } = context;
  const running = new Subscription();
  const totals = new Totals();
  const met = new Set<Alarm>();
  const tell = ({ name, state }: Alarm, isByHand: boolean) => {
    const because = isByHand ? {} : { because: lastChange(name) };
    subscriber.next({ set: `${name}/state`, value: state, ...because });
    subscriber.next({ set: `${name}/active`, value: isActive(state), ...because });
    subscriber.next({ set: `${name}/acknowledged`, value: isAcknowledged(state), ...because });
    subscriber.next({ set: name, value: state !== 'normal', ...because });
  };
  const tellTotals = () => {
    for (const [id, value] of Object.entries(totals.values())) subscriber.next({ set: `${all}/${id}`, value });
  };
  const enter = (alarm: Alarm, state: AlarmState) => {
    totals.change(alarm, alarm.state, state);
    alarm.state = state;
    memory?.changed(alarm.name, () => (state === 'normal' ? undefined : state));
  };
  const handle = (alarm: Alarm, event: AlarmEvent) => {
    const state = stateAfter(alarm.state, event);
    if (state === alarm.state && (alarm.isTold || event === 'acknowledged')) return;
    if (state !== alarm.state) enter(alarm, state);
    alarm.isTold = true;
    tell(alarm, event === 'acknowledged');
  };
  const handleAll = (some: Iterable<Alarm>, event: AlarmEvent) =>
    turn(() => {
      for (const alarm of some) handle(alarm, event);
      tellTotals();
    });
  /** Looks at a value that has changed; an alarm that has a delay is what it was until then. */
  const look = (alarm: Alarm) => {
    alarm.rising.unsubscribe();
    if (alarm.isMet === undefined) return;
    const delay = alarm.metAtMs + alarm.settings.delay - scheduler.now();
    if (alarm.isMet && delay > 0 && !isActive(alarm.state))
      alarm.rising = scheduler.schedule(() => handleAll([alarm], 'rises'), delay);
    if (!alarm.isMet) handle(alarm, 'ends');
    else if (delay <= 0) handle(alarm, 'rises');
    else if (!alarm.isTold) handle(alarm, 'none');
  };
  const lookSoon = context.atSettle(() => {
    if (subscriber.closed) return;
    for (const alarm of met) look(alarm);
    met.clear();
    tellTotals();
  });
  const add = ([name, settings]: [string, AlarmSettings]): Alarm => {
    const left = leftOf(context.left, name, settings);
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
    if (isKeptState(state)) enter(alarm, state);
    if (isKeptState(state) || left?.isTold) handle(alarm, 'none');
    running.add(() => alarm.rising.unsubscribe());
    running.add(inbox(`${name}/ack`).subscribe(() => handleAll([alarm], 'acknowledged')));
    running.add(
      input(name).subscribe((value) => {
        const isMet = value === undefined ? undefined : value === settings.is;
        if (isMet === alarm.isMet) return;
        const isAsLeft =
          alarm.isMet === undefined && left?.isMet === isMet && left?.revision === lastChange(name)?.revision;
        alarm.isMet = isMet;
        alarm.metAtMs = isAsLeft ? left!.metAtMs : scheduler.now();
        met.add(alarm);
        lookSoon();
      }),
    );
    return alarm;
  };
  subscriber.next({ state: 'running' });
  const every = Object.entries(context.settings.alarms).map(add);
  running.add(inbox(`${all}/ack`).subscribe(() => handleAll(every, 'acknowledged')));
  for (const name of memory?.recalled.keys() ?? [])
    if (!Object.hasOwn(context.settings.alarms, name)) memory!.changed(name, () => undefined);
  lookSoon();
  running.add(() => {
    const left = every.map((alarm): [string, LeftAlarm] => [
      alarm.name,
      { ...alarm, revision: lastChange(alarm.name)?.revision },
    ]);
    context.leave(new Map(left));
  });
  return running;
}
