// The controls that few dashboards have. They are loaded together when a dashboard has one.

export { Alarm } from './alarm.tsx';
export { Radio, Select } from './choices.tsx';
export { NumberEntry, TextEntry } from './entries.tsx';
