// What is told of all alarms together. A change of one costs the same, however many there are.

import type { Value } from '../../model/value.ts';
import type { AlarmSettings } from './settings.ts';
import { lowestPriority } from './settings.ts';
import { type AlarmState, isAcknowledged, isActive } from './states.ts';

export interface CountedAlarm {
  readonly name: string;
  readonly settings: AlarmSettings;
}

export class Totals {
  #active = 0;
  #unacknowledged = 0;
  /** The alarms that are there, by urgency: priority 1 and not acknowledged first; in the order in which they came to be so. */
  readonly #present = Array.from({ length: 2 * lowestPriority }, () => new Set<CountedAlarm>());

  change(alarm: CountedAlarm, before: AlarmState, after: AlarmState): void {
    this.#add(alarm, before, -1);
    this.#add(alarm, after, 1);
  }

  /** By what the parameters are called. */
  values(): Readonly<Record<string, Value>> {
    const [first] = this.#present.find(({ size }) => size > 0) ?? [];
    return {
      active: this.#active,
      unacknowledged: this.#unacknowledged,
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
