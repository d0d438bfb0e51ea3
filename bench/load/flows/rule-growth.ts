// What a rule costs in a small installation and in a large one. The control is as many rules in many small hubs: they look at about
// as much memory, so that the caches of the processor take about as much from them; how many rules one hub has differs. All of it runs in
// one process, in turn, and only processor time counts, so that it does not matter what else the machine does.

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
  /** How many runs of rules are measured in each turn. */
  readonly runs: number;
  readonly turns: number;
}

export interface RuleGrowth {
  /** Nanoseconds for each run of a rule among many rules. */
  readonly hubNs: number;
  /** The same in small hubs that have as many rules together. */
  readonly controlNs: number;
  readonly bareNs: number;
  /** How many times as much it costs among many rules as among few. */
  readonly hubGrowth: number;
  readonly controlGrowth: number;
  readonly bareGrowth: number;
  /** Microseconds for each rule, from the flow file to a hub that runs: in a hub of few, and in one of many. */
  readonly fewStartUs: number;
  readonly startUs: number;
  /** The same for a reload of one rule that has changed. */
  readonly fewReloadUs: number;
  readonly reloadUs: number;
}

/** What each round writes. */
interface Written {
  readonly writes: readonly string[];
  write(address: string, value: number): void;
}

/** A hub that runs rules. */
interface Installation extends Written {
  readonly startUs: number;
  /** Reloads with the rule in the middle changed, several times; returns the microseconds for each rule. */
  reload(): Promise<number>;
  stop(): Promise<void>;
}

const origin: Origin = { kind: 'client', name: 'bench' };

/** Before it is measured each rule runs so often: V8 has compiled it then, and its trace is full. */
const warmUpRounds = 60;

/** How often a small hub is started, and a hub is reloaded; the median counts. */
const starts = 5;
const reloads = 3;

/** What so many rules are written to, and the nanoseconds of a run of one, turn by turn. */
interface Measured {
  readonly rules: number;
  readonly installations: readonly Written[];
  readonly ns: number[];
}

/** Measures a shape. */
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

/** Starts a small hub several times; it runs in the end. */
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

/** Measures all in turn, after one turn that does not count; returns the nanoseconds of a run of each, the medians of the turns. */
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

/** Starts a hub with so many rules, of which `first` is the number of the first one among those of several hubs. */
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

/** Returns what writes to an address. */
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
