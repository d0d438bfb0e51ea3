// Flows in TypeScript outside of their rules: what watches over them, and what the log says when one fails.

import type { Log } from '../connections/connection.ts';
import type { FlowCode, FlowFault } from '../flow/programs/flow-code.ts';

/** Knows whose fault it is when nobody has caught an error, and when a thread is stuck. */
export interface FlowGuard {
  /** Is given all flows in TypeScript at each load, before one that is new is imported, and what reports their faults. */
  protect(flows: readonly FlowCode[], report: (fault: FlowFault) => void): void;
}

export function logFault(log: Log, { flow, message }: FlowFault): void {
  log.error({ file: flow }, `flow ${flow} failed: ${message}`);
}

/** Says that a flow has stopped the hub before and is not run again. */
export function logLeftOut(log: Log, flow: string, reason: string): void {
  const sentence = `flow ${flow} is left out, its connections run without its rules: ${reason}`;
  log.error({ file: flow }, `${sentence}. Saved with another content it is tried again`);
}
