// `patchbay explain` and `patchbay trace`: what a running hub knows about why something is as it is, for people to read.

import type { Change } from '../model/parameter.ts';
import type { RuleRun, RuleRuns } from '../model/rule-run.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { Console } from './console.ts';
import { type RemoteOptions, request } from './remote.ts';

/** Chains that are deeper are not indented further. */
const deepestIndent = 20;
const shownLength = 80;

/** A change as GET /hub/explain tells it. */
type Link = Pick<Change, 'value' | 'previous' | 'origin'> & {
  readonly parameter: string;
  readonly type: ValueType;
  readonly revision?: number;
  readonly time: string;
  readonly afterMs?: number;
};

/** Prints the chain of changes, newest first, a line each. Errors: the sentence of the hub, or that there is none. */
export async function explain(address: string, options: RemoteOptions, console: Console): Promise<number> {
  const path = `/hub/explain/${address.split('/').map(encodeURIComponent).join('/')}`;
  const { chain, forgotten } = JSON.parse(await request(options, path, {})) as { chain: Link[]; forgotten: number };
  chain.forEach((link, depth) => {
    console.print(`${localTime(link.time)}  ${'  '.repeat(Math.min(depth, deepestIndent))}${describeLink(link)}`);
  });
  if (forgotten > 0) console.print(`… and ${forgotten} earlier changes, which are not kept`);
  return 0;
}

/** Prints the last runs of a rule, newest first, a line each. Errors: as `explain`. */
export async function trace(rule: string, options: RemoteOptions, console: Console): Promise<number> {
  const answer = await request(options, `/hub/trace?${new URLSearchParams({ rule })}`, {});
  for (const { rule: name, file, isAlwaysRecorded, runs } of JSON.parse(answer) as RuleRuns[]) {
    const last = runs.length === 0 ? 'no run yet' : `the last ${runs.length === 1 ? 'run' : `${runs.length} runs`}`;
    console.print(`rule "${name}" (${file}): ${last}`);
    for (const run of runs) console.print(`${localTime(run.time)}  ${describeRun(run)}`);
    if (!isAlwaysRecorded) console.print('it only copies: all of its runs are recorded from now on, for five minutes');
  }
  return 0;
}

/** `desk/lamp = false (was true), set by rule "lamp off" (demo.json5), 3000 ms later` */
function describeLink({ parameter, type, value, previous, origin, revision, afterMs = 0 }: Link): string {
  const before = previous === undefined ? '' : ` (was ${show(previous)})`;
  const change = type === 'T' ? ' fired' : ` = ${show(value)}${revision === undefined ? ' (again)' : before}`;
  const name = origin.kind === 'rule' ? `"${origin.name}"${origin.file && ` (${origin.file})`}` : origin.name;
  return `${parameter}${change}, set by ${origin.kind} ${name}${afterMs > 0 ? `, ${afterMs} ms later` : ''}`;
}

/** `desk/level = 0.25 → 25 to desk/percent, 12 µs` */
function describeRun({ source, value, outcome, result, to, error, durationUs }: RuleRun): string {
  const destinations = to.length === 0 ? '' : ` to ${to.join(', ')}`;
  const outcomes = {
    wrote: ` → ${show(result)}${destinations}`,
    stopped: ', the condition was false',
    held: ', held back by a step',
    waited: ', nothing came of it',
    failed: ', failed',
  };
  const duration = durationUs === undefined ? '' : `, ${durationUs} µs`;
  const start = source === undefined ? 'at the start' : `${source} = ${show(value)}`;
  return `${start}${outcomes[outcome]}${duration}${error === undefined ? '' : `: ${error}`}`;
}

function show(value: Value | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > shownLength ? `${text.slice(0, shownLength - 1)}…` : text;
}

/** The time of day where the user is, with the date unless it is today. */
function localTime(time: string | number): string {
  const local = (date: Date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  const [day, clock] = local(new Date(time)).split(/[TZ]/);
  return local(new Date()).startsWith(day!) ? clock! : `${day} ${clock}`;
}
