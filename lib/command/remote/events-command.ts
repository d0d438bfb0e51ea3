// `patchbay events`: prints the events of a parameter on a running hub, with their origins and causes.

import { pathOf } from '../../model/address.ts';
import { printable } from '../../model/printable.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { EventList, HistoryEvent } from '../../wire/http/past-shapes.ts';
import { type Cli, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { type RemoteOptions, request } from './ask-hub.ts';
import { describeWriter, localTime, show, withZone } from './phrases.ts';

export function register(cli: Cli): void {
  remoteCommand(cli, 'events', 'print the stored events of a parameter on a running hub, with their origins and causes')
    .option(
      '--from <time>',
      'start time, such as 2026-11-22T03:00, or relative to now, such as -1h or -7d (default: the beginning)',
    )
    .option('--to <time>', 'end time, in the same format (default: now)')
    .option('--limit <count>', 'print at most this many of the newest events', '100')
    .option('--json', 'print each event as JSON')
    .argument('<address>', '<Connection ID>/<Parameter ID>')
    .action((address: string, options: EventsOptions) => cli.finish(events(address, options, cli.console)));
}

interface EventsOptions extends RemoteOptions {
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
  readonly json?: boolean;
}

/**
 * Prints the newest events of a parameter, oldest first, each with its causes below it. Errors: the hub's error message, or an error if no
 * hub responds.
 */
export async function events(address: string, options: EventsOptions, console: Console): Promise<number> {
  const { from, to, limit, json = false } = options;
  const query = new URLSearchParams({ limit });
  if (from !== undefined) query.set('from', withZone(from));
  if (to !== undefined) query.set('to', withZone(to));
  const list = JSON.parse(await request(options, `/hub/events/${pathOf(address)}?${query}`, {})) as EventList;
  if (list.next !== undefined) console.printError('… earlier events omitted: raise --limit, or set an earlier --to');
  if (list.events.length === 0) console.printError('nothing was recorded');
  for (const event of list.events.toReversed())
    if (json) console.print(JSON.stringify(event));
    else for (const line of describeEvent(list, event)) console.print(printable(line));
  return 0;
}

function describeEvent({ address, type }: EventList, { time, value, previous, writer, chain }: HistoryEvent): string[] {
  const before = previous === undefined ? '' : ` (was ${show(previous)})`;
  return [
    `${localTime(time)}  ${address} ${whatOf(type, value)}${before}, ${describeWriter(writer)}`,
    ...chain.map((cause, depth) => {
      const what = `${cause.parameter} ${whatOf(cause.type, cause.value)}, ${describeWriter(cause.writer)}`;
      return `${localTime(cause.time)}  ${'  '.repeat(depth + 1)}${what}`;
    }),
  ];
}

function whatOf(type: ValueType, value: Value): string {
  return type === 'T' ? 'fired' : `= ${show(value)}`;
}
