// One kill: a hub is started, what it has restored is looked at, it is put under load, and killed in the middle of it.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { checkRestored, type ExpectedState } from './check.ts';
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
}

export interface KillResult {
  readonly mistakes: readonly string[];
  readonly startMs: number;
  readonly restoreMs: number;
  readonly changes: number;
  /** How many values were looked for after the start. */
  readonly checked: number;
  /** What the next start has to know. */
  readonly expected: Map<string, number>;
}

export async function kill({ folder, parameters, rate, loadMs, expected, round }: KillTask): Promise<KillResult> {
  const hub = await startKilledHub(folder);
  try {
    const mistakes = await checkRestored(hub, { folder, parameters, expected, round });
    const seen = await load(hub, { parameters, rate, loadMs, first: round * roundValues });
    const killedAt = performance.now();
    hub.process.kill('SIGKILL');
    await once(hub.process, 'exit');
    await after(lastEchoMs);
    const kept = new Map(expected);
    let changes = 0;
    for (const [address, echoes] of seen) {
      changes += echoes.length;
      const last = echoes.findLast(({ at }) => at < killedAt - safeMs);
      if (last !== undefined) kept.set(address, last.value);
    }
    const { startMs, restoreMs } = hub;
    return { mistakes, startMs, restoreMs, changes, checked: expected.size, expected: kept };
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
