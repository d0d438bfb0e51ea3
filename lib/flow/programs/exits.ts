// The ways to end a process are shut to flows: a flow that takes one gets an error, which is a fault of that flow.

import { syncBuiltinESMExports } from 'node:module';

/** How many calls of a stack are looked through for a flow. */
const lookedThrough = 100;

type Exits = Pick<NodeJS.Process, 'exit' | 'abort' | 'kill' | 'pid'> & { reallyExit: (code?: number) => never };

/** Refuses to end the process where `isFlow` says that a stack is a flow's. Returns a way out that is never refused. */
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

/** An error whose stack begins with the caller of a function. */
function errorAbove(called: object, message: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = lookedThrough;
  const error = new Error(message);
  Error.captureStackTrace(error, called as () => void);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
