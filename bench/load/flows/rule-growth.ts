// What a rule costs in a small installation and in a large one. The control runs the same total number of rules in many small hubs: its
// working set is about as large, so CPU caches cost it about as much, and only the number of rules per hub differs. Everything runs in turn
// in one process, and only CPU time counts, so other load on the machine does not matter.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BehaviorSubject, scan } from 'rxjs';
import type { Hub } from '../../../lib/hub/index.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import { inTemporaryFolder } from '../../../spec/support/folder.ts';
import { silentLog } from '../../../spec/support/silent-log.ts';
import { summarize } from '../../../spec/support/statistics.ts';
import { runTask } from '../../../spec/support/system/task.ts';
import { importHub } from './hub-module.ts';
import { type Rule, type RuleShape, type RuleShapeName, ruleShapes } from './rule-shapes.ts';

export interface RuleGrowthTask {
  readonly hubFolder: string;
  readonly shape: RuleShapeName;
  readonly few: number;
  readonly many: number;
  /** Number of rule runs measured in each turn. */
  readonly runs: number;
  readonly turns: number;
}

export interface RuleGrowth {
  /** Nanoseconds per run of a rule among many rules. */
  readonly hubNs: number;
  /** The same in small hubs that together have as many rules. */
  readonly controlNs: number;
  readonly bareNs: number;
  /** Ratio of the cost among many rules to the cost among few. */
  readonly hubGrowth: number;
  readonly controlGrowth: number;
  readonly bareGrowth: number;
  /** Microseconds per rule, from the flow file to a running hub: with few rules, and with many. */
  readonly fewStartUs: number;
  readonly startUs: number;
  /** The same for a reload after one rule has changed. */
  readonly fewReloadUs: number;
  readonly reloadUs: number;
}

/** The addresses that each round writes, and how to write them. */
interface Written {
  readonly writes: readonly string[];
  write(address: string, value: number): void;
}

/** A hub that runs rules. */
interface Installation extends Written {
  readonly startUs: number;
  /** Reloads several times, each with a change to the middle rule; returns the microseconds per rule. */
  reload(): Promise<number>;
  stop(): Promise<void>;
}

const origin: Origin = { kind: 'client', name: 'bench' };

/** Each rule runs this often before the measurement: by then V8 has compiled it, and its trace is full. */
const warmUpRounds = 60;

/** How often a small hub is started, and any hub is reloaded; the median counts. */
const starts = 5;
const reloads = 3;

/** The installations with this total number of rules, and the nanoseconds per run of a rule in each turn. */
interface Measured {
  readonly rules: number;
  readonly installations: readonly Written[];
  readonly ns: number[];
}

/** Measures one shape of rules. */
export function measureRuleGrowth(task: RuleGrowthTask): Promise<RuleGrowth> {
  return inTemporaryFolder('rules', (folder) => measureIn(folder, task));
}

async function measureIn(folder: string, task: RuleGrowthTask): Promise<RuleGrowth> {
  const { shape, few, many } = task;
  const { hub: small, startUs: fewStartUs } = await startAgain(task, folder);
  const large = await startRules(task, many, folder);
  const manySmall: Installation[] = [];
  for (let first = 0; first + few <= many; first += few) manySmall.push(await startRules(task, few, folder, first));
  const bareOf = (rules: number, { writes }: Installation) => ({
    writes,
    write: createBareRules(ruleShapes[shape](rules)),
  });
  const [hubFew, hubNs, controlNs, bareFew, bareNs] = measureTurns(task, [
    { rules: few, installations: [small], ns: [] },
    { rules: many, installations: [large], ns: [] },
    { rules: few * manySmall.length, installations: manySmall, ns: [] },
    { rules: few, installations: [bareOf(few, small)], ns: [] },
    { rules: many, installations: [bareOf(many, large)], ns: [] },
  ]);
  const [fewReloadUs, reloadUs] = [await small.reload(), await large.reload()];
  await Promise.all([small, large, ...manySmall].map((hub) => hub.stop()));
  return {
    hubNs: hubNs!,
    controlNs: controlNs!,
    bareNs: bareNs!,
    hubGrowth: hubNs! / hubFew!,
    controlGrowth: controlNs! / hubFew!,
    bareGrowth: bareNs! / bareFew!,
    fewStartUs,
    startUs: large.startUs,
    fewReloadUs,
    reloadUs,
  };
}

