// `patchbay audit`: prints changes from outside, and actions by operators, on a running hub.
import { counted } from '../../model/digits.ts';
import { printable } from '../../model/printable.ts';
import { auditKinds } from '../../model/reports/audit-entry.ts';
import type { AuditEntry, AuditPage } from '../../wire/http/past-shapes.ts';
import { type Cli, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { type RemoteOptions, request } from './ask-hub.ts';
import { localTime, show, withZone } from './phrases.ts';

export function register(cli: Cli): void {
  remoteCommand(
    cli,
    'audit',
    'print the audit trail from the store of a running hub: external changes and operator actions',
  )
    .option('--from <time>', 'start time, such as 2026-11-22T03:00, or relative to now, such as -1h or -7d', '-1h')
    .option('--to <time>', 'end time, in the same format (default: now)')
    .option('--address <glob>', "only entries for parameters that match a pattern, such as 'desk/*'")
    .option('--user <text>', 'only entries whose username contains this text')
    .option('--kind <kind>', `only entries of this kind: ${auditKinds.join(', ')}`)
    .option('--text <text>', 'only entries whose address, username, values or cause contain this text')
    .option('--limit <count>', 'print at most this many of the newest entries', '1000')
    .option('--json', 'print each entry as JSON')
    .action((options: AuditOptions) => cli.finish(audit(options, cli.console)));
}

export interface AuditOptions extends RemoteOptions {
  readonly from: string;
  readonly to?: string;
  readonly address?: string;
  readonly user?: string;
  readonly kind?: string;
  readonly text?: string;
  readonly limit: string;
  readonly json?: boolean;
}

const pageLimit = 1000;

/**
 * Prints the newest audit entries in the requested period, oldest first, one per line. Errors: the hub's error message, or an error if no
 * hub responds.
 */
export async function audit(options: AuditOptions, console: Console): Promise<number> {
  if (!/^[1-9]\d{0,6}$/.test(options.limit))
    throw new Error(`--limit: expected an integer 1..9999999, got "${options.limit}"`);
  const limit = Number(options.limit);
  const entries: AuditEntry[] = [];
  let before: number | undefined;
  do {
    const page = await ask(options, Math.min(limit - entries.length, pageLimit), before);
    entries.push(...page.entries);
    before = page.next;
  } while (before !== undefined && entries.length < limit);
  if (before !== undefined) console.printError('… earlier entries omitted: raise --limit, or set an earlier --to');
  for (const entry of entries.reverse())
    console.print(options.json ? JSON.stringify(entry) : printable(describeEntry(entry)));
  return 0;
}

async function ask(options: AuditOptions, limit: number, before: number | undefined): Promise<AuditPage> {
  const { from, to, address, user, kind, text } = options;
  const times = { from: withZone(from), to: to === undefined ? undefined : withZone(to) };
  const query = Object.entries({ ...times, address, user, kind, text, before: before?.toString(), limit: `${limit}` });
  const given = query.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return JSON.parse(await request(options, `/hub/audit?${new URLSearchParams(given)}`, {})) as AuditPage;
}

/** Formats an audit entry: `14:02:08.512  api 10.0.0.3  desk/lamp = true (was false)`. */
function describeEntry(entry: AuditEntry): string {
  const { time, user, kind, count, cause } = entry;
  const times =
    count > 1 && kind !== 'lost' ? ` (${count} times within a ${kind === 'sign-in' ? 'minute' : 'second'})` : '';
  const more = cause === undefined ? '' : `: ${cause}`;
  return `${localTime(time)}  ${user}  ${whatOf(entry)}${times}${more}`;
}

function whatOf({ kind, address, before, after, count }: AuditEntry): string {
  switch (kind) {
    case 'change':
      return `${address} = ${show(after)}${before === undefined ? '' : ` (was ${show(before)})`}`;
    case 'fire':
      return `${address} fired`;
    case 'rule':
      return `switched rule "${address}" ${after}`;
    case 'connection':
      return `${after} connection "${address}"`;
    case 'reload':
      return String(after);
    case 'sign-in':
      return `sign-in: ${after}`;
    case 'clock':
      return 'clock';
    case 'start':
      return `started patchbay ${after}`;
    case 'stop':
      return 'stopped';
    case 'lost':
      return after === undefined ? `lost ${counted(count, 'entry', 'entries')}` : String(after);
  }
}
