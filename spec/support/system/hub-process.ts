// A hub as operators run it: a process of its own, with its log and its address.

import { readFile } from 'node:fs/promises';
import type { ExecutionContext } from 'ava';
import { deadlineMs } from '../deadline.ts';
import { createFolder } from '../folder.ts';
import { messagesOf } from './log-messages.ts';
import { type Running, type StartOptions, start } from './process.ts';

export interface HubProcess extends Running {
  readonly pid: number;
  /** The port of its first REST API connection, NaN if it has none. */
  readonly port: number;
  readonly url: string;
  /** The folder of its flow file, `flow.json5`. */
  readonly folder: string;
  /** Waits for the n-th message of the log that matches. */
  logged(pattern: RegExp, nth?: number): Promise<string>;
  /** Fetches a path of the REST API. */
  get(path: string): Promise<string>;
}

interface HubProcessOptions extends Pick<StartOptions, 'program' | 'isGroup' | 'openFiles'> {
  readonly display?: string;
  /** Further options of `patchbay run`. */
  readonly args?: readonly string[];
}

/** Runs a flow file and resolves once the hub runs; what is fetched of it comes from 127.0.0.1. */
export async function startHubProcess(
  t: ExecutionContext,
  flow: object | string,
  options?: HubProcessOptions,
): Promise<HubProcess> {
  return startHubProcessIn(t, await createFolder(t, { 'flow.json5': flow }), options);
}

/** The same with the flow files of a folder that is there. */
export async function startHubProcessIn(
  t: ExecutionContext,
  folder: string,
  { display = '', args = [], ...options }: HubProcessOptions = {},
): Promise<HubProcess> {
  const running = start(t, ['run', folder, '--log-format', 'json', ...args], {
    ...options,
    env: { DISPLAY: display },
  });
  const logged = (pattern: RegExp, nth = 1) =>
    running.finds((output) => messagesOf(output).filter((message) => pattern.test(message))[nth - 1], `log ${pattern}`);
  await logged(/^patchbay \S+ started with/);
  const port = await running.finds((output) => Number(/listening on [^"]*:(\d+)\//.exec(output)?.[1]), 'a port');
  const url = `http://127.0.0.1:${port}/`;
  return {
    ...running,
    pid: running.process.pid!,
    port,
    url,
    folder,
    logged,
    get: async (path) => (await fetch(new URL(path, url), { signal: AbortSignal.timeout(deadlineMs) })).text(),
  };
}

/** The keyboard processes that a process has started. */
export async function keyboardPids(parentPid: number): Promise<number[]> {
  const children = await readFile(`/proc/${parentPid}/task/${parentPid}/children`, 'utf8');
  const pids = children.split(' ').filter(Boolean).map(Number);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_, index) => commands[index]!.includes('/keyboard/process/main.'));
}
