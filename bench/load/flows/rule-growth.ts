// What a rule costs in a small installation and in a large one: hubs and bare rules of both sizes in one process, in turn. Only
// processor time counts, so that it does not matter what else the machine does.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hub } from '../../../lib/hub.ts';
import type { Origin } from '../../../lib/model/parameter.ts';
import { silentLog } from '../silent-log.ts';
import { createBareRules } from './bare-rules.ts';
import { importHub } from './hub-module.ts';
import { type RuleShape, type RuleShapeName, ruleShapes } from './rule-shapes.ts';

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
  readonly bareNs: number;
  /** How many times as much it costs among many rules as among few. */
  readonly hubGrowth: number;
  readonly bareGrowth: number;
  /** Microseconds for each of many rules, from the flow file to a hub that runs, and for a reload of one that has changed. */
  readonly startUs: number;
  readonly reloadUs: number;
  readonly startGrowth: number;
  readonly reloadGrowth: number;
}

const origin: Origin = { kind: 'client', name: 'bench' };

/** Before it is measured each rule runs so often: V8 has compiled it then, and its trace is full. */
const warmUpRounds = 60;

/** How often a small hub is started, and a hub is reloaded; the median counts. */
const starts = 5;
const reloads = 3;

/** Measures a shape. */
export async function measureRuleGrowth(task: RuleGrowthTask): Promise<RuleGrowth> {
  const { shape, few, many, runs, turns } = task;
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-rules-'));
  let small = await startRules(task, few, folder);
  const smallStarts: number[] = [];
  for (let start = 0; start < starts; start++) {
    await small.stop();
    small = await startRules(task, few, folder);
    smallStarts.push(small.startUs);
  }
  const large = await startRules(task, many, folder);
  const rounds = (rules: number) => Math.ceil(runs / rules);
  const subjects = [
    { rules: few, write: small.write, writes: small.writes, ns: [] as number[] },
    { rules: many, write: large.write, writes: large.writes, ns: [] as number[] },
    { rules: few, write: createBareRules(ruleShapes[shape](few)), writes: small.writes, ns: [] as number[] },
    { rules: many, write: createBareRules(ruleShapes[shape](many)), writes: large.writes, ns: [] as number[] },
  ];
  let value = 1;
  for (let turn = -1; turn < turns; turn++)
    for (const { rules, write, writes, ns } of subjects) {
      const count = turn < 0 ? Math.max(rounds(rules), warmUpRounds) : rounds(rules);
      const before = process.cpuUsage().user;
      for (let round = 0; round < count; round++) {
        value++;
        for (const address of writes) write(address, value);
      }
      if (turn >= 0) ns.push(((process.cpuUsage().user - before) * 1000) / (count * rules));
    }
  const [reloadFew, reloadUs] = [await small.reload(), await large.reload()];
  await Promise.all([small.stop(), large.stop(), rm(folder, { recursive: true })]);
  const [hubFew, hubNs, bareFew, bareNs] = subjects.map(({ ns }) => medianOf(ns));
  return {
    hubNs: hubNs!,
    bareNs: bareNs!,
    hubGrowth: hubNs! / hubFew!,
    bareGrowth: bareNs! / bareFew!,
    startUs: large.startUs,
    reloadUs,
    startGrowth: large.startUs / medianOf(smallStarts),
    reloadGrowth: reloadUs / reloadFew,
  };
}

function medianOf(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

async function startRules({ hubFolder, shape }: RuleGrowthTask, count: number, folder: string) {
  const { connections, rules, written = rules, writes } = ruleShapes[shape](count) as RuleShape;
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
    /** Reloads with the rule in the middle changed, several times. */
    async reload() {
      const changed = written.length >> 1;
      const times: number[] = [];
      for (let reload = 0; reload < reloads; reload++) {
        await save(written.map((rule, place) => (place === changed ? { ...rule, enabled: reload % 2 === 1 } : rule)));
        times.push(await usPerRule(() => hub.reload()));
      }
      return medianOf(times);
    },
    stop: () => hub.stop(),
  };
}
