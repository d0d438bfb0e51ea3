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
import { type RuleShapeName, ruleShapes } from './rule-shapes.ts';

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
  /** Microseconds for each of many rules, from the flow file to a hub that runs. */
  readonly startUs: number;
}

const origin: Origin = { kind: 'client', name: 'bench' };

/** Before it is measured each rule runs so often: V8 has compiled it then, and its trace is full. */
const warmUpRounds = 60;

/** Beside bare rules a hub whose cost grows this much more does work that is worse than linear. */
const mostGrowth = 12;

/** Measures a shape. Errors: the cost for each rule grows as it does when rules are compared with one another. */
export async function measureRuleGrowth(task: RuleGrowthTask): Promise<RuleGrowth> {
  const { shape, few, many, runs, turns } = task;
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-rules-'));
  const start = process.cpuUsage().user;
  const large = await startRules(task, many, folder);
  const startUs = (process.cpuUsage().user - start) / many;
  const small = await startRules(task, few, folder);
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
  await Promise.all([small.stop(), large.stop(), rm(folder, { recursive: true })]);
  const [hubFew, hubNs, bareFew, bareNs] = subjects.map(({ ns }) => ns.sort((a, b) => a - b)[ns.length >> 1]!);
  const growth = hubNs! / hubFew! / (bareNs! / bareFew!);
  if (growth > mostGrowth)
    throw new Error(
      `${shape}: expected a rule of ${many} to cost at most ${mostGrowth} times one of ${few}, got ${growth.toFixed(1)}`,
    );
  return { hubNs: hubNs!, bareNs: bareNs!, hubGrowth: hubNs! / hubFew!, bareGrowth: bareNs! / bareFew!, startUs };
}

async function startRules({ hubFolder, shape }: RuleGrowthTask, count: number, folder: string) {
  const { connections, rules, writes } = ruleShapes[shape](count);
  const file = join(folder, `${count}.json5`);
  await writeFile(file, JSON.stringify({ connections, rules }));
  const { startHub } = await importHub(hubFolder);
  const hub: Hub = await startHub({ paths: [file], log: silentLog });
  const write = (address: string, value: number) => void hub.write(address, value, origin);
  return { writes, write, stop: () => hub.stop() };
}
