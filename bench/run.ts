// npm run bench: runs the subjects one after the other, prints a Markdown table and keeps it, every sample as JSON and a chart. With --keep
// it writes RESULTS.md and the chart of it anew, with --mark-stale it measures nothing and marks what has changed there.
// Exit status 1 when any round of any contender delivered wrong answers, or a subject has not reached what it must.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../lib/model/error.ts';
import { drawChart } from './harness/chart.ts';
import { drawFigures } from './harness/figures.ts';
import { changedPaths, keepResults, markStale, stampOf, withSections } from './harness/kept-results.ts';
import { describeMachine } from './harness/machine.ts';
import { type Options, readOptions, usage } from './harness/options.ts';
import { formatMachine, formatReport, type SubjectResult } from './harness/report.ts';
import type { Subject } from './harness/subject.ts';
import { chooseSubjects, hasMistakes, runSubject, subjects } from './harness/subjects.ts';

const resultsFile = join(import.meta.dirname, 'RESULTS.md');
const notify = (line: string) => void process.stderr.write(`${line}\n`);

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(`${usage}\n`);
  else if (options.marksStale) writeResults(readFileSync(resultsFile, 'utf8'));
  else process.exitCode = await run(options, chooseSubjects(options.subjects));
} catch (error) {
  notify(messageOf(error));
  process.exitCode = 1;
}

async function run(options: Options, chosen: readonly Subject[]): Promise<number> {
  const date = new Date().toISOString();
  const stamp = stampOf(date);
  const machine = describeMachine(options.hubFolder);
  const results: SubjectResult[] = [];
  for (const subject of chosen) {
    const rounds = options.rounds ?? subject.rounds;
    results.push(await runSubject(subject, rounds, options.cases, (folder) => subject.cases(options, folder), notify));
  }
  const report = `${options.isQuick ? 'A smoke run: its figures mean nothing.\n' : ''}${formatReport(machine, date, results)}\n`;
  const path = await keepResults(options.resultsFolder, stamp, {
    md: `${report}\n![Chart](${stamp}.svg)\n`,
    json: `${JSON.stringify({ date, machine, options, results }, undefined, 2)}\n`,
    svg: drawChart(formatMachine(machine, date), results),
  });
  process.stdout.write(report);
  notify(`kept: ${path}.md, .json (every sample) and .svg`);
  if (options.keeps) {
    if (hasMistakes(results) || machine.commit.includes('+'))
      notify('RESULTS.md stays: it has right figures of commits');
    else writeResults(withSections(readFileSync(resultsFile, 'utf8'), results, machine, date));
  }
  return hasMistakes(results) ? 1 : 0;
}

/** Writes RESULTS.md, with marks on what is stale, and its chart. */
function writeResults(text: string): void {
  const measuredBy = new Map(subjects.map(({ name, measures }) => [name, measures]));
  writeFileSync(
    resultsFile,
    markStale(text, (name, commit) => changedPaths(measuredBy.get(name) ?? [], commit)),
  );
  writeFileSync(join(import.meta.dirname, 'figures.svg'), drawFigures(text));
}
