// The table of a benchmark, in Markdown: a row per figure, a column per contender, the ratio of the hub to its ceiling and
// its peers, and whether what the hub is to reach was reached.

import type { Summary } from '../../spec/support/statistics.ts';
import type { Machine } from './machine.ts';
import { type CaseResult, ratioOf, summaryOf } from './rounds.ts';
import type { Metric, Target } from './subject.ts';

export interface SubjectResult {
  readonly name: string;
  readonly about: string;
  readonly cases: readonly MeasuredCase[];
}

export interface MeasuredCase extends CaseResult {
  readonly metrics: readonly Metric[];
  readonly notes: readonly string[];
}

/** Formats all results; medians over the rounds, with the least and the most in brackets. */
export function formatReport(machine: Machine, date: string, results: readonly SubjectResult[]): string {
  return [
    formatMachine(machine, date),
    'Medians over the rounds (least to most); a ratio is the median of those within each round.',
    ...results.flatMap(formatSubject),
  ].join('\n');
}

export function formatMachine(machine: Machine, date: string): string {
  return `${describe(machine)}, commit ${machine.commit}, ${date.slice(0, 10)}.`;
}

/** `2 cores of AMD EPYC, 8 GiB, Linux 6.1, Node v22.23.0`. */
export function describe({ processor, cores, memoryBytes, system, node }: Omit<Machine, 'commit'>): string {
  return `${cores} cores of ${processor}, ${Math.round(memoryBytes / 2 ** 30)} GiB, ${system}, Node ${node}`;
}

function formatSubject(result: SubjectResult): string[] {
  return ['', `**${result.name}**: ${result.about}`, '', ...formatCases(result)];
}

/** The table of a subject, its notes, and what was wrong. */
export function formatCases({ cases }: SubjectResult): string[] {
  return [
    '| case | figure | hub | against | ratio | target |',
    '|---|---|---:|---:|---:|---|',
    ...cases.flatMap((result) => result.metrics.flatMap((metric) => formatMetric(result, metric))),
    '',
    ...new Set(cases.flatMap(({ notes }) => notes.map((note) => `- ${note}`))),
    ...cases.flatMap(({ mistakes }) => mistakes.map((mistake) => `- WRONG: ${mistake}`)),
  ];
}

/** A row for each contender that the hub is held against; one for the hub alone where there is none, or it has a target. */
function formatMetric(result: CaseResult, metric: Metric): string[] {
  const hub = result.contenders.find(({ role }) => role === 'hub');
  const others = result.contenders.filter(({ role }) => role !== 'hub');
  if (hub === undefined) return [];
  const own = summaryOf(hub, metric.key);
  const start = `| ${result.name} | ${metric.title} | ${formatSummary(own, metric.digits)} |`;
  const targets = metric.targets ?? [];
  const ownTargets = targets.filter(({ against }) => against === undefined).map((target) => judge(target, own));
  const rows = others.map((other) => {
    const theirs = formatSummary(summaryOf(other, metric.key), metric.digits);
    const ratio = ratioOf(hub, other, metric.key);
    const judged = targets.filter(({ against }) => against === other.name).map((target) => judge(target, ratio));
    return `${start} ${other.name}: ${theirs} | ${formatSummary(ratio, 2)} | ${judged.join('; ')} |`;
  });
  return rows.length === 0 || ownTargets.length > 0 ? [`${start} | | ${ownTargets.join('; ')} |`, ...rows] : rows;
}

/** The targets that the hub has missed, a sentence for each. */
export function missedBy(result: CaseResult, metrics: readonly Metric[]): string[] {
  const hub = result.contenders.find(({ role }) => role === 'hub');
  if (hub === undefined) return [];
  return metrics.flatMap(({ key, title, targets = [] }) =>
    targets.flatMap((target) => {
      const other = result.contenders.find(({ name }) => name === target.against);
      const summary = other === undefined ? summaryOf(hub, key) : ratioOf(hub, other, key);
      const beside = other === undefined ? '' : ` times ${other.name}`;
      const got = summary === undefined ? 'nothing' : summary.median.toFixed(2);
      return isMetBy(target, summary)
        ? []
        : `${result.name}, ${title}: expected ${boundsOf(target)}${beside}, got ${got}`;
    }),
  );
}

/** `at least 0.95: met`; what was not measured is missed. */
export function judge(target: Target, summary: Summary | undefined): string {
  return `${boundsOf(target)}: ${isMetBy(target, summary) ? 'met' : '**missed**'}`;
}

function isMetBy({ atLeast, atMost }: Target, summary: Summary | undefined): boolean {
  const median = summary?.median ?? Number.NaN;
  return (atLeast === undefined || median >= atLeast) && (atMost === undefined || median <= atMost);
}

function boundsOf({ atLeast, atMost }: Target): string {
  const format = (words: string, bound: number | undefined) =>
    bound === undefined ? [] : [`${words} ${bound.toLocaleString('en')}`];
  return [...format('at least', atLeast), ...format('at most', atMost)].join(', ');
}

function formatSummary(summary: Summary | undefined, digits: number): string {
  if (summary === undefined) return 'none';
  const format = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const { median, least, most } = summary;
  return least === most ? format(median) : `${format(median)} (${format(least)} to ${format(most)})`;
}
