// The table of a benchmark, in Markdown: a row per figure, a column per contender, and the ratio of the hub to its ceiling.

import type { Machine } from './machine.ts';
import { type CaseResult, ratioOf, summaryOf } from './rounds.ts';
import type { Summary } from './statistics.ts';
import type { Metric } from './subject.ts';

export interface SubjectResult {
  readonly name: string;
  readonly about: string;
  readonly cases: readonly (CaseResult & { readonly metrics: readonly Metric[] })[];
}

/** Formats all results; medians over the rounds, with the least and the most in brackets. */
export function formatReport(machine: Machine, date: string, results: readonly SubjectResult[]): string {
  const { processor, cores, memoryBytes, system, node, commit } = machine;
  const gibibytes = Math.round(memoryBytes / 2 ** 30);
  return [
    `${cores} cores of ${processor}, ${gibibytes} GiB, ${system}, Node ${node}, commit ${commit}, ${date.slice(0, 10)}.`,
    'Medians over the rounds (least to most); a ratio is the median of those within each round.',
    ...results.flatMap(formatSubject),
  ].join('\n');
}

function formatSubject({ name, about, cases }: SubjectResult): string[] {
  return [
    '',
    `**${name}**: ${about}`,
    '',
    '| case | figure | hub | against | ratio |',
    '|---|---|---:|---:|---:|',
    ...cases.flatMap((result) => result.metrics.flatMap((metric) => formatMetric(result, metric))),
    ...cases.flatMap(({ mistakes }) => mistakes.map((mistake) => `- WRONG: ${mistake}`)),
  ];
}

/** A row for each contender that the hub is held against, or one for the hub alone. */
function formatMetric(result: CaseResult, metric: Metric): string[] {
  const hub = result.contenders.find(({ role }) => role === 'hub');
  const others = result.contenders.filter(({ role }) => role !== 'hub');
  if (hub === undefined) return [];
  const ours = formatSummary(summaryOf(hub, metric.key), metric.digits);
  const start = `| ${result.name} | ${metric.title} | ${ours} |`;
  if (others.length === 0) return [`${start} | |`];
  return others.map((other) => {
    const theirs = formatSummary(summaryOf(other, metric.key), metric.digits);
    return `${start} ${other.name}: ${theirs} | ${formatSummary(ratioOf(hub, other, metric.key), 2)} |`;
  });
}

function formatSummary(summary: Summary | undefined, digits: number): string {
  if (summary === undefined) return 'none';
  const format = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const { median, least, most } = summary;
  return least === most ? format(median) : `${format(median)} (${format(least)} to ${format(most)})`;
}
