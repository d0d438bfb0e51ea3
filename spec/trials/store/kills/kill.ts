// One kill: a hub is started, what it has restored is looked at, it is put under load, and killed in the middle of it.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { checkRestored, type ExpectedState } from './check.ts';
import { checkAudit, type Write } from './check-audit.ts';
import type { DiskProbe } from './disk-probe.ts';
import { placeholders, roundValues } from './flow.ts';
import { type KilledHub, startKilledHub } from './killed-hub.ts';

/** What is older than this at the kill has to be there afterwards. */
const safeMs = 500;
const tickMs = 5;
/** What clears away how long an echo takes at the end; changes that it tells of later were too young. */
const lastEchoMs = 50;

/** `round` counts from 1. */
export interface KillTask extends ExpectedState {
  readonly rate: number;
  readonly loadMs: number;
  /** What the run before the last kill has written and its audit has to have. */
  readonly noted: readonly Write[];
  readonly disk: DiskProbe;
  /** The hub does not warm up. */
  readonly isQuick?: boolean;
}

export interface KillResult {
  readonly mistakes: readonly string[];
  readonly startMs: number;
  readonly restoreMs: number;
  readonly changes: number;
  /** How many values were looked for after the start. */
  readonly checked: number;
  /** How many entries of the audit were looked for, and how many there counted several changes. */
  readonly noted: number;
  readonly merged: number;
  /** How long the disk took to keep something at most while the hub was under load, in milliseconds. */
  readonly diskMs: number;
  /** What the next start has to know. */
  readonly next: Pick<KillTask, 'expected' | 'noted'>;
}

/** Below this rate no second has so many changes that the audit counts them together. */
const exactRate = 2500;

export async function kill(task: KillTask): Promise<KillResult> {
  const { folder, parameters, rate, loadMs, expected, noted, round, disk, isQuick } = task;
  const hub = await startKilledHub(folder, isQuick);
  try {
    const mistakes = await checkRestored(hub, { folder, parameters, expected, round });
    const audit = checkAudit(folder, noted, (round - 1) * roundValues, rate <= exactRate);
    mistakes.push(...audit.mistakes);
    disk.takeSlowestMs();
    const seen = await load(hub, { parameters, rate, loadMs, first: round * roundValues });
    const killedAt = performance.now();
    const diskMs = disk.takeSlowestMs();
    hub.process.kill('SIGKILL');
    await once(hub.process, 'exit');
    await after(lastEchoMs);
    const kept = new Map(expected);
    const safe: Write[] = [];
    let changes = 0;
    for (const [address, echoes] of seen) {
      changes += echoes.length;
      const old = echoes.filter(({ at }) => at < killedAt - safeMs);
      for (const { value } of old) safe.push({ address, value });
      if (old.length > 0) kept.set(address, old.at(-1)!.value);
    }
    const { startMs, restoreMs } = hub;
    const counts = { changes, checked: expected.size, noted: noted.length, merged: audit.merged, diskMs };
    return { mistakes, startMs, restoreMs, ...counts, next: { expected: kept, noted: safe } };
  } finally {
    hub.process.kill('SIGKILL');
  }
}

/** When the hub has told that a parameter has a value. */
interface Echo {
  readonly value: number;
  readonly at: number;
}

interface Load {
  readonly parameters: number;
  readonly rate: number;
  readonly loadMs: number;
  /** The first of the values, each of which is greater than the one before. */
  readonly first: number;
}

/** Changes parameters one after another, each to a greater number. */
async function load(hub: KilledHub, { parameters, rate, loadMs, first }: Load): Promise<Map<string, Echo[]>> {
  const seen = new Map<string, Echo[]>();
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws?filter=${encodeURIComponent('^(desk|file)/')}`);
  await once(socket, 'open');
  socket.addEventListener('message', ({ data }) => {
    const { p, v } = JSON.parse(data as string) as { p: string; v: string };
    let echoes = seen.get(p);
    if (echoes === undefined) {
      echoes = [];
      seen.set(p, echoes);
    }
    echoes.push({ value: Number(v), at: performance.now() });
  });
  for (const name of placeholders) socket.send(JSON.stringify({ p: `file/${name}`, v: String(first) }));
  const startedAt = performance.now();
  let sent = 0;
  for (let elapsedMs = 0; elapsedMs < loadMs; elapsedMs = performance.now() - startedAt) {
    for (const due = (elapsedMs * rate) / 1000; sent < due; sent++)
      socket.send(JSON.stringify({ p: `desk/p${sent % parameters}`, v: first + sent }));
    await after(tickMs);
  }
  return seen;
}
