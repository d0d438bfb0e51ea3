// A hub: flow files in, a running graph out. Its parts are in `hub/`: load and start, run a plan, reload, the port.

export type { FlowGuard } from './hub/flow-guard.ts';
export type { HubLog } from './hub/journal.ts';
export type { Reload } from './hub/reload.ts';
export { monotonicScheduler } from './hub/scheduler.ts';
export { type Hub, type HubOptions, loadFlows, startHub } from './hub/start.ts';
export { type PlanHub, type StartOptions, startPlan } from './hub/start-plan.ts';
export { simulated } from './hub/twin/stand-ins.ts';
export { version } from './hub/version.ts';
