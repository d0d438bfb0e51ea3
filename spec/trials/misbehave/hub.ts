// A hub as its users run it, with its log.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { within } from '../../support/load/deadline.ts';
import { dependent } from '../../support/system/dependent.ts';

const deadlineMs = 60_000;

export interface LoggingHub {
  /** Of its REST API connections, in the order of the flow file. */
  readonly ports: readonly number[];
  /** Resolves with the first message that matches since the last call of `forget`. Errors: when the hub ends without it. */
  said(pattern: RegExp): Promise<string>;
  forget(): void;
  /** Resolves when the process has ended, with its status or the name of the signal. */
  ended(): Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
}

/** Runs the flow files of a folder. Errors: when it does not come to run. */
export async function startLoggingHub(folder: string, hubFolder: string): Promise<LoggingHub> {
  const args = [join(hubFolder, 'lib/main.ts'), 'run', folder, '--log-format', 'json'];
  const child = spawn(...dependent(process.execPath, args), { stdio: ['ignore', 'pipe', 'pipe'] });
  const messages: string[] = [];
  const looking = new Set<() => void>();
  const look = () => {
    for (const one of looking) one();
  };
  const ports: number[] = [];
  createInterface(child.stdout).on('line', (line) => {
    const entry = JSON.parse(line) as { msg: string; port?: number };
    if (entry.port !== undefined) ports.push(entry.port);
    messages.push(entry.msg.replaceAll(`${folder}/`, ''));
    look();
  });
  createInterface(child.stderr).on('line', (line) => messages.push(`stderr: ${line}`));
  const exited = once(child, 'close').then(([status, signal]) => (signal ?? status) as number | string);
  const said = (pattern: RegExp) => {
    const found = new Promise<string>((resolve) => {
      const find = () => {
        const message = messages.find((one) => pattern.test(one.replace(/ \(\d+ times within a second\)$/, '')));
        if (message === undefined) return;
        looking.delete(find);
        resolve(message);
      };
      looking.add(find);
      find();
    });
    const over = exited.then((status): Promise<string> => {
      look();
      return Promise.race([
        found,
        Promise.reject(new Error(`the hub ended with ${status}, and never said ${pattern}; last: ${messages.at(-1)}`)),
      ]);
    });
    return within(deadlineMs, `the log to say ${pattern}, last ${messages.at(-1)}`, Promise.race([found, over]));
  };
  await said(/^patchbay \S+ runs/);
  return {
    ports,
    said,
    forget: () => void messages.splice(0),
    ended: () => within(deadlineMs, 'the hub to end', exited),
    kill: (signal) => void child.kill(signal),
  };
}
