// Rarely used controls, which are loaded together when a dashboard contains any such control.

export { Alarm } from './alarm.tsx';
export { Radio, Select } from './choices.tsx';
export { NumberEntry, TextEntry } from './entries.tsx';
