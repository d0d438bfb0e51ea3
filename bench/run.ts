// npm run bench: runs the subjects one after the other, prints a Markdown table and keeps every sample as JSON beside it.
// Exit status 1 when any round of any contender delivered wrong answers.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../lib/model/error.ts';
import { describeMachine } from './machine.ts';
import { type Options, readOptions, usage } from './options.ts';
import { formatReport, type SubjectResult } from './report.ts';
import { runRounds } from './rounds.ts';
import type { Subject } from './subject.ts';
import { filterCost } from './subjects/filter-cost.ts';
import { httpRead } from './subjects/http-read.ts';
import { idle } from './subjects/idle.ts';
import { memory } from './subjects/memory.ts';
import { plainFanOut } from './subjects/plain-fan-out.ts';
import { plainIngest } from './subjects/plain-ingest.ts';
import { plainLatency } from './subjects/plain-latency.ts';
import { v1Dashboards, v1Stalled } from './subjects/v1-dashboards.ts';
import { v1FanOut } from './subjects/v1-fan-out.ts';
import { v1Ingest } from './subjects/v1-ingest.ts';
import { v1Resume } from './subjects/v1-resume.ts';
import { writeRule } from './subjects/write-rule.ts';

const subjects: readonly Subject[] = [
  httpRead,
  plainFanOut,
  plainIngest,
  plainLatency,
  v1FanOut,
  v1Dashboards,
  v1Stalled,
  v1Resume,
  v1Ingest,
  filterCost,
  idle,
  writeRule,
  memory,
];
const resultsFolder = join(import.meta.dirname, 'results');
const tell = (line: string) => void process.stderr.write(`${line}\n`);

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(`${usage}\n`);
  else process.exitCode = await run(options, choose(options.subjects));
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}

function choose(names: readonly string[]): readonly Subject[] {
  const known = subjects.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`expected subjects of ${known.join(', ')}, got "${unknown}"`);
  return names.length === 0 ? subjects : subjects.filter(({ name }) => names.includes(name));
}

async function run(options: Options, chosen: readonly Subject[]): Promise<number> {
  const date = new Date().toISOString();
  const machine = describeMachine();
  const results: SubjectResult[] = [];
  for (const subject of chosen) results.push(await runSubject(subject, options));
  await mkdir(resultsFolder, { recursive: true });
  const file = join(resultsFolder, `${date.replaceAll(':', '-').replace(/\.\d+/, '')}.json`);
  await writeFile(file, `${JSON.stringify({ date, machine, options, results }, undefined, 2)}\n`);
  process.stdout.write(`${formatReport(machine, date, results)}\n`);
  tell(`every sample: ${file}`);
  return results.some(({ cases }) => cases.some(({ mistakes }) => mistakes.length > 0)) ? 1 : 0;
}

async function runSubject(subject: Subject, options: Options): Promise<SubjectResult> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
  try {
    const cases: SubjectResult['cases'][number][] = [];
    for (const item of await subject.cases(options, folder)) {
      const result = await runRounds(item, options.rounds ?? subject.rounds, (line) => tell(`${subject.name} ${line}`));
      cases.push({ ...result, metrics: item.metrics, notes: item.notes ?? [] });
    }
    return { name: subject.name, about: subject.about, cases };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
