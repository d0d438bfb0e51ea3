// npm run bench:compare -- <git ref>: runs the hub of that commit and the one of this source tree in turn, by the same loads in
// the same run, and judges each figure. Exit status 1 when any is worse, or this tree's hub delivered wrong answers.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../lib/model/error.ts';
import { inTemporaryFolder } from '../spec/support/folder.ts';
import { type Judgement, judgeDifference } from './harness/judge.ts';
import { keepResults, stampOf } from './harness/kept-results.ts';
import { describeMachine } from './harness/machine.ts';
import { type Options, readOptions, usage } from './harness/options.ts';
import { formatMachine, type MeasuredCase, type SubjectResult } from './harness/report.ts';
import type { ContenderResult } from './harness/rounds.ts';
import { summaryOf } from './harness/rounds.ts';
import { createSourceTree, type SourceTree } from './harness/source-tree.ts';
import type { Case, Metric, Subject } from './harness/subject.ts';
import { chooseSubjects, runSubject } from './harness/subjects.ts';

interface Row extends Judgement {
  readonly subject: string;
  readonly case: string;
  readonly metric: Metric;
  readonly before: ContenderResult;
  readonly after: ContenderResult;
}

const defaultRounds = 7;
const afterName = 'this tree';
const notify = (line: string) => void process.stderr.write(`${line}\n`);

try {
  const options = readOptions(process.argv.slice(2));
  const [ref, ...names] = options?.subjects ?? [];
  if (options === undefined) process.stdout.write(`${usage}\n`);
  else if (ref === undefined) throw new Error(`expected a git ref, got none\n${usage}`);
  else {
    const chosen = chooseSubjects(names);
    process.exitCode = await inTemporaryFolder('bench', (folder) =>
      compareWith(createSourceTree(ref, folder), options, chosen),
    );
  }
} catch (error) {
  notify(messageOf(error));
  process.exitCode = 1;
}

async function compareWith(tree: SourceTree, options: Options, chosen: readonly Subject[]): Promise<number> {
  try {
    const date = new Date().toISOString();
    const machine = describeMachine(options.hubFolder);
    const rounds = options.rounds ?? defaultRounds;
    const results: SubjectResult[] = [];
    for (const subject of chosen) {
      const cases = (folder: string) => pairHubs(subject, options, tree, folder);
      results.push(await runSubject(subject, rounds, options.cases, cases, notify));
    }
    const rows = results.flatMap(({ name, cases }) => cases.flatMap((result) => judgeCase(name, result)));
    const mistakes = results.flatMap(({ cases }) => cases.flatMap((result) => result.mistakes));
    const report = [formatMachine(machine, date), ...formatComparison(tree.commit, rounds, rows, mistakes), ''].join(
      '\n',
    );
    const path = await keepResults(options.resultsFolder, `compare-${stampOf(date)}`, {
      md: report,
      json: `${JSON.stringify({ date, machine, before: tree.commit, options, results }, undefined, 2)}\n`,
    });
    process.stdout.write(report);
    notify(`kept: ${path}.md and .json (every sample)`);
    const isWrong = mistakes.some((mistake) => mistake.includes(`, ${afterName}: `));
    return isWrong || rows.some(({ verdict }) => verdict === 'worse') ? 1 : 0;
  } finally {
    tree.remove();
  }
}

/** The cases of a subject, with both hubs for contenders and nobody else: whom the targets of a run are held against is not there. */
async function pairHubs(
  subject: Subject,
  options: Options,
  tree: SourceTree,
  folder: string,
): Promise<readonly Case[]> {
  const folders = [join(folder, 'before'), join(folder, 'after')] as const;
  for (const name of folders) await mkdir(name);
  const before = await subject.cases({ ...options, hubFolder: tree.folder }, folders[0]);
  const after = await subject.cases(options, folders[1]);
  return after.map((item, index) => {
    const hubOf = ({ contenders }: Case) => contenders.find(({ role }) => role === 'hub')!;
    return {
      name: item.name,
      metrics: item.metrics.map(({ targets: _, ...metric }) => metric),
      contenders: [
        { ...hubOf(before[index]!), name: tree.commit, role: 'ceiling', isNeeded: true },
        { ...hubOf(item), name: afterName, role: 'hub' },
      ],
    };
  });
}

function judgeCase(subject: string, { name, metrics, contenders }: MeasuredCase): Row[] {
  const [before, after] = contenders as readonly [ContenderResult, ContenderResult];
  return metrics.flatMap((metric) => {
    if (metric.better === undefined) return [];
    const figures = ({ samples }: ContenderResult) => samples.map((sample) => sample?.[metric.key]);
    const judgement = judgeDifference(figures(before), figures(after), metric.better);
    return [{ subject, case: name, metric, before, after, ...judgement }];
  });
}

function formatComparison(
  commit: string,
  rounds: number,
  rows: readonly Row[],
  mistakes: readonly string[],
): readonly string[] {
  const percent = (value: number) => (Number.isFinite(value) ? `${(value * 100).toFixed(1)} %` : 'unknown');
  const figure = (contender: ContenderResult, { key, digits }: Metric) =>
    summaryOf(contender, key)?.median.toLocaleString('en', { maximumFractionDigits: digits }) ?? 'none';
  return [
    `${rounds} rounds; the ratio is this tree's figure to that of ${commit}, with the interval that holds its median by 95 %;`,
    'noise is how much two rounds of the same hub differ.',
    '',
    `| subject | figure | ${commit} | ${afterName} | ratio | noise | verdict |`,
    '|---|---|---:|---:|---:|---:|---|',
    ...rows.map(({ subject, case: name, metric, before, after, median, low, high, noise, verdict }) => {
      const ratio = `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
      const shown = verdict === 'worse' ? '**worse**' : verdict;
      return `| ${subject}, ${name} | ${metric.title} | ${figure(before, metric)} | ${figure(after, metric)} | ${ratio} | ${percent(noise)} | ${shown} |`;
    }),
    '',
    ...mistakes.map((mistake) => `- WRONG: ${mistake}`),
  ];
}
