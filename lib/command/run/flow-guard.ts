// Keeps flows in TypeScript from ending the process that runs the hub. An error that nobody has caught is reported as a fault
// of the flow that it comes from. The ways to end a process are shut to flows, and what all code shares is locked. A thread
// watches for a loop without end.

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type FlowCode, type FlowFault, faultOf, flowOf, holder, numberOf } from '../../flow/programs/flow-code.ts';
import { guardExits, lockGlobals } from '../../flow/programs/globals.ts';
import { stackOf } from '../../flow/programs/stack.ts';
import type { FlowGuard } from '../../hub/index.ts';
import { messageOf } from '../../model/error.ts';
import { printableLines } from '../../model/printable.ts';
import type { WatchdogData } from './watchdog-thread.ts';

/** How often the main thread says that it goes on. */
const beatMs = 250;
/** How long a process that ends by a fault waits until its last words are written. */
const lastWordsMs = 1000;

const watchdog = new URL(`./watchdog-thread${extname(import.meta.filename)}`, import.meta.url);

/** Creates the guard of a process; it does nothing until there are flows in TypeScript. */
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
      setTimeout(() => exit(1), lastWordsMs); // in case nobody reads them
    });
    const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
    const started = new Worker(watchdog, { workerData: { beats, holder, log, pid: host.pid } satisfies WatchdogData });
    started.unref();
    started.on('error', (error) => report({ flow: '', message: `nothing watches over them: ${messageOf(error)}` }));
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
