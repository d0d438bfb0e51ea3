// `patchbay explain` and `patchbay trace`: print why parameters on a running hub changed.
import { pathOf } from '../../model/address.ts';
import { counted } from '../../model/digits.ts';
import { printable } from '../../model/printable.ts';
import { describeTrace } from '../../model/writer.ts';
import { something } from '../../wire/http/hidden.ts';
import type { RuleRun, RuleTraces } from '../../wire/http/operation.ts';
import type { CausedChange, Causes, Explanation } from '../../wire/http/parameter-shapes.ts';
import { type Cli, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { type RemoteOptions, request, requestParameter } from './ask-hub.ts';
import { describeStaleness, describeWriter, localTime, show } from './phrases.ts';

export function register(cli: Cli): void {
  const { console, finish } = cli;
  remoteCommand(
    cli,
    'explain',
    'print why a parameter on a running hub has its current value: the chain of causes back to the external event',
  )
    .argument('<address>', '<Connection ID>/<Parameter ID>')
    .action((address: string, options: RemoteOptions) => finish(explain(address, options, console)));
  remoteCommand(cli, 'trace', 'print the most recent runs of a rule on a running hub')
    .argument('<rule>', 'the name of the rule')
    .action((rule: string, options: RemoteOptions) => finish(trace(rule, options, console)));
}

/** The maximum indentation of a change, in links of the chain. */
const deepestIndent = 20;

/**
 * Prints the chain of changes that led to a parameter's value, newest first, one per line. Errors: the hub's error message, or an error if
 * no hub responds.
 */
export async function explain(address: string, options: RemoteOptions, console: Console): Promise<number> {
  const path = `/hub/explain/${pathOf(address)}`;
  const { would, staleSince, isNotKept, ...causes } = JSON.parse(
    await requestParameter(address, options, path, {}),
  ) as Explanation;
  if (causes.chain.length === 0) console.print(printable(`${address}: the state is unknown`));
  printCauses(causes, console);
  if (staleSince !== undefined) console.print(describeStaleness(staleSince));
  if (isNotKept) console.print('the value is not stored on disk: its writer already uses most of the space for values');
  if (would === undefined) return 0;
  console.print(printable(would.value === undefined ? 'in shadow:' : `in shadow, it would be ${show(would.value)}:`));
  printCauses(would, console);
  return 0;
}

function printCauses({ chain, forgotten }: Causes, console: Console): void {
  chain.forEach((change, depth) => {
    const indent = '  '.repeat(Math.min(depth, deepestIndent));
    console.print(printable(`${localTime(change.time)}  ${indent}${describeChange(change)}`));
  });
  if (forgotten > 0) console.print(`… and ${counted(forgotten, 'earlier change')}, no longer stored`);
}

/** Prints the most recent runs of a rule, newest first, one per line. Errors: the same as for `explain`. */
export async function trace(rule: string, options: RemoteOptions, console: Console): Promise<number> {
  const answer = await request(options, `/hub/trace?${new URLSearchParams({ rule })}`, {});
  for (const { rule: name, file, isAlwaysRecorded, runs } of JSON.parse(answer) as RuleTraces) {
    const last =
      runs.length === 0
        ? 'no runs yet'
        : `the ${runs.length === 1 ? 'most recent run' : `${runs.length} most recent runs`}`;
    console.print(printable(`rule "${name}" (${file}): ${last}`));
    for (const run of runs) console.print(printable(`${localTime(run.time)}  ${describeRun(run)}`));
    if (!isAlwaysRecorded)
      console.print(
        'this rule only copies values, so its runs are recorded only on request: recording is now on for five minutes',
      );
  }
  return 0;
}

/** Formats a change: `desk/lamp = false (was true), set by rule "lamp off" (demo.json5), 3000 ms later`. */
function describeChange(caused: CausedChange): string {
  const { parameter, type, value, previous, origin, revision, afterMs = 0, awaySince } = caused;
  if (parameter === something) return 'a parameter that you are not allowed to see';
  const before = previous === undefined ? '' : ` (was ${show(previous)})`;
  const change = type === 'T' ? ' fired' : ` = ${show(value)}${revision === undefined ? ' (again)' : before}`;
  const words = [`${parameter}${change}`, describeWriter(origin), describeTrace(origin)];
  const away =
    awaySince === undefined
      ? ''
      : `found when the device reconnected; it had been offline since ${localTime(awaySince)}`;
  return [...words, away, afterMs > 0 ? `${afterMs} ms later` : ''].filter((text) => text !== '').join(', ');
}

/** Formats a run of a rule: `desk/level = 0.25 → 25 to desk/percent, 12 µs`. */
function describeRun({ source, value, outcome, result, to, error, durationUs }: RuleRun): string {
  const destinations = to.length === 0 ? '' : ` to ${to.join(', ')}`;
  const outcomes = {
    wrote: ` → ${show(result)}${destinations}`,
    stopped: ', the condition was false',
    held: ', held back by a step',
    waited: ', without a result',
    failed: ', failed',
  };
  const duration = durationUs === undefined ? '' : `, ${durationUs} µs`;
  const start = source === undefined ? 'at startup or by a timer' : `${source} = ${show(value)}`;
  return `${start}${outcomes[outcome]}${duration}${error === undefined ? '' : `: ${error}`}`;
}
