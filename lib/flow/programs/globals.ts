// The global objects shared by all code on a thread, which a flow must not change.
import { syncBuiltinESMExports } from 'node:module';

/** Returns every shared function of the language and of Node.js, keyed by name: `JSON.parse`, `Map.prototype.get`. */
export function readGlobals(): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  visitGlobals((owner, prefix) => {
    for (const [key, { value }] of functionsOf(owner)) found.set(`${prefix}${String(key)}`, value);
  });
  return found;
}

/**
 * Makes assignments to `JSON.parse`, `Date.now` and the like throw where they occur. Methods of prototypes, such as `Map.prototype.get`,
 * remain writable, because V8 generates slower code if prototypes are locked.
 */
export function lockGlobals(): void {
  visitGlobals((owner, prefix) => {
    if (prefix.endsWith('.prototype.')) return;
    for (const [key, { configurable }] of functionsOf(owner))
      if (configurable) Object.defineProperty(owner, key, { writable: false, configurable: false });
  });
}

function visitGlobals(visit: (owner: object, prefix: string) => void): void {
  visit(globalThis, '');
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value;
    if (name === 'console' || value === globalThis) continue;
    if (typeof value === 'function') visit(value, `${name}.`);
    if (typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null)
      visit(value.prototype, `${name}.prototype.`);
    if (typeof value === 'object' && value !== null) visit(value, `${name}.`);
  }
}

function functionsOf(owner: object): [key: string | symbol, descriptor: PropertyDescriptor][] {
  return Reflect.ownKeys(owner).flatMap((key) => {
    const descriptor = Reflect.getOwnPropertyDescriptor(owner, key) ?? {};
    return typeof descriptor.value === 'function' ? [[key, descriptor]] : [];
  });
}

// Prevents flows from ending the process: an attempt throws an error, which counts as a fault of the flow.

/** The maximum number of calls in a stack that are searched for a flow's code. */
const lookedThrough = 100;

type Exits = Pick<NodeJS.Process, 'exit' | 'abort' | 'kill' | 'pid'> & { reallyExit: (code?: number) => never };

/**
 * Makes attempts to end the process throw an error if `isFlow` finds a flow in the stack. Returns an exit function that always ends the
 * process.
 */
export function guardExits(host: NodeJS.Process, isFlow: (stack: string) => boolean): Pick<Exits, 'exit'> {
  const exits = host as NodeJS.Process & Exits;
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
  syncBuiltinESMExports(); // for `import { exit } from 'node:process'`
  return { exit };
}

/** Creates an error whose stack begins at the caller of the given function. */
function errorAbove(called: object, message: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = lookedThrough;
  const error = new Error(message);
  Error.captureStackTrace(error, called as () => void);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
