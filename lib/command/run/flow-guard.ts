// Keeps TypeScript flows from ending the hub's process. Uncaught errors are reported as faults in the flow that caused them. Flows cannot
// end the process, and shared globals are locked. A thread watches for infinite loops.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type FlowCode, type FlowFault, faultOf, flowOf, holder, numberOf } from '../../flow/programs/flow-code.ts';
import { guardExits, lockGlobals } from '../../flow/programs/globals.ts';
import { stackOf } from '../../flow/programs/stack.ts';
import type { FlowGuard } from '../../hub/index.ts';
import { messageOf } from '../../model/error.ts';
import { printableLines } from '../../model/printable.ts';
import type { WatchdogData } from './watchdog-thread.ts';

/** The interval at which the main thread reports that it is alive, in milliseconds. */
const beatMs = 250;
/** How long a failing process waits for its last message to be written, in milliseconds. */
const lastMessageMs = 1000;

const watchdog = new URL(`./watchdog-thread${extname(import.meta.filename)}`, import.meta.url);

/** Creates the guard for a process. The guard becomes active as soon as there are TypeScript flows. */
export function createFlowGuard(host: NodeJS.Process, log: WatchdogData['log']): FlowGuard {
  let flows: readonly FlowCode[] = [];
  let report: (fault: FlowFault) => void = () => {};
  let thread: Worker | undefined;

  const start = (): Worker => {
    lockGlobals();
    const { exit } = guardExits(host, (stack) => flowOf(stack, flows) !== undefined);
    host.on('uncaughtException', (error) => {
      const fault = faultOf(error, flows);
      if (fault !== undefined) return report(fault);
      host.stderr.write(`${printableLines(stackOf(error) || messageOf(error))}\n`, () => exit(1));
      setTimeout(() => exit(1), lastMessageMs); // the output may not have been read yet
    });
    const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
    const started = new Worker(watchdog, { workerData: { beats, holder, log, pid: host.pid } satisfies WatchdogData });
    started.unref();
    started.on('error', (error) =>
      report({ flow: '', message: `the watchdog for TypeScript flows stopped: ${messageOf(error)}` }),
    );
    return started;
  };
  return {
    protect(known, reporter) {
      flows = known;
      report = reporter;
      if (flows.length === 0) return;
      thread ??= start();
      thread.postMessage(new Map(flows.map((flow) => [numberOf(flow.name), flow])));
    },
  };
}
