// The chart of RESULTS.md: a group of bars for each case whose figures are counts per second.

import { style, text } from './chart.ts';

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

/** Draws the figures of RESULTS.md, each case on a scale of its own. */
export function drawFigures(results: string): string {
  const parts: string[] = [];
  let y = headHeight;
  for (const { title, bars } of readGroups(results)) {
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

/** A group for each case of a subject whose figures are counts per second, with all that the hub is held against. */
function readGroups(results: string): Group[] {
  const groups = new Map<string, Group>();
  for (const section of results.split(/^(?=## )/m)) {
    const [, subject] = /^## (.*)$/m.exec(section) ?? [];
    for (const [, name, title, hub, against] of section.matchAll(
      /^\| ([^|]*) \| ([^|]*\/s[^|]*) \| ([^|]*) \| ([^|]*) \|/gm,
    )) {
      const [, other, figure] = /^(.*): (.*)$/.exec(against!) ?? [];
      if (other === undefined) continue;
      const key = `${subject}, ${name}: ${title}`;
      const group = groups.get(key) ?? { title: key, bars: [barOf('hub', hub!)] };
      group.bars.push(barOf(other, figure!));
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** `4,710,000 (4,600,000 to 4,800,000)` is 4.71 million. */
function barOf(label: string, cell: string): Bar {
  const perSecond = Number.parseFloat(cell.replaceAll(',', ''));
  const figure = perSecond < 1e6 ? perSecond.toLocaleString('en') : `${Number((perSecond / 1e6).toPrecision(3))} M`;
  return { label, figure: `${figure}/s`, perSecond };
}
