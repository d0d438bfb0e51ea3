// The command line as a child process, as its users run it.

import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Console } from '../../lib/command/console.ts';
import { within } from './deadline.ts';

const main = resolve(import.meta.dirname, '../../lib/main.ts');

export interface Ended {
  readonly status: number | null;
  readonly signal: string | null;
  readonly output: string;
  readonly errors: string;
}

export interface Running {
  readonly process: ChildProcess;
  /** Resolves with the first match in the standard output. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  ended(limitMs?: number): Promise<Ended>;
}

/** Starts `patchbay <args>`; it is killed when the test ends. */
export function start(t: ExecutionContext, args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...env } });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  let errors = '';
  let look = () => {};
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const end = new Promise<Ended>((resolve) => {
    child.on('close', (status, signal) => resolve({ status, signal, output, errors }));
  });
  return {
    process: child,
    shows: (pattern) =>
      within(
        new Promise((resolve, reject) => {
          look = () => {
            const match = pattern.exec(output);
            if (match) resolve(match);
          };
          look();
          end.then(() => reject(new Error(`ended without showing ${pattern}: ${output}${errors}`)));
        }),
        `showing ${pattern}`,
      ),
    ended: (limitMs) => within(end, 'the end of the process', limitMs),
  };
}

/** Runs `patchbay <args>` to its end. */
export function runToEnd(t: ExecutionContext, args: readonly string[], env?: Record<string, string>): Promise<Ended> {
  return start(t, args, env).ended();
}

/** Runs a command in this process, with what it prints kept. */
export async function call(command: (console: Console) => Promise<number>): Promise<Omit<Ended, 'signal'>> {
  const output: string[] = [];
  const errors: string[] = [];
  const status = await command({
    print: (text) => void output.push(`${text}\n`),
    printError: (text) => void errors.push(`${text}\n`),
  });
  return { status, output: output.join(''), errors: errors.join('') };
}

/** Starts `patchbay run <path>` and resolves with the port of its first REST API connection. */
export async function runHub(t: ExecutionContext, path: string): Promise<Running & { port: number }> {
  const running = start(t, ['run', '--log-format', 'json', path]);
  const [, port] = await running.shows(/"port":(\d+)/);
  await running.shows(/patchbay \S+ runs/);
  return Object.assign(running, { port: Number(port) });
}
