// Prepares an installation with a past: the flow file, and the databases of its store.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuditFile } from './audit-file.ts';
import { HistoryFile } from './history-file.ts';
import { happenings, lampRule, numbersOf, studio, studioParameters } from './studio.ts';

interface PrepareOptions {
  readonly folder: string;
  readonly parameters: number;
  readonly days: number;
  /** How often each number changes. */
  readonly everyMs: number;
  /** For how many days changes are kept, and for how many minutes are. */
  readonly rawDays: number;
  readonly minuteDays: number;
  readonly port: number;
  readonly seed: number;
  readonly endMs: number;
}

interface Prepared {
  /** The path of the flow file. */
  readonly flow: string;
  readonly changes: number;
  /** How many of them have a row of their own. */
  readonly kept: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** How often numbers change where no changes, and where no minutes are kept. */
const sparseMs = 20_000;
const sparsestMs = 600_000;
/** Every night the hub was down from then on, for two minutes. */
const downHour = 5;
const downMs = 120_000;

export function prepareStore(options: PrepareOptions): Prepared {
  const { folder, parameters, days, everyMs, rawDays, minuteDays, seed, endMs } = options;
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const flow = join(folder, 'flow.json5');
  writeFileSync(flow, `${JSON.stringify(flowOf(options), undefined, 2)}\n`);
  const history = new HistoryFile(data, endMs - rawDays * dayMs, endMs - minuteDays * dayMs);
  const audit = new AuditFile(data);
  const numbers = numbersOf(parameters, seed);
  const startMs = endMs - days * dayMs;
  for (let hour = Math.floor(startMs / hourMs) * hourMs; hour < endMs; hour += hourMs) {
    const from = new Date(hour).getHours() === downHour ? hour + downMs : hour;
    if (from > hour && hour > startMs) history.gap(hour, from);
    const changes = happenings(hour, seed).filter(({ time }) => time >= Math.max(from, startMs) && time < endMs);
    for (const change of changes) history.write(change);
    audit.write(changes);
    const stepMs = hour < endMs - minuteDays * dayMs ? sparsestMs : hour < endMs - rawDays * dayMs ? sparseMs : everyMs;
    const first = Math.ceil(Math.max(from, startMs) / stepMs) * stepMs;
    for (const [index, number] of numbers.entries())
      for (let at = first + (index % stepMs); at < Math.min(hour + hourMs, endMs); at += stepMs)
        history.write({ ...number, time: at, value: number.next() });
  }
  audit.close();
  return { flow, ...history.close(endMs) };
}

function flowOf({ parameters, port, days }: PrepareOptions): object {
  const levels = Array.from(
    { length: Math.max(0, parameters - studioParameters.length) },
    (_, index) => `${index + 1},F,50`,
  );
  return {
    connections: {
      api: { type: 'rest-api', port, bindIp: '127.0.0.1' },
      store: { type: 'store', folder: './data', maxSize: '1TB', history: [{ raw: `${Math.ceil(days) + 30}d` }] },
      [studio]: { type: 'dummy', parameters: studioParameters },
      ...(levels.length > 0 && { levels: { type: 'dummy', parameters: levels } }),
    },
    rules: [lampRule],
  };
}
