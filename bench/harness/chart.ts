// The chart of a benchmark, as SVG: how many times as much as its ceiling each contender does in each case, with the spread
// of the rounds. It is read on a light page and on a dark one.

import type { Summary } from '../../spec/support/statistics.ts';
import type { MeasuredCase, SubjectResult } from './report.ts';
import { ratioOf } from './rounds.ts';
import type { Role } from './subject.ts';

interface Bar {
  readonly label: string;
  readonly role: Role;
  readonly ratio: Summary;
}

interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const width = 860;
const labelWidth = 170;
const valueWidth = 60;
const rowHeight = 20;
const groupGap = 30;
const barHeight = 12;
const margin = 16;
const headHeight = 44;
/** How charts look on a light page and on a dark one. */
export const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 }
  .line { stroke: #59636e; stroke-width: 1 }
  .hub { fill: #2f6feb } .peer { fill: #9aa4b0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .line { stroke: #9198a1 } .hub { fill: #4d8dff } .peer { fill: #69717c }
  }`;

/** Draws the first metric of each case that has a ceiling, each case on a scale of its own; more is better. */
export function drawChart(title: string, results: readonly SubjectResult[]): string {
  const groups = results.flatMap(({ name, cases }) => cases.flatMap((result) => groupOf(name, result)));
  const parts: string[] = [];
  let y = headHeight;
  for (const group of groups) {
    parts.push(...drawGroup(group, y));
    y += groupGap + group.bars.length * rowHeight;
  }
  const height = y + margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeText(title)}</title><style>${style}</style>`,
    text('title', margin, 20, 'Times what it is held against (the dashed line): more is better'),
    text('', margin, 38, title),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function drawGroup({ title, bars }: Group, y: number): string[] {
  const scale = (width - labelWidth - valueWidth - margin) / Math.max(1, ...bars.map(({ ratio }) => ratio.most));
  const top = y + groupGap;
  const one = round(labelWidth + scale);
  return [
    text('title', margin, top - 8, title),
    ...bars.flatMap((bar, index) => drawBar(bar, top + index * rowHeight, scale)),
    `<path class="line" stroke-dasharray="3 3" d="M${one} ${top}V${top + bars.length * rowHeight}"/>`,
  ];
}

/** The contenders of a case but the ceiling; empty when it has none or nothing was measured. */
function groupOf(subject: string, { name, contenders, metrics }: MeasuredCase): Group[] {
  const ceiling = contenders.find(({ role }) => role === 'ceiling');
  const metric = metrics.find(({ better }) => better !== undefined);
  if (ceiling === undefined || metric === undefined) return [];
  const bars = contenders.flatMap((contender): Bar[] => {
    if (contender === ceiling) return [];
    const [one, other] = metric.better === 'less' ? [ceiling, contender] : [contender, ceiling];
    const ratio = ratioOf(one, other, metric.key);
    return ratio === undefined ? [] : [{ label: contender.name, role: contender.role, ratio }];
  });
  return bars.length === 0 ? [] : [{ title: `${subject}, ${name}: ${metric.title}, against ${ceiling.name}`, bars }];
}

function drawBar({ label, role, ratio: { median, least, most } }: Bar, y: number, scale: number): string[] {
  const middle = y + rowHeight / 2;
  const [from, to] = [round(labelWidth + least * scale), round(labelWidth + most * scale)];
  const whisker = (x: number) => `M${x} ${middle - 4}V${middle + 4}`;
  return [
    text('', margin * 2, middle + 4, label),
    `<rect class="${role}" x="${labelWidth}" y="${y + (rowHeight - barHeight) / 2}" width="${round(median * scale)}" height="${barHeight}" rx="2"/>`,
    `<path class="line" fill="none" d="M${from} ${middle}H${to}${whisker(from)}${whisker(to)}"/>`,
    text('', to + 8, middle + 4, median.toFixed(2)),
  ];
}

/** A line of text; `name` is its class. */
export function text(name: string, x: number, y: number, content: string): string {
  return `<text class="${name}" x="${x}" y="${y}">${escapeText(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
