// What scripts of the bench have in common: how their options are read, what is printed, the exit status.

import { parseArgs } from 'node:util';
import { messageOf } from '../../lib/model/error.ts';

/** What a script is told on the command line, by the names of its options. */
export type Numbers<Name extends string> = Readonly<Record<Name, number>>;

/** A script whose options are not numbers alone. */
export interface Script<Name extends string, Text extends string, Flag extends string> {
  /** What `--help` prints. */
  readonly usage: string;
  /** Every option that is a number, with its number unless said, which may be any. */
  readonly unless: Numbers<Name>;
  /** Options that are texts, and those that have nothing after them. */
  readonly texts?: readonly Text[];
  readonly flags?: readonly Flag[];
  /** Whether it takes names as well. */
  readonly takesNames?: boolean;
  /** Resolves with the exit status. */
  run(told: Told<Name, Text, Flag>): Promise<number>;
}

export interface Told<Name extends string, Text extends string, Flag extends string> {
  readonly numbers: Numbers<Name>;
  readonly texts: Readonly<Partial<Record<Text, string>>>;
  readonly flags: Readonly<Partial<Record<Flag, boolean>>>;
  readonly names: readonly string[];
}

/** What one of several things is that a script does. */
interface Described {
  readonly about: string;
}

export function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs a script whose options are numbers. `unless` has every option with its number unless said. */
export function runScript<Name extends string>(
  usage: string,
  unless: Numbers<Name>,
  run: (numbers: Numbers<Name>) => Promise<number>,
): Promise<void> {
  return runAnyScript({ usage, unless, run: ({ numbers }) => run(numbers) });
}

/** Runs a script; its status is that with which `run` resolves, and 1 with one sentence when it rejects or an option is none. */
export async function runAnyScript<Name extends string, Text extends string = never, Flag extends string = never>(
  script: Script<Name, Text, Flag>,
): Promise<void> {
  const { usage, unless, texts = [], flags = [], takesNames = false } = script;
  try {
    const names = Object.keys(unless) as Name[];
    const optionsOf = (keys: readonly string[], type: 'string' | 'boolean') =>
      Object.fromEntries(keys.map((key) => [key, { type }] as const));
    const options = { ...optionsOf([...names, ...texts], 'string'), ...optionsOf([...flags, 'help'], 'boolean') };
    const { values, positionals } = parseArgs({ options, allowPositionals: takesNames });
    const numberOf = (name: Name) => (name in values ? readNumber(name, String(values[name])) : unless[name]);
    const valuesOf = (keys: readonly string[]): object => Object.fromEntries(keys.map((key) => [key, values[key]]));
    if (values.help) return tell(usage);
    const numbers = Object.fromEntries(names.map((name) => [name, numberOf(name)])) as Numbers<Name>;
    process.exitCode = await script.run({
      numbers,
      texts: valuesOf(texts) as Told<Name, Text, Flag>['texts'],
      flags: valuesOf(flags) as Told<Name, Text, Flag>['flags'],
      names: positionals,
    });
  } catch (error) {
    tell(messageOf(error));
    process.exitCode = 1;
  }
}

/** Those that have one of these names, with it; all when there is none. Errors: for a name that is none. */
export function chosenOf<Item>(
  all: Readonly<Record<string, Item>>,
  names: readonly string[],
): readonly (readonly [name: string, item: Item])[] {
  for (const name of names)
    if (!Object.hasOwn(all, name)) throw new Error(`expected one of ${Object.keys(all).join(', ')}, got "${name}"`);
  return Object.entries(all).filter(([name]) => names.length === 0 || names.includes(name));
}

/** A line for each: `plain-flood: one plain socket sends messages as fast as it can`. */
export function listOf(all: Readonly<Record<string, Described>>): string {
  return Object.entries(all)
    .map(([name, { about }]) => `${name}: ${about}`)
    .join('\n');
}

/** Errors: one sentence. */
function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new Error(`--${name}: expected a number from 0, got "${text}"`);
  return number;
}
