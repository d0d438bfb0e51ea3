// `patchbay reload` and `patchbay shadow`: apply changed flow files, or try them in shadow first.
import { counted } from '../../model/digits.ts';
import { printable } from '../../model/printable.ts';
import type { Difference } from '../../model/reports/reload-report.ts';
import type { Deviation, DeviationSide, ReloadAnswer, ReloadRequest, ShadowReport } from '../../wire/http/operation.ts';
import { type Cli, remoteCommand } from '../cli.ts';
import type { Console } from '../console.ts';
import { type RemoteOptions, request } from './ask-hub.ts';
import { describeWriter, localTime, show } from './phrases.ts';

export function register(cli: Cli): void {
  const { console, finish } = cli;
  remoteCommand(cli, 'reload', 'reload the flow files of a running hub and apply the changes')
    .option('--shadow', 'try these and all later changes in shadow, until a reload without --shadow')
    .action((options: RemoteOptions & { shadow?: boolean }) => finish(reload(options, console)));
  remoteCommand(cli, 'shadow', 'print what rules in shadow would have done differently')
    .option('--json', "print the hub's JSON response")
    .action((options: RemoteOptions & { json?: boolean }) => finish(shadow(options, console)));
}

/** Reloads the hub's flow files. Prints the changes or, for a reload in shadow, the rules in shadow. Errors: any error in the files. */
export async function reload(options: RemoteOptions & { shadow?: boolean }, console: Console): Promise<number> {
  const { shadow: isShadow = false } = options;
  const headers = { 'content-type': 'application/json' };
  const asked = { method: 'POST', body: JSON.stringify({ shadow: isShadow } satisfies ReloadRequest), headers };
  const { swapped, shadow } = JSON.parse(await request(options, '/hub/reload', asked)) as ReloadAnswer;
  if (swapped !== undefined) {
    for (const [what, difference] of Object.entries(swapped) as [string, Difference][])
      for (const [kind, names] of Object.entries(difference))
        if (names.length > 0) console.print(printable(`${what} ${kind}: ${names.join(', ')}`));
    return 0;
  }
  printRules(shadow!, console);
  console.print('later changes run in shadow as well, until `patchbay reload`');
  return 0;
}

/** Prints how the rules in shadow have deviated from the live rules, oldest deviation first, one per line. */
export async function shadow(options: RemoteOptions & { json?: boolean }, console: Console): Promise<number> {
  const answer = await request(options, '/hub/shadow', {});
  if (options.json) {
    console.print(answer.trimEnd());
    return 0;
  }
  const report = JSON.parse(answer) as ShadowReport;
  printRules(report, console);
  if (report.kind === 'none') return 0;
  for (const deviation of report.deviations) console.print(printable(describeDeviation(deviation)));
  const left = report.count - report.deviations.length;
  if (left > 0) console.print(`… and ${counted(left, 'earlier deviation')}, no longer stored`);
  for (const { address, count, differs } of report.parameters)
    console.print(
      printable(`${address}: ${counted(count, 'deviation')}, ${differs ? 'different now' : 'the same now'}`),
    );
  if (report.count === 0) console.print('no differences');
  return 0;
}

function printRules({ kind, since, rules, left, notInShadow }: ShadowReport, console: Console): void {
  if (kind === 'none') {
    console.print('nothing is running in shadow');
    return;
  }
  console.print(
    printable(`in shadow since ${localTime(since)}: ${rules.length === 0 ? 'no rules' : rules.join(', ')}`),
  );
  if (left.length > 0) console.print(printable(`live, but not in shadow: ${left.join(', ')}`));
  if (notInShadow.length > 0)
    console.print(
      printable(`changed, but not run in shadow because they act outside the hub: ${notInShadow.join(', ')}`),
    );
}

/**
 * Formats a deviation in a shadow report: `14:02:11.513  desk/lamp = false by rule "lamp" (a.json5), would be true by rule "lamp"
 * (b.json5)`.
 */
export function describeDeviation({ time, parameter, type, done, would }: Deviation): string {
  const [is, instead] =
    type === 'T'
      ? [firesText(done, 'fired', 'did not fire'), firesText(would, 'would have fired', 'would not have fired')]
      : [`= ${sideText(done)}`, `would be ${sideText(would)}`];
  return `${localTime(time)}  ${parameter} ${is}, ${instead}`;
}

function sideText({ value, origin }: DeviationSide): string {
  return value === undefined ? 'unknown' : `${show(value)}${writerText(origin)}`;
}

/** Describes how often a trigger fired: `fired once by rule "ding" (a.json5)`, or `never` if the trigger did not fire. */
function firesText({ value, origin }: DeviationSide, fired: string, never: string): string {
  return value === 0 ? never : `${fired} ${value === 1 ? 'once' : `${value} times`}${writerText(origin)}`;
}

function writerText(origin: DeviationSide['origin']): string {
  return origin === undefined ? '' : ` ${describeWriter(origin).replace(/^set /, '')}`;
}
