// A hub: flow files in, a running graph out. What other rooms import of it.

export {
  checkFlows,
  type FlowGuard,
  Hub,
  type HubOptions,
  loadFlows,
  type Reload,
  type RunOptions,
  startHub,
} from './hub/hub.ts';
export type { HubLog } from './hub/journal.ts';
export { monotonicScheduler } from './hub/scheduler.ts';
export { simulated } from './hub/twin/run-twin.ts';
export { version } from './hub/version.ts';
