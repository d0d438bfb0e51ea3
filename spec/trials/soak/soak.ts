// npm run trial -- soak: runs a hub under load for an hour. A thousand dashboards, one in 20 of which reads nothing for most of each
// minute, show parameters that change 50,000 times a second; one rule loops, another fails, flow files are saved each minute, the process
// of a keyboard dies again and again, and halfway through the disk of the store is full. At the end all dashboards must have the newest
// values, also after a restart, memory must be back at its level after ten minutes, and no more files may be open. Prints a table; exit
// status 1 if a check fails.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { AskedHub } from '../../support/asked-hub.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import { summarize } from '../../support/statistics.ts';
import { dependent } from '../../support/system/dependent.ts';
import { busyMsOfAll, openDescriptorsOf, waitedMs } from '../../support/system/process-usage.ts';
import { onSmallDisk } from '../../support/system/small-disk.ts';
import {
  type LogEntry,
  type ServerProcess,
  startHub,
  startTask,
  type TaskProcess,
} from '../../support/system/task-process.ts';
import { memoryOf, tellingMemory } from '../../support/system/used-memory.ts';
import { defineTrial, notify } from '../trial.ts';
import type { SoakLook, SoakTask } from './load.ts';
import { copies, factors, type SoakedFlow, soakedFlow, type TroubleCounts, Troubles } from './troubles.ts';

const options = {
  minutes: ['how long the trial runs, in minutes', 60, 1 / 30],
  dashboards: ['the number of dashboards', 1000, 4],
  stalled: ['the percentage of dashboards that read nothing for 45 of every 60 seconds', 5, 25],
  parameters: ['the number of parameters that the dashboards show', 1000, 100],
  changes: ['the number of changes per second', 50_000, 200],
  rate: ['the number of messages per second to each dashboard', 10],
} as const;
type Numbers = Readonly<Record<keyof typeof options, number>>;
const diskBytes = 64 * 1024 * 1024;

export const trial = defineTrial({
  about:
    'runs a hub for an hour under load, with loops, failures, reloads, kills and a full disk: memory must not grow',
  options,
  run: (numbers, { isShort }) => run(numbers, isShort),
});

async function run(numbers: Numbers, isShort: boolean): Promise<boolean> {
  let soaked: Soaked | undefined;
  const work = async (folder: string, disk?: string) => {
    soaked = await soakAndTell(numbers, folder, disk, isShort);
    return [];
  };
  const done = await onSmallDisk({}, work, diskBytes);
  if ('reason' in done) {
    notify(`The disk is never full: ${done.reason}`);
    await inTemporaryFolder('soak', work);
  }
  const { counts, mark, end, hasKeyboard } = soaked!;
  const { kicks, reloads, deaths, fullMs } = counts;
  // In a short time memory still grows to what it needs.
  const mistakes = [...soaked!.mistakes, ...(isShort ? [] : mistakesOf(mark, end))];
  if (kicks === 0 || reloads === 0) mistakes.push('expected loops and reloads, there were none');
  notify('');
  notify(`${kicks} loops and failures, ${reloads} reloads, the disk full for ${(fullMs / 1000).toFixed(0)} s`);
  notify(hasKeyboard ? `the process of the keyboard died ${deaths} times` : 'no keyboard: it needs Xvfb');
  for (const [what, at] of Object.entries({ mark, end }))
    notify(
      `${what}, after ${at.minutes.toFixed(1)} minutes: ${mebibytes(at.residentBytes)} MiB resident, ${mebibytes(at.heapBytes)} MiB heap, ${at.descriptors} descriptors`,
    );
  for (const mistake of mistakes) notify(`**${mistake}**`);
  notify(mistakes.length === 0 ? 'All of it holds.' : `${mistakes.length} mistakes`);
  return mistakes.length === 0;
}

