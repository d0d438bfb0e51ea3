// A hub as its users run it, with a clock that can be set while it runs: libfaketime sits between the process and the system clock, and
// leaves the monotonic clock alone.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { untilSo } from '../../support/deadline.ts';
import { thisTree } from '../../support/folder.ts';
import { libfaketime } from '../../support/programs.ts';
import { dependent } from '../../support/system/dependent.ts';
import type { LogEntry } from '../../support/system/task-process.ts';

const deadlineMs = 120_000;

/** The clock of one machine, by how much it is wrong. */
export class SettableClock {
  readonly path: string;
  #wrongMs = 0;

  constructor(folder: string) {
    this.path = join(folder, 'clock');
  }

  get wrongMs(): number {
    return this.#wrongMs;
  }

  /** What it shows. */
  now(): number {
    return Date.now() + this.#wrongMs;
  }

  async set(wrongMs: number): Promise<void> {
    const part = `${this.path}.part`;
    await writeFile(part, `${wrongMs < 0 ? '-' : '+'}${Math.abs(wrongMs) / 1000}\n`);
    await rename(part, this.path);
    this.#wrongMs = wrongMs;
  }
}

export interface SettableHub {
  readonly process: ChildProcess;
  readonly port: number;
  readonly log: readonly LogEntry[];
  /** Ends it as an operator does. */
  stop(): Promise<void>;
}

/** Starts `patchbay run` on a folder of flow files. Errors: when it does not come to run. */
export async function startSettableHub(folder: string, clock: SettableClock): Promise<SettableHub> {
  const main = join(thisTree, 'lib', 'main.ts');
  const args = [main, 'run', folder, '--log-format', 'json', '--no-warm-up', '--no-watch'];
  const child = spawn(...dependent(process.execPath, args), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DISPLAY: '',
      LD_PRELOAD: libfaketime(),
      FAKETIME_TIMESTAMP_FILE: clock.path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
  });
  const exited = once(child, 'exit');
  const log: LogEntry[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(JSON.parse(line) as LogEntry));
  const port = () => log.find((entry) => entry.port !== undefined)?.port;
  const isRunning = () => {
    if (child.exitCode !== null) throw new Error(`the hub has ended: ${log.map(({ msg }) => msg).join('; ')}`);
    return port() !== undefined && log.some(({ rules }) => rules !== undefined);
  };
  await untilSo('the hub to run', isRunning, { deadlineMs, everyMs: 20 });
  return {
    process: child,
    port: port()!,
    log,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
