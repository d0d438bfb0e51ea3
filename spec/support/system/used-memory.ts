// What a process holds in memory, after garbage is collected: this one, or one that was started with `tellingMemory`.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { untilSo } from '../deadline.ts';

export interface UsedMemory {
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** The options of Node for a server that is asked by `memoryOf`. */
export const tellingMemory = ['--import', join(import.meta.dirname, 'tell-memory.ts')] as const;

const tellDeadlineMs = 10_000;
const lookEveryMs = 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collects garbage, more than once since finalizers free more. */
export function collectGarbage(): void {
  for (let times = 0; times < 3; times++) collect();
}

/** Collects garbage and tells what is left. */
export function usedMemory(): UsedMemory {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, residentBytes: rss };
}

/** What a process holds in memory as the system sees it (Linux), garbage and all. */
export function residentBytesOf(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kibibytes === undefined) throw new Error(`expected process ${pid} to hold memory`);
  return Number(kibibytes) * 1024;
}

/** Where a process tells of its memory. */
export function memoryFileOf(pid: number): string {
  return join(tmpdir(), `patchbay-bench-memory-${pid}.json`);
}

/** Asks a process that was started with `tellingMemory`. Errors: when it does not answer. */
export async function memoryOf(pid: number): Promise<UsedMemory> {
  const file = memoryFileOf(pid);
  process.kill(pid, 'SIGUSR2');
  const looks = { deadlineMs: tellDeadlineMs, everyMs: lookEveryMs };
  await untilSo(`process ${pid} to tell of its memory`, () => existsSync(file), looks);
  const memory = JSON.parse(readFileSync(file, 'utf8')) as UsedMemory;
  rmSync(file);
  return memory;
}