function soakAndTell(numbers: Numbers, folder: string, disk: string | undefined, isShort: boolean): Promise<Soaked> {
  const { minutes, dashboards, stalled, parameters, changes, rate } = numbers;
  const lengthMs = minutes * 60_000;
  const cycleMs = Math.min(60_000, lengthMs / 4);
  let before: Sample | undefined;
  notify(
    '| minutes | from write to arrival p50, p99, ms | values/s shown | resident MiB | heap MiB | descriptors | hub busy, waited for a core, % |',
  );
  notify('|---:|---:|---:|---:|---:|---:|---:|');
  return soak({
    ...{ folder, disk, lengthMs, reloadMs: cycleMs, isQuick: isShort },
    task: {
      ...{ dashboards, parameters, rate },
      stalled: Math.ceil((dashboards * stalled) / 100),
      stallMs: cycleMs * 0.75,
      readMs: cycleMs * 0.25,
      changesPerSecond: changes / parameters,
    },
    notify(sample, { p50, p99, values }) {
      const seconds = (sample.minutes - (before?.minutes ?? 0)) * 60;
      const share = (ms: number, was: number) => ((ms - was) / seconds / 10).toFixed(0);
      const worked = before && `${share(sample.busyMs, before.busyMs)}, ${share(sample.waitedMs, before.waitedMs)}`;
      const { residentBytes, heapBytes, descriptors } = sample;
      const cells = [
        ...[
          sample.minutes.toFixed(1),
          [p50, p99].map((ms) => ms?.toFixed(0) ?? 'none').join(', '),
          (values / seconds).toFixed(0),
        ],
        ...[mebibytes(residentBytes), mebibytes(heapBytes), descriptors, worked ?? ''],
      ];
      notify(`| ${cells.join(' | ')} |`);
      before = sample;
    },
  });
}

export interface SoakOptions {
  readonly folder: string;
  /** Undefined: none can be full. */
  readonly disk: string | undefined;
  readonly lengthMs: number;
  readonly task: Omit<SoakTask, 'port'>;
  readonly reloadMs: number;
  /** The hubs do not warm up. */
  readonly isQuick?: boolean;
  /** Receives each sample as it is taken. */
  notify(sample: Sample, look: SoakLook): void;
}

export interface Soaked {
  /** What did not hold, but for memory and descriptors: those are held against each other by `mistakesOf`. */
  readonly mistakes: readonly string[];
  readonly counts: TroubleCounts;
  readonly mark: Mark;
  readonly end: Mark;
  readonly hasKeyboard: boolean;
}

const minuteMs = 60_000;
/** Memory at the end is compared with that after ten minutes, or after a third of a shorter run. */
const markMs = 10 * minuteMs;
/** So many samples lie around the mark, and so many before the end. */
const around = 5;
/** To collect garbage takes the hub some time, so it is seldom done. */
const mostSamples = 60;
const leastBetweenMs = 2500;
const stateMs = 60_000;
const lookMs = 100;
const mostCuts = 10;

export async function soak({ folder, disk, lengthMs, task, reloadMs, isQuick, notify }: SoakOptions): Promise<Soaked> {
  const display = await startDisplay();
  const flow: SoakedFlow = { parameters: task.parameters, factor: factors[0], hasKeyboard: display !== undefined };
  const cuts: string[] = [];
  const note = ({ limit, client }: LogEntry) => {
    if (limit !== undefined && cuts.length < mostCuts) cuts.push(`${limit} of ${client}`);
  };
  const options = { hubFolder: thisTree, profileFolder: undefined, isQuick };
  const start = () => startHub(soakedFlow(flow), folder, options, tellingMemory, note);
  let hub: ServerProcess | undefined;
  let load: TaskProcess | undefined;
  let troubles: Troubles | undefined;
  try {
    hub = await start();
    const asked = new AskedHub(hub.port);
    load = startTask('spec/trials/soak/load.ts', { ...task, port: hub.port } satisfies SoakTask);
    await load.answer();
    troubles = new Troubles({ hub: asked, pid: hub.pid, folder, flow, reloadMs, disk });
    troubles.start();
    const { samples, mark } = await watch(hub.pid, load, troubles, lengthMs, notify);
    await troubles.end();
    load.process.send('end');
    await load.answer();
    const end = medianOf(samples.slice(-around));
    const mistakes = [...troubles.mistakes, ...(await stateMistakes(asked, flow))];
    const newest = await asked.values('plant');
    await hub.stop();
    hub = undefined;
    hub = await start();
    const kept = await new AskedHub(hub.port).values('plant');
    if (JSON.stringify(kept) !== JSON.stringify(newest)) mistakes.push('expected the store to have the newest values');
    return { mistakes, counts: troubles.counts, mark, end, hasKeyboard: flow.hasKeyboard };
  } catch (error) {
    throw cuts.length === 0
      ? error
      : new Error(`${messageOf(error)}; limits that clients exceeded: ${cuts.join(', ')}`);
  } finally {
    if (load?.process.connected) load.process.disconnect();
    await troubles?.end();
    display?.kill();
    await hub?.stop(true);
  }
}

