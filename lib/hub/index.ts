// The parts of the hub that other layers may import.

export {
  checkFlows,
  type FlowGuard,
  Hub,
  type HubOptions,
  loadFlows,
  type Reload,
  type RunOptions,
  startHub,
} from './hub.ts';
export type { HubLog } from './journal.ts';
export { monotonicScheduler } from './scheduler.ts';
export { repeated, simulated } from './twin/run-twin.ts';
export { version } from './version.ts';
