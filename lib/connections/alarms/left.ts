// What alarms leave when a reload changes the settings of their connection: those whose cause stays the same go on from there.

import type { AlarmSettings } from './settings.ts';
import type { AlarmState } from './states.ts';

/** An alarm as it was. */
export interface LeftAlarm {
  readonly settings: AlarmSettings;
  readonly state: AlarmState;
  readonly isTold: boolean;
  readonly isMet: boolean | undefined;
  /** Since when, on the clock of the connection. */
  readonly metAtMs: number;
  /** The revision of the last change of its parameter; undefined: there is none. */
  readonly revision: number | undefined;
}

/** What was left of an alarm with the same cause; undefined: nothing. */
export function leftOf(left: unknown, name: string, { when, is }: AlarmSettings): LeftAlarm | undefined {
  const alarm = left instanceof Map ? (left.get(name) as LeftAlarm | undefined) : undefined;
  return alarm?.settings.when === when && alarm.settings.is === is ? alarm : undefined;
}
