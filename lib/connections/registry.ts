// The connection types that the hub has, a line each. All that knows the types follows from this file (`connection-types.ts`).

export { alarms } from './alarms/alarms.ts';
export { dummy } from './dummy/dummy.ts';
export { keyboard } from './keyboard/keyboard.ts';
export { nats } from './nats/nats.ts';
export { restApi } from './rest-api/rest-api.ts';
export { schedule } from './schedule/schedule.ts';
export { store } from './store/store.ts';
export { timer } from './timer/timer.ts';
export { virtualCore } from './virtual-core/virtual-core.ts';
export { xmlFileOutput } from './xml-file-output/xml-file-output.ts';
