// The processes of a benchmark, seen from the one that runs it: servers that are measured, tasks that measure and report.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { thisTree } from '../folder.ts';
import { dependent } from './dependent.ts';
import type { Answer } from './task.ts';

/** A server that is measured, in a process of its own. */
export interface ServerProcess {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /**
   * Ends the process and waits for its end. Errors: when it did not end well. `orLeaves`: a hub may also leave threads that take long, as
   * those do that are still starting on a machine that has no time; then it ends by the signal.
   */
  stop(orLeaves?: boolean): Promise<void>;
}

/** A process that performs a task: it answers once or, while it works, more often. */
export interface TaskProcess {
  readonly process: ChildProcess;
  /**
   * What it reports next. Errors: what was wrong, in its words; that its process ended before, or was ended because it took longer than
   * the deadline. Without one it is waited for as long as it lives.
   */
  answer<Result>(deadlineMs?: number): Promise<Result>;
}

/** A line of the hub's log; what else it has depends on what it says. */
export interface LogEntry {
  readonly level: number;
  readonly msg: string;
  readonly err?: unknown;
  readonly ms?: number;
  readonly port?: number;
  readonly rules?: number;
  /** How many fires of a pulse were missed. */
  readonly missed?: number;
  /** A limit that a client exceeded, and the client's address. */
  readonly limit?: string;
  readonly client?: string;
}

/** Which hub is started, and how; one that is quick does not warm up. */
interface HubOptions {
  readonly hubFolder: string;
  readonly profileFolder?: string | undefined;
  readonly isQuick?: boolean | undefined;
  /** Further options of `patchbay run`. */
  readonly args?: readonly string[];
}

const taskDeadlineMs = 120_000;
const startDeadlineMs = 60_000;
const stopDeadlineMs = 20_000;

/** Runs a program of this source tree, such as `bench/load/http.ts`, with a task and resolves to what it reports. Errors: what was wrong, in its words. */
export async function performTask<Result>(
  program: string,
  task: object,
  nodeOptions: readonly string[] = [],
): Promise<Result> {
  const { process: child, answer } = startTask(program, task, nodeOptions);
  const exited = once(child, 'exit');
  try {
    return await answer<Result>(taskDeadlineMs);
  } finally {
    if (child.connected) child.disconnect();
    await exited;
  }
}

/** Starts a program of this source tree with a task. */
export function startTask(program: string, task: object, nodeOptions: readonly string[] = []): TaskProcess {
  const child = fork(join(thisTree, program), [JSON.stringify(task)], {
    execArgv: [...nodeOptions],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    process: child,
    async answer<Result>(deadlineMs?: number) {
      const message = once(child, 'message').then(([answer]) => answer as Answer<Result>);
      const answer = await withDeadline(`an answer of ${program}`, deadlineMs, child, message);
      if ('mistake' in answer) throw new Error(answer.mistake);
      return answer.result;
    },
  };
}

/** Starts a program of this source tree that is a server and reports its port. */
export async function startServer(
  program: string,
  task: object,
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  const { process: child, answer } = startTask(program, task, nodeOptions);
  const port = await answer<number>(startDeadlineMs);
  return { process: child, pid: child.pid!, port, stop: () => stopProcess(program, child) };
}

/**
 * Starts the hub with a flow of one file, which is written into the folder; its REST API is called `api`. Errors: when it does
 * not start.
 */
export async function startHub(
  flow: { connections: Record<string, unknown>; rules?: readonly unknown[] },
  folder: string,
  options: HubOptions,
  nodeOptions: readonly string[] = [],
  onEntry?: (entry: LogEntry) => void,
): Promise<ServerProcess> {
  const file = join(folder, 'flow.json5');
  const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };
  await writeFile(file, JSON.stringify({ ...flow, connections: { api, ...flow.connections } }));
  return startHubOn(file, options, nodeOptions, onEntry);
}

/**
 * Starts the hub as its users do, `patchbay run`, on a flow file or a folder that is there. `onEntry` hears of each entry of its log. Errors:
 * when it does not start.
 */
export async function startHubOn(
  file: string,
  { hubFolder, profileFolder, isQuick = false, args: further = [] }: HubOptions,
  nodeOptions: readonly string[] = [],
  onEntry: (entry: LogEntry) => void = () => {},
): Promise<ServerProcess> {
  const main = join(hubFolder, 'lib', 'main.ts');
  const settings = ['--log-format', 'json', ...(isQuick ? ['--no-warm-up'] : []), ...further];
  const args = [...profileOptions(profileFolder), ...nodeOptions, main, 'run', file, ...settings];
  const child = spawn(...dependent(process.execPath, args), { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await withDeadline('the hub to start', startDeadlineMs, child, readPort(child, onEntry));
  return { process: child, pid: child.pid!, port, stop: (orLeaves) => stopProcess('the hub', child, 0, orLeaves) };
}

/** Starts another program that is measured; its port is what the pattern captures of what it writes there. */
export async function startProgram(
  command: string,
  args: readonly string[],
  portPattern: RegExp,
  there: 'stdout' | 'stderr' = 'stderr',
): Promise<ServerProcess> {
  const stdio = there === 'stdout' ? (['ignore', 'pipe', 'ignore'] as const) : (['ignore', 'ignore', 'pipe'] as const);
  const child = spawn(...dependent(command, args), { stdio: [...stdio] });
  const logged = readLoggedPort(child[there]!, portPattern);
  const port = await withDeadline(`${command} to start`, startDeadlineMs, child, logged);
  return { process: child, pid: child.pid!, port, stop: () => stopProcess(command, child) };
}

/** The options of Node that write a CPU profile at the end of a process. */
export function profileOptions(profileFolder: string | undefined): readonly string[] {
  return profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
}

/** The port that the hub logs; resolves once the hub says that it runs. */
async function readPort(child: ChildProcess, onEntry: (entry: LogEntry) => void): Promise<number> {
  const lines = createInterface({ input: child.stdout! });
  let port: number | undefined;
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      const entry = JSON.parse(line) as LogEntry;
      onEntry(entry);
      port ??= entry.port;
      if (entry.rules !== undefined && port !== undefined) resolve(port);
    });
  });
}

async function readLoggedPort(input: Readable, pattern: RegExp): Promise<number> {
  const lines = createInterface({ input });
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      const port = pattern.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

/** Waits for `work` as long as the process lives, and no longer than the deadline where there is one; then the process is ended. */
async function withDeadline<Result>(
  what: string,
  deadlineMs: number | undefined,
  child: ChildProcess,
  work: Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  const exited = hasEnded(child)
    ? Promise.resolve([child.exitCode, child.signalCode])
    : once(child, 'exit', { signal: ended.signal });
  const exit = exited.then(([status, signal]) => {
    throw new Error(`expected ${what}, its process ended with ${signal ?? status}`);
  });
  const timer = deadlineMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  try {
    return await Promise.race([work, exit]);
  } finally {
    clearTimeout(timer);
    exit.catch(() => {});
    ended.abort();
  }
}

async function stopProcess(
  name: string,
  child: ChildProcess,
  expectedStatus?: number,
  orLeaves = false,
): Promise<void> {
  if (hasEnded(child)) throw new Error(`${name} had ended by itself`);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
  const [status, signal] = await exited;
  clearTimeout(timer);
  if (orLeaves && signal === 'SIGTERM') return;
  if (expectedStatus !== undefined && status !== expectedStatus)
    throw new Error(`expected ${name} to stop with status ${expectedStatus}, got ${signal ?? status}`);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
