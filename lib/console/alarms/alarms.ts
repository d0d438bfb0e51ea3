// The present alarms of the hub: for the navigation, the title of the page, and the start page.

import { createRoot } from 'solid-js';
import type { Alarm, AlarmList } from '../../wire/http/alarm-shapes.ts';
import { me } from '../hub/me.ts';
import { usePolled } from '../hub/polled.ts';

const everyMs = 5000;

/** Follows the alarms as long as the console is open. */
export const alarms = createRoot(() => {
  const { data, error, refresh } = usePolled<AlarmList>(() => (me() ? '/hub/alarms' : undefined), 'address', everyMs);
  return {
    isKnown: () => data() !== undefined,
    list: () => listOf(data()),
    /** How many wait for an acknowledgement; shelved ones do not count. */
    unacknowledged: () => Number(data()?.unacknowledged) || 0,
    error,
    refresh,
  };
});

/** Returns the alarms in a response; none if the response is malformed. */
export function listOf(answer: AlarmList | undefined): readonly Alarm[] {
  return Array.isArray(answer?.alarms) ? answer.alarms.filter(Boolean) : [];
}
