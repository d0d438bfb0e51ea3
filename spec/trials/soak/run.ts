// Soaks a hub: load, troubles, samples, and what must hold in the end.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import { AskedHub } from '../../support/asked-hub.ts';
import { becomesSo } from '../../support/load/deadline.ts';
import { thisTree } from '../../support/repository/this-tree.ts';
import { dependent } from '../../support/system/dependent.ts';
import {
  type LogEntry,
  type ServerProcess,
  startHub,
  startTask,
  type TaskProcess,
} from '../../support/system/task-process.ts';
import { tellingMemory } from '../../support/system/used-memory.ts';
import { copies, factors, type SoakedFlow, soakedFlow } from './flow.ts';
import { type Mark, medianOf, type Sample, takeSample } from './judge.ts';
import type { SoakLook, SoakTask } from './load.ts';
import { type TroubleCounts, Troubles } from './troubles.ts';

export interface SoakOptions {
  readonly folder: string;
  /** Undefined: none can be full. */
  readonly disk: string | undefined;
  readonly lengthMs: number;
  readonly task: Omit<SoakTask, 'port'>;
  readonly reloadMs: number;
  /** The hubs do not warm up. */
  readonly isQuick?: boolean;
  /** Hears of each sample as it is taken. */
  tell(sample: Sample, look: SoakLook): void;
}

export interface Soaked {
  /** What did not hold, but for memory and descriptors: those are held against each other by `judge.ts`. */
  readonly mistakes: readonly string[];
  readonly counts: TroubleCounts;
  readonly mark: Mark;
  readonly end: Mark;
  readonly hasKeyboard: boolean;
}

const minuteMs = 60_000;
/** Memory at the end is held against that after ten minutes, or after a third of a shorter time. */
const markMs = 10 * minuteMs;
/** So many samples lie around the mark, and so many before the end. */
const around = 5;
/** To collect garbage takes the hub some time, so it is seldom done. */
const mostSamples = 60;
const leastBetweenMs = 2500;
const stateMs = 60_000;
const lookMs = 100;
const mostCuts = 10;

export async function soak({ folder, disk, lengthMs, task, reloadMs, isQuick, tell }: SoakOptions): Promise<Soaked> {
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
    const { samples, mark } = await watch(hub.pid, load, troubles, lengthMs, tell);
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
      : new Error(`${messageOf(error)}; limits that clients went past: ${cuts.join(', ')}`);
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
  tell: SoakOptions['tell'],
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
    tell(sample, look);
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
