// npm run bench: runs the subjects one after the other, prints a Markdown table and keeps it, every sample as JSON and a chart.
// Exit status 1 when any round of any contender delivered wrong answers, or a subject has not reached what it must.

import { messageOf } from '../lib/model/error.ts';
import { drawChart } from './harness/chart.ts';
import { describeMachine } from './harness/machine.ts';
import { type Options, readOptions, usage } from './harness/options.ts';
import { formatMachine, formatReport, type SubjectResult } from './harness/report.ts';
import { keepResults, stampOf } from './harness/results.ts';
import type { Subject } from './harness/subject.ts';
import { chooseSubjects, hasMistakes, runSubject } from './harness/subjects.ts';

const tell = (line: string) => void process.stderr.write(`${line}\n`);

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(`${usage}\n`);
  else process.exitCode = await run(options, chooseSubjects(options.subjects));
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}

async function run(options: Options, chosen: readonly Subject[]): Promise<number> {
  const date = new Date().toISOString();
  const stamp = stampOf(date);
  const machine = describeMachine(options.hubFolder);
  const results: SubjectResult[] = [];
  for (const subject of chosen) {
    const rounds = options.rounds ?? subject.rounds;
    results.push(await runSubject(subject, rounds, options.cases, (folder) => subject.cases(options, folder), tell));
  }
  const report = `${options.isQuick ? 'A smoke run: its figures mean nothing.\n' : ''}${formatReport(machine, date, results)}\n`;
  const path = await keepResults(options.resultsFolder, stamp, {
    md: `${report}\n![Chart](${stamp}.svg)\n`,
    json: `${JSON.stringify({ date, machine, options, results }, undefined, 2)}\n`,
    svg: drawChart(formatMachine(machine, date), results),
  });
  process.stdout.write(report);
  tell(`kept: ${path}.md, .json (every sample) and .svg`);
  return hasMistakes(results) ? 1 : 0;
}
