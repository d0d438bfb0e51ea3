// A hub that is going to be killed, as its users run it.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { within } from '../../../support/load/deadline.ts';
import { thisTree } from '../../../support/repository/this-tree.ts';
import { dependent } from '../../../support/system/dependent.ts';

const main = join(thisTree, 'lib', 'main.ts');
const deadlineMs = 60_000;

export interface KilledHub {
  readonly process: ChildProcess;
  readonly port: number;
  /** From the start of the process until the hub says that it runs. */
  readonly startMs: number;
  /** How long the values took of that. */
  readonly restoreMs: number;
  /** Warnings and errors of its log, but for the one that it was killed, and those that the disk is slow, which it cannot help. */
  readonly complaints: readonly string[];
}

interface Entry {
  readonly level: number;
  readonly msg: string;
  readonly port?: number;
  readonly ms?: number;
}

const warning = 40;
/** What the log of a hub with a store begins with after a kill. */
const afterKill = 'the hub was restarted: ';
const ofSlowDisk = ': the disk is slow';

/** Starts the flow of a folder; a hub that is quick does not warm up. Errors: when it does not come to run. */
export async function startKilledHub(folder: string, isQuick = false): Promise<KilledHub> {
  const startedAt = performance.now();
  const settings = ['--log-format', 'json', '--no-watch', ...(isQuick ? ['--no-warm-up'] : [])];
  const args = [main, 'run', join(folder, 'flow.json5'), ...settings];
  const child = spawn(...dependent(process.execPath, args), { stdio: ['ignore', 'pipe', 'inherit'] });
  const complaints: string[] = [];
  let port = 0;
  let restoreMs = Number.NaN;
  const running = Promise.withResolvers<number>();
  child.once('exit', (status, signal) => running.reject(new Error(`the hub ended with ${status ?? signal}`)));
  createInterface(child.stdout!).on('line', (line) => {
    const entry = JSON.parse(line) as Entry;
    const isExpected = entry.msg.startsWith(afterKill) || entry.msg.endsWith(ofSlowDisk);
    if (entry.level >= warning && !isExpected) complaints.push(entry.msg);
    if (entry.msg.startsWith('listens on ')) port = entry.port!;
    else if (entry.msg.startsWith('restored ')) restoreMs = entry.ms!;
    else if (/^patchbay \S+ runs /.test(entry.msg)) running.resolve(performance.now() - startedAt);
  });
  const startMs = await within(deadlineMs, 'the hub to run', running.promise);
  return { process: child, port, startMs, restoreMs, complaints };
}
