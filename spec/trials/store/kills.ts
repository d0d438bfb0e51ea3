// npm run trial -- kills: kills a hub with a store at random moments under load, restarts it, and checks its guarantee: every value and
// audit entry older than half a second must be there. Exit status 1 if one is not. Losses after a disk took longer than 300 ms are counted
// separately, since the guarantee excludes such disks.

import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { defineTrial, notify } from '../trial.ts';
import {
  createKilledFolder,
  DiskProbe,
  type KilledHub,
  placeholders,
  roundValues,
  startKilledHub,
} from './killed-hub.ts';
import { checkAudit, checkRestored, type ExpectedState, type Write } from './restored.ts';

/** The promise is made for disks that keep something within this. */
const slowDiskMs = 300;

/** The number of extra starts to try if none could be judged because the disk was slow before each. */
const moreStarts = 8;

const options = {
  kills: ['the number of times that the hub is killed', 1000, 2],
  rate: ['the number of changes per second', 5000, 500],
  parameters: ['the number of parameters that change', 500, 50],
  safe: ['the minimum age of a change at the kill that must be kept, in milliseconds', 500, 1500],
  start: ['the time limit for a start, in milliseconds', 2000, 60_000],
  seed: ['the seed for the times of the kills', 1],
} as const;

export const trial = defineTrial({
  about: 'kills a hub with a store under load: all values and audit entries older than half a second must be kept',
  options,
  run: (numbers, { isShort }) => run(numbers, isShort),
});

async function run(numbers: Readonly<Record<keyof typeof options, number>>, isQuick: boolean): Promise<boolean> {
  const { kills, rate, parameters, safe: safeMs, start, seed } = numbers;
  const random = new Random(seed, 0);
  const folder = await createKilledFolder(parameters);
  const results: KillResult[] = [];
  let next: KillResult['next'] = { expected: new Map(), noted: [] };
  const counts = { failed: 0, excused: 0, judged: 0 };
  let isDiskSlow = false;
  const disk = await DiskProbe.start(folder.path);
  try {
    for (let number = 1; number <= kills || (counts.judged === 0 && number <= kills + moreStarts); number++) {
      const loadMs = safeMs + 200 + random.below(1300);
      const isJudged = !isDiskSlow && next.expected.size > 0 && next.noted.length > 0;
      const result = await kill({
        folder: folder.path,
        parameters,
        rate,
        loadMs,
        safeMs,
        ...next,
        round: number,
        disk,
        isQuick,
      });
      results.push(result);
      ({ next } = result);
      const late = result.startMs > start ? [`it started in ${result.startMs.toFixed(0)} ms`] : [];
      if (late.length > 0 || (result.mistakes.length > 0 && !isDiskSlow)) counts.failed++;
      else if (result.mistakes.length > 0) counts.excused++;
      if (isJudged) counts.judged++;
      const why = isDiskSlow ? ', after a disk that was slow' : '';
      for (const mistake of [...result.mistakes, ...late].slice(0, 5)) notify(`kill ${number}${why}: ${mistake}`);
      isDiskSlow = result.diskMs > slowDiskMs;
      if (number % 20 === 0) notify(summary(results, counts));
    }
    notify(summary(results, counts));
    if (counts.judged === 0) notify('the disk was slow before each start: none could be judged');
  } finally {
    await disk.stop();
    await folder.remove();
  }
  return counts.failed === 0 && counts.judged > 0;
}

interface Counts {
  readonly failed: number;
  readonly judged: number;
  readonly excused: number;
}

function summary(results: readonly KillResult[], { failed, excused, judged }: Counts): string {
  const most = (of: (result: KillResult) => number) => Math.max(...results.map(of)).toFixed(0);
  const checked = results.reduce((sum, { checked }) => sum + checked, 0);
  const noted = results.reduce((sum, { noted }) => sum + noted, 0);
  const merged = results.reduce((sum, { merged }) => sum + merged, 0);
  const changes = results.reduce((sum, { changes }) => sum + changes, 0);
  return [
    `${results.length} kills, ${judged} starts judged, ${failed} of them with a mistake, ${excused} more after a disk that took over ${slowDiskMs} ms`,
    `${changes} changes, ${checked} old values were looked for`,
    `${noted} old changes were looked for in the audit, where ${merged} entries count several`,
    `slowest start ${most(({ startMs }) => startMs)} ms, slowest restore ${most(({ restoreMs }) => restoreMs)} ms, slowest disk ${most(({ diskMs }) => diskMs)} ms`,
  ].join('; ');
}

const tickMs = 5;
/** What clears away how long an echo takes at the end; changes that it tells of later were too young. */
const lastEchoMs = 50;

/** `round` counts from 1. */
export interface KillTask extends ExpectedState {
  readonly rate: number;
  readonly loadMs: number;
  /** What is older than this at the kill has to be there afterwards. */
  readonly safeMs: number;
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
  const { folder, parameters, rate, loadMs, safeMs, expected, noted, round, disk, isQuick } = task;
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

/** When the hub reported the value of a parameter. */
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
