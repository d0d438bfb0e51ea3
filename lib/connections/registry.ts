// The connection types of the hub, a line each. All lists of types are derived from this file (`connection-types.ts`).

export { alarms } from './alarms/alarms.ts';
export { device } from './device/device.ts';
export { dummy } from './dummy/dummy.ts';
export { keyboard } from './keyboard/keyboard.ts';
export { nats } from './nats/nats.ts';
export { restApi } from './rest-api/rest-api.ts';
export { schedule } from './schedule/schedule.ts';
export { store } from './store/store.ts';
export { timer } from './timer/timer.ts';
export { virtualCore } from './virtual-core/virtual-core.ts';
export { xmlFileOutput } from './xml-file-output/xml-file-output.ts';
