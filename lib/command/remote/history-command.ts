// `patchbay history`: prints past values of a parameter on a running hub.
import { pathOf } from '../../model/address.ts';
import { counted, roundToSignificant } from '../../model/digits.ts';
import { printable } from '../../model/printable.ts';
import type { History, HistoryGap } from '../../wire/http/past-shapes.ts';
import { toIsoTime } from '../../wire/time.ts';
import { type Cli, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { type RemoteOptions, request } from './ask-hub.ts';
import { localTime, show, withZone } from './phrases.ts';

export function register(cli: Cli): void {
  remoteCommand(cli, 'history', 'print past values of a parameter from the store of a running hub')
    .option('--from <time>', 'start time, such as 2026-11-22T03:00, or relative to now, such as -1h or -7d', '-1h')
    .option('--to <time>', 'end time, in the same format (default: now)')
    .option('--points <count>', 'approximate maximum number of lines (default: 1000)')
    .option('--csv', 'print CSV')
    .option('--json', "print the hub's JSON response")
    .argument('<address>', '<Connection ID>/<Parameter ID>')
    .action((address: string, options: HistoryOptions) => cli.finish(history(address, options, cli.console)));
}

interface HistoryOptions extends RemoteOptions {
  readonly from: string;
  readonly to?: string;
  readonly points?: string;
  readonly csv?: boolean;
  readonly json?: boolean;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** Prints past values of a parameter, oldest first, one per line. Errors: the hub's error message, or an error if no hub responds. */
export async function history(address: string, options: HistoryOptions, console: Console): Promise<number> {
  const { from, to, points, csv = false, json = false } = options;
  if (csv && json) throw new Error('--csv, --json: expected only one of these options, got both');
  const query = new URLSearchParams({ from: withZone(from), format: csv ? 'csv' : 'json' });
  if (to !== undefined) query.set('to', withZone(to));
  if (points !== undefined) query.set('points', points);
  const answer = await request(options, `/hub/history/${pathOf(address)}?${query}`, {});
  if (csv || json) console.print(answer.trimEnd());
  else printHistory(JSON.parse(answer) as History, console);
  return 0;
}

function printHistory(history: History, console: Console): void {
  const { stepMs, times, gaps, more } = history;
  if (stepMs !== undefined)
    console.printError(`each line covers ${duration(stepMs)}: raise --points or shorten the period for more detail`);
  if (more) console.printError('… earlier values omitted: raise --points to show more');
  if (times.length === 0) console.printError('nothing was recorded');
  const lines = [
    ...times.map((time, index) => ({ time, text: describePoint(history, index) })),
    ...gaps.map((gap) => ({ time: gap.from, text: describeGap(gap) })),
  ];
  for (const { time, text } of lines.sort((a, b) => a.time - b.time))
    if (text !== undefined) console.print(printable(`${localTime(toIsoTime(time))}  ${text}`));
}

/**
 * Formats a point in a history: `0.25`, `0.25 (0.1 to 0.4), 12 changes`, `true 32% of the time, 3 changes`, `fired 4 times`. Returns undefined if
 * nothing is known about the period.
 */
function describePoint({ kind, type, values, min, mean, max, counts }: History, index: number): string | undefined {
  const count = counts?.[index];
  if (kind === 'fires') return count === undefined || count === 1 ? 'fired' : `fired ${count} times`;
  if (kind !== 'buckets') return values![index] === null ? undefined : show(values![index]);
  const average = mean![index];
  if (average === null || average === undefined) return undefined;
  const changes = count === 0 ? '' : `, ${counted(count ?? 0, 'change')}`;
  if (type === 'B') return `true ${roundToSignificant(average * 100, 3)}% of the time${changes}`;
  const range = min![index] === max![index] ? '' : ` (${min![index]} to ${max![index]})`;
  return `${roundToSignificant(average, 6)}${range}${changes}`;
}

function describeGap({ to, lost, reason }: HistoryGap): string {
  const losses = lost > 0 ? `, lost ${counted(lost, 'change')}` : '';
  return `nothing was recorded until ${localTime(toIsoTime(to))}: ${reason}${losses}`;
}

/** Formats a duration in milliseconds in its largest whole unit: `15m`, `250ms`. */
function duration(ms: number): string {
  const [unit, unitMs] = units.find(([, one]) => ms % one === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}
