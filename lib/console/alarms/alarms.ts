// The current alarms on the hub, for the navigation, the page title and the start page.

import { createRoot } from 'solid-js';
import type { Alarm, AlarmList } from '../../wire/http/alarm-shapes.ts';
import { me } from '../hub/me.ts';
import { usePolled } from '../hub/polled.ts';

const everyMs = 5000;

/** The current alarms, which are polled while the console is open. */
export const alarms = createRoot(() => {
  const { data, error, refresh } = usePolled<AlarmList>(() => (me() ? '/hub/alarms' : undefined), 'address', everyMs);
  return {
    isKnown: () => data() !== undefined,
    list: () => listOf(data()),
    /** The number of alarms that are waiting for an acknowledgement. Shelved alarms do not count. */
    unacknowledged: () => Number(data()?.unacknowledged) || 0,
    error,
    refresh,
  };
});

/** Returns the list of alarms in a response, or an empty list if the response is malformed. */
export function listOf(answer: AlarmList | undefined): readonly Alarm[] {
  return Array.isArray(answer?.alarms) ? answer.alarms.filter(Boolean) : [];
}
