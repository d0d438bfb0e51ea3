// `node bench/figures.ts` draws bench/figures.svg, the chart of bench/README.md, from the table there: a group of bars for each
// row whose figures are counts per second, `| subject | 4.71 M/s | NATS 7.04 M/s | 0.69 | |`.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { style, text } from './harness/chart.ts';

interface Bar {
  readonly label: string;
  readonly figure: string;
  readonly perSecond: number;
}

interface Group {
  readonly title: string;
  readonly bars: Bar[];
}

const width = 860;
const labelWidth = 180;
const valueWidth = 110;
const rowHeight = 20;
const groupGap = 30;
const headHeight = 32;
const margin = 16;

if (import.meta.main)
  writeFileSync(
    join(import.meta.dirname, 'figures.svg'),
    drawFigures(readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')),
  );

/** Draws the figures of the table of a README, each row of the hub and what it is held against on a scale of its own. */
export function drawFigures(readme: string): string {
  const parts: string[] = [];
  let y = headHeight;
  for (const { title, bars } of readGroups(readme)) {
    y += groupGap;
    parts.push(text('title', margin, y - 8, title));
    const most = Math.max(...bars.map(({ perSecond }) => perSecond));
    for (const [index, { label, figure, perSecond }] of bars.entries()) {
      const length = Math.max(1, Math.round((perSecond / most) * (width - labelWidth - valueWidth)));
      parts.push(
        text('', margin * 2, y + 14, label),
        `<rect class="${index === 0 ? 'hub' : 'peer'}" x="${labelWidth}" y="${y + 4}" width="${length}" height="12" rx="2"/>`,
        text('', labelWidth + length + 8, y + 14, figure),
      );
      y += rowHeight;
    }
  }
  const height = y + margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>What the hub does in a second, beside others</title><style>${style}</style>`,
    text('title', margin, 24, 'How many in a second: more is better'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

/** A row without a subject goes on with what the hub of the row above is held against. */
function readGroups(readme: string): Group[] {
  const groups: Group[] = [];
  for (const line of readme.split('\n').filter((line) => /^\|.*\/s \|/.test(line))) {
    const [, subject = '', hub = '', against = ''] = line
      .replaceAll('`', '')
      .split('|')
      .map((cell) => cell.trim());
    if (subject !== '') groups.push({ title: subject, bars: barsOf(`hub ${hub}`) });
    groups.at(-1)?.bars.push(...barsOf(against));
  }
  return groups.filter(({ bars: [hub, other] }) => hub?.label === 'hub' && other !== undefined);
}

/** `NATS 7.04 M/s` is a bar, everything else none. */
function barsOf(cell: string): Bar[] {
  const [, label, number, million] = /^(.*) ([\d.,]+)( M)?\/s$/.exec(cell) ?? [];
  if (label === undefined || number === undefined) return [];
  const perSecond = Number(number.replaceAll(',', '')) * (million === undefined ? 1 : 1_000_000);
  return [{ label, figure: `${number}${million ?? ''}/s`, perSecond }];
}
