// The states of an alarm, as in ISA-18.2: an alarm is there until it is over and somebody has acknowledged it.

/** `returned`: it is over, and nobody has acknowledged it. */
export type AlarmState = 'normal' | 'unacknowledged' | 'acknowledged' | 'returned';

/** `none` changes nothing. */
export type AlarmEvent = 'none' | 'rises' | 'ends' | 'acknowledged';

const next: Readonly<Record<AlarmState, Partial<Record<AlarmEvent, AlarmState>>>> = {
  normal: { rises: 'unacknowledged' },
  unacknowledged: { ends: 'returned', acknowledged: 'acknowledged' },
  acknowledged: { ends: 'normal' },
  returned: { rises: 'unacknowledged', acknowledged: 'normal' },
};

/** The state after an event; many events change nothing. */
export function stateAfter(state: AlarmState, event: AlarmEvent): AlarmState {
  return next[state][event] ?? state;
}

export function isActive(state: AlarmState): boolean {
  return state === 'unacknowledged' || state === 'acknowledged';
}

export function isAcknowledged(state: AlarmState): boolean {
  return state === 'normal' || state === 'acknowledged';
}

/** Whether data is a state that somebody has to be told of. */
export function isKeptState(data: unknown): data is AlarmState {
  return typeof data === 'string' && data !== 'normal' && Object.hasOwn(next, data);
}
