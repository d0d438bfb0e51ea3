// What scripts of the bench have in common whose options are numbers: how these are read, what is printed, the exit status.

import { parseArgs } from 'node:util';
import { messageOf } from '../../lib/model/error.ts';

/** What a script is told on the command line, by the names of its options. */
export type Numbers<Name extends string> = Readonly<Record<Name, number>>;

export function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Runs a script; its status is that with which `run` resolves, and 1 with one sentence when it rejects or an option is none. `unless`
 * has every option with its number unless said; `--help` prints the usage.
 */
export async function runScript<Name extends string>(
  usage: string,
  unless: Numbers<Name>,
  run: (numbers: Numbers<Name>) => Promise<number>,
): Promise<void> {
  try {
    const names = Object.keys(unless) as Name[];
    const texts = names.map((name) => [name, { type: 'string', default: String(unless[name]) }] as const);
    const parsed = parseArgs({ options: { ...Object.fromEntries(texts), help: { type: 'boolean' } } });
    const values: Readonly<Record<string, string | boolean | undefined>> = parsed.values;
    const read = (name: Name) => [name, readNumber(name, String(values[name]))] as const;
    if (values.help) tell(usage);
    else process.exitCode = await run(Object.fromEntries(names.map(read)) as Numbers<Name>);
  } catch (error) {
    tell(messageOf(error));
    process.exitCode = 1;
  }
}

/** Errors: one sentence. */
function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new Error(`--${name}: expected a number from 0, got "${text}"`);
  return number;
}
