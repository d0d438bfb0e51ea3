// Rarely used readings, which are loaded together when a dashboard contains any such reading.

export { Clock, Countdown } from './clocks.tsx';
export { Events } from './events.tsx';
export { Gauge } from './gauge.tsx';
export { LinkWidget } from './link.tsx';
export { Matrix } from './matrix.tsx';
export { IconWidget, Picture } from './pictures.tsx';
export { Schedule } from './schedule.tsx';
