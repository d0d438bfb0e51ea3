// A hub as operators run it: a process of its own, with its log and its address.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { ExecutionContext } from 'ava';
import { firstValueFrom, fromEvent, ReplaySubject } from 'rxjs';
import { filter, map, take, timeout, toArray } from 'rxjs/operators';
import { createFolder } from './folder.ts';

const deadlineMs = 20_000;
const mainProgram = resolve(import.meta.dirname, '../../lib/main.ts');

export interface HubProcess {
  readonly pid: number;
  /** Where its first REST API connection listens. */
  readonly url: string;
  /** The folder of its flow file. */
  readonly folder: string;
  /** All messages of the log so far. */
  readonly messages: readonly string[];
  /** Waits for the n-th message of the log that matches. */
  logged(pattern: RegExp, nth?: number): Promise<string>;
  /** Fetches a path of the REST API, which the flow has to declare on port 0 of 127.0.0.1. */
  get(path: string): Promise<string>;
  /** Resolves to exit status and signal. */
  readonly exited: Promise<unknown[]>;
}

export async function startHubProcess(
  t: ExecutionContext,
  flow: object | string,
  { display = '', program = mainProgram } = {},
): Promise<HubProcess> {
  const folder = await createFolder(t, { 'flow.json5': flow });
  const hub = spawn(process.execPath, [program, 'run', join(folder, 'flow.json5'), '--log-format', 'json'], {
    env: { ...process.env, DISPLAY: display },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // a process group of its own, as in a terminal
  });
  const exited = once(hub, 'exit');
  t.teardown(() => hub.kill('SIGKILL'));
  const log$ = new ReplaySubject<string>();
  const messages: string[] = [];
  log$.subscribe((message) => messages.push(message));
  fromEvent(createInterface(hub.stdout), 'line')
    .pipe(map((line) => (JSON.parse(line as string) as { msg: string }).msg))
    .subscribe(log$);
  const logged = async (pattern: RegExp, nth = 1) => {
    const matching$ = log$.pipe(filter((message) => pattern.test(message)));
    return (await firstValueFrom(matching$.pipe(take(nth), toArray(), timeout(deadlineMs)))).at(-1)!;
  };
  const [url] = /http:\S+/.exec(await logged(/listens on/)) ?? [];
  return {
    pid: hub.pid!,
    url: url!,
    folder,
    messages,
    logged,
    get: async (path) => (await fetch(new URL(path, url), { signal: AbortSignal.timeout(deadlineMs) })).text(),
    exited,
  };
}

/** The keyboard processes that a process has started. */
export async function keyboardPids(parentPid: number): Promise<number[]> {
  const children = await readFile(`/proc/${parentPid}/task/${parentPid}/children`, 'utf8');
  const pids = children.split(' ').filter(Boolean).map(Number);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_, index) => commands[index]!.includes('/keyboard/child.'));
}
