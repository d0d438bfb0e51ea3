// Ways to end a process, for all but flows. A flow that takes one gets an error, as a fault of its own.

import { syncBuiltinESMExports } from 'node:module';

const lookedThrough = 100;

type Exits = Pick<NodeJS.Process, 'exit' | 'abort' | 'kill' | 'pid'> & { reallyExit: (code?: number) => never };

/** Refuses to end the process wherever `isFlow` says so of a stack. Returns the ways that are open to all. */
export function guardExits(host: NodeJS.Process, isFlow: (stack: string) => boolean): Pick<Exits, 'exit'> {
  const exits = host as unknown as Exits;
  const exit = exits.exit.bind(host);
  const refuse = (way: object, name: string, ...args: unknown[]) => {
    const error = errorAbove(way, `process.${name}(${args.join(', ')}): a flow cannot end the hub`);
    if (isFlow(error.stack ?? '')) throw error;
  };
  const guarded = <Name extends 'exit' | 'abort' | 'reallyExit'>(name: Name) => {
    const way = exits[name].bind(host) as (...args: unknown[]) => never;
    const guard = (...args: unknown[]) => {
      refuse(guard, name, ...args);
      return way(...args);
    };
    exits[name] = guard as Exits[Name];
  };
  guarded('exit');
  guarded('abort');
  guarded('reallyExit');
  const kill = exits.kill.bind(host);
  exits.kill = (pid, signal) => {
    if (pid === host.pid || pid <= 0) refuse(exits.kill, 'kill', pid, signal ?? 'SIGTERM');
    return kill(pid, signal);
  };
  syncBuiltinESMExports(); // import { exit } from 'node:process'
  return { exit };
}

/** An error with the stack of what has called a function. */
function errorAbove(called: object, message: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = lookedThrough;
  const error = new Error(message);
  Error.captureStackTrace(error, called as () => void);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
