// The command line as a child process, as its users run it.

import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { BehaviorSubject, firstValueFrom } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import type { PacedConsole } from '../../../lib/command/console.ts';
import { within } from '../deadline.ts';
import { dependent } from './dependent.ts';

const main = resolve(import.meta.dirname, '../../../lib/main.ts');

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
  /** Resolves with what is first found in the standard output so far. Errors: when the process ends without it. */
  finds<T>(find: (output: string) => T | undefined, what: string): Promise<T>;
  ended(limitMs?: number): Promise<Ended>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Another `main`, such as the compiled one. */
  readonly program?: string;
  /** Where it runs; left out, where the specs do. */
  readonly folder?: string;
  /** How many files and sockets it may have open (`ulimit -n`). */
  readonly openFiles?: number;
  /** In a process group of its own, as in a terminal; Linux then gives it a share of the processor of its own, too. */
  readonly isGroup?: boolean;
}

/** Starts `patchbay <args>`; it is killed when the test ends. `run` does not warm up, which would take longer than most specs. */
export function start(t: ExecutionContext, args: readonly string[], options: StartOptions = {}): Running {
  const { env, program = main, isGroup = false, openFiles, folder } = options;
  const command = [process.execPath, program, ...(args[0] === 'run' ? [...args, '--no-warm-up'] : args)];
  const [first, ...others] =
    openFiles === undefined ? command : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`, ...command];
  const child = spawn(...dependent(first!, others), {
    cwd: folder,
    env: { ...process.env, ...env },
    detached: isGroup,
  });
  t.teardown(() => child.kill('SIGKILL'));
  const output$ = new BehaviorSubject('');
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text) => output$.next(output$.value + text));
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const end = new Promise<Ended>((resolve) => {
    child.on('close', (status, signal) => resolve({ status, signal, output: output$.value, errors }));
  });
  const finds = <T>(find: (output: string) => T | undefined, what: string): Promise<T> => {
    const found = firstValueFrom(
      output$.pipe(
        map(find),
        filter((item) => item !== undefined),
      ),
    );
    const isOver = end.then(({ output }) => {
      throw new Error(`ended without ${what}: ${output}${errors}`);
    });
    return within(Promise.race([found, isOver]), what);
  };
  return {
    process: child,
    finds,
    shows: (pattern) => finds((output) => pattern.exec(output) ?? undefined, `showing ${pattern}`),
    ended: (limitMs) => within(end, 'the end of the process', limitMs),
  };
}

/** Runs `patchbay <args>` to its end. */
export function runToEnd(t: ExecutionContext, args: readonly string[], env: StartOptions['env'] = {}): Promise<Ended> {
  return start(t, args, { env }).ended();
}

/** Runs a command in this process, with what it prints kept. */
export async function call(command: (console: PacedConsole) => Promise<number>): Promise<Omit<Ended, 'signal'>> {
  const output: string[] = [];
  const errors: string[] = [];
  const status = await command({
    print: (text) => void output.push(`${text}\n`),
    printError: (text) => void errors.push(`${text}\n`),
    isBehind: false,
    whenTaken: async () => {},
  });
  return { status, output: output.join(''), errors: errors.join('') };
}