/** Samples evenly; the disk is full for a sixth of the time, in the middle. */
async function watch(
  pid: number,
  load: TaskProcess,
  troubles: Troubles,
  lengthMs: number,
  notify: SoakOptions['notify'],
): Promise<{ samples: readonly Sample[]; mark: Mark }> {
  const samples: Sample[] = [];
  const samplesInAll = Math.max(2 * around, Math.min(mostSamples, Math.floor(lengthMs / leastBetweenMs)));
  const startMs = performance.now();
  let filling: Promise<void> | undefined;
  for (let number = 1; number <= samplesInAll; number++) {
    await after(Math.max(0, startMs + (number / samplesInAll) * lengthMs - performance.now()));
    if (number > samplesInAll / 2) filling ??= troubles.fillDisk(lengthMs / 6);
    load.process.send('look');
    const look = await load.answer<SoakLook>();
    const sample = await takeSample(pid, (performance.now() - startMs) / minuteMs);
    samples.push(sample);
    notify(sample, look);
  }
  await filling;
  const marked = Math.round(samplesInAll * Math.min(markMs / lengthMs, 1 / 3));
  return { samples, mark: medianOf(samples.slice(Math.max(0, marked - 3), marked + 2)) };
}

/** What is not as it should be once nothing goes wrong any more. */
async function stateMistakes(hub: AskedHub, { hasKeyboard }: SoakedFlow): Promise<string[]> {
  const mistakes: string[] = [];
  const expect = async (what: string, expected: string, read: () => Promise<string>) => {
    let found = '';
    const isAsExpected = async () => {
      found = await read();
      return found === expected;
    };
    if (!(await becomesSo(isAsExpected, { deadlineMs: stateMs, everyMs: lookMs })))
      mistakes.push(`${what}: expected ${expected}, got ${found}`);
  };
  await expect('the loop', 'limited', () => hub.ruleState('loop there'));
  await expect('the rule that fails', 'failing', () => hub.ruleState('fails'));
  await expect('a copy', 'running', () => hub.ruleState('copy 0'));
  for (const id of ['store', ...(hasKeyboard ? ['keys'] : [])])
    await expect(`connection ${id}`, 'running', async () => (await hub.connection(id)).state);
  const sources = (await hub.values('plant')).slice(0, copies);
  await expect('copies', JSON.stringify(sources), async () => JSON.stringify(await hub.values('copy')));
  return mistakes;
}

/** An X server without a screen, for the keyboard; undefined where there is none (`apt-get install xvfb`). */
async function startDisplay(): Promise<ChildProcess | undefined> {
  const options = ['-displayfd', '3', '-screen', '0', '320x240x8', '-nolisten', 'tcp', '-noreset'];
  const server = spawn(...dependent('Xvfb', options), { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const ended = once(server, 'exit').then(
    () => undefined,
    () => undefined,
  );
  const number = await Promise.race([once(server.stdio[3]!, 'data'), ended]);
  if (number === undefined) return undefined;
  process.env.DISPLAY = `:${String(number[0]).trim()}`;
  return server;
}

export interface Sample {
  readonly minutes: number;
  /** After garbage is collected. */
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  /** Milliseconds that the hub has worked since its start. */
  readonly busyMs: number;
  /** How long it could have worked and had to wait for a core. */
  readonly waitedMs: number;
}

/** What is held against each other. */
export type Mark = Omit<Sample, 'busyMs' | 'waitedMs'>;

/** Memory may be so many times what it was after ten minutes. */
const mostGrowth = 1.05;
/** So many files and sockets may be open more or less: those of requests under way, and of SQLite. */
const descriptorSlack = 8;

export async function takeSample(pid: number, minutes: number): Promise<Sample> {
  const { residentBytes, heapBytes } = await memoryOf(pid);
  const descriptors = openDescriptorsOf(pid);
  return { minutes, residentBytes, heapBytes, descriptors, busyMs: busyMsOfAll(pid), waitedMs: waitedMs(pid) };
}

/** What a mark is: the median of some samples, which lie around it. */
export function medianOf(samples: readonly Sample[]): Mark {
  const median = (of: (sample: Sample) => number) => summarize(samples.map(of)).median;
  return {
    minutes: median(({ minutes }) => minutes),
    residentBytes: median(({ residentBytes }) => residentBytes),
    heapBytes: median(({ heapBytes }) => heapBytes),
    descriptors: median(({ descriptors }) => descriptors),
  };
}

/** What has grown from the mark to the end. */
export function mistakesOf(mark: Mark, end: Mark): string[] {
  const grown = (what: string, was: number, is: number) =>
    is <= was * mostGrowth
      ? []
      : [`${what}: expected at most ${mostGrowth} times ${mebibytes(was)} MiB, got ${mebibytes(is)}`];
  return [
    ...grown('resident memory', mark.residentBytes, end.residentBytes),
    ...grown('heap', mark.heapBytes, end.heapBytes),
    ...(Math.abs(end.descriptors - mark.descriptors) <= descriptorSlack
      ? []
      : [`descriptors: expected ${mark.descriptors}, give or take ${descriptorSlack}, got ${end.descriptors}`]),
  ];
}

export function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