/** Starts a small hub several times; the last one keeps running. */
async function startAgain(task: RuleGrowthTask, folder: string): Promise<{ hub: Installation; startUs: number }> {
  let hub = await startRules(task, task.few, folder);
  const times: number[] = [];
  for (let start = 0; start < starts; start++) {
    await hub.stop();
    hub = await startRules(task, task.few, folder);
    times.push(hub.startUs);
  }
  return { hub, startUs: summarize(times).median };
}

/** Measures all in turn, after one turn that does not count; returns the nanoseconds per rule run of each, as the median of the turns. */
function measureTurns({ runs, turns }: RuleGrowthTask, measured: readonly Measured[]): readonly number[] {
  let value = 1;
  for (let turn = -1; turn < turns; turn++)
    for (const { rules, installations, ns } of measured) {
      const rounds = Math.ceil(runs / rules);
      const count = turn < 0 ? Math.max(rounds, warmUpRounds) : rounds;
      const before = process.cpuUsage().user;
      for (let round = 0; round < count; round++) {
        value++;
        for (const { write, writes } of installations) for (const address of writes) write(address, value);
      }
      if (turn >= 0) ns.push(((process.cpuUsage().user - before) * 1000) / (count * rules));
    }
  return measured.map(({ ns }) => summarize(ns).median);
}

/** Starts a hub with `count` rules; `first` is the number of its first rule where several hubs share the rules. */
async function startRules(
  { hubFolder, shape }: RuleGrowthTask,
  count: number,
  folder: string,
  first = 0,
): Promise<Installation> {
  const { connections, rules, written = rules, writes } = ruleShapes[shape](count, first) as RuleShape;
  const file = join(folder, `${count}.json5`);
  const save = (flow: readonly object[]) => writeFile(file, JSON.stringify({ connections, rules: flow }));
  await save(written);
  const { startHub } = await importHub(hubFolder);
  const usPerRule = async (work: () => Promise<unknown>) => {
    const before = process.cpuUsage().user;
    await work();
    return (process.cpuUsage().user - before) / count;
  };
  let hub!: Hub;
  const startUs = await usPerRule(async () => {
    hub = await startHub({ paths: [file], log: silentLog });
  });
  return {
    writes,
    startUs,
    write: (address: string, value: number) => void hub.write(address, value, origin),
    async reload() {
      const changed = written.length >> 1;
      const times: number[] = [];
      for (let reload = 0; reload < reloads; reload++) {
        await save(written.map((rule, place) => (place === changed ? { ...rule, enabled: reload % 2 === 1 } : rule)));
        times.push(await usPerRule(() => hub.reload()));
      }
      return summarize(times).median;
    },
    stop: () => hub.stop(),
  };
}

type Subjects = (address: string) => BehaviorSubject<number>;

/** Starts the rules without a hub, on bare RxJS subjects; returns the function that writes to an address. */
function createBareRules({ rules }: RuleShape): (address: string, value: number) => void {
  const subjects = new Map<string, BehaviorSubject<number>>();
  const subjectOf: Subjects = (address) => {
    const known = subjects.get(address) ?? new BehaviorSubject(1);
    subjects.set(address, known);
    return known;
  };
  for (const rule of rules) start(rule, subjectOf);
  return (address, value) => subjects.get(address)!.next(value);
}

function start({ from, when, map = '', pipe, to }: Rule, subjectOf: Subjects): void {
  const sources = (typeof from === 'string' ? [from] : Object.values<string>(from)).map(subjectOf);
  const destinations = (typeof to === 'string' ? [to] : to).map(subjectOf);
  const hasNames = !(typeof from === 'string' || Array.isArray(from));
  const read = hasNames
    ? sources
    : Array.from(map.matchAll(/param\('([^']+)'\)/g), ([, address]) => subjectOf(address!));
  const hasSum = pipe !== undefined;
  const run = (value: number) => {
    if (when !== undefined && value <= 0) return;
    let result = value + 1;
    for (const { value: other } of read) result += other;
    for (const destination of destinations) destination.next(result);
  };
  for (const source of sources) (hasSum ? source.pipe(scan((sum, value) => sum + value, 0)) : source).subscribe(run);
}

if (import.meta.main) await runTask(measureRuleGrowth);
