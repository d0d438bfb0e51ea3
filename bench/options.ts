// The options of `npm run bench`, with what they are when nothing is said and what `--quick` makes of them.

import { parseArgs } from 'node:util';

export interface Options {
  /** Names of subjects; empty: all. */
  readonly subjects: readonly string[];
  /** Rounds per contender; undefined: what each subject sets for itself. */
  readonly rounds: number | undefined;
  /** Folder for CPU profiles of the hub's processes; undefined: none are written. */
  readonly profileFolder: string | undefined;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** HTTP: connections, and how many requests each has under way. */
  readonly connections: number;
  readonly depths: readonly number[];
  /** Fan-out: how many sockets hear every change, and how many changes are under way. */
  readonly sockets: readonly number[];
  readonly window: number;
  /** Latency: how many sockets hear every change, and how many changes a second there are. */
  readonly latencySockets: readonly number[];
  readonly changesPerSecond: number;
  readonly writes: number;
  readonly parameters: number;
}

export const usage = `npm run bench -- [subjects…] [options]

  --rounds <n>               rounds per contender (a subject's own number unless said)
  --quick                    one short round of everything, small: shows that all of it works, measures nothing
  --profile                  CPU profiles of the hub's processes, into bench/results/profiles
  --connections <n>          http-read: connections (64)
  --depths <n,…>             http-read: requests under way per connection (1,16)
  --sockets <n,…>            plain-fan-out: sockets (100,1000)
  --window <n>               plain-fan-out: changes under way (64)
  --latency-sockets <n,…>    plain-latency: sockets (100)
  --changes-per-second <n>   plain-latency: changes (1000)
  --writes <n>               write-rule: writes (3000000)
  --parameters <n>           memory: parameters (1000000)
  --help`;

const profileFolder = `${import.meta.dirname}/results/profiles`;

/** Reads the command line; undefined when help is asked for. Errors: one sentence for an option that is none. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      connections: { type: 'string' },
      depths: { type: 'string' },
      sockets: { type: 'string' },
      window: { type: 'string' },
      'latency-sockets': { type: 'string' },
      'changes-per-second': { type: 'string' },
      writes: { type: 'string' },
      parameters: { type: 'string' },
    },
  });
  if (values.help) return undefined;
  const { quick } = values;
  const number = (name: Exclude<keyof typeof values, 'help' | 'quick' | 'profile'>) =>
    readNumbers(name, values[name])?.[0];
  const numbers = (name: 'depths' | 'sockets' | 'latency-sockets') => readNumbers(name, values[name]);
  return {
    subjects: positionals,
    rounds: number('rounds') ?? (quick ? 1 : undefined),
    profileFolder: values.profile ? profileFolder : undefined,
    warmUpMs: quick ? 100 : 600,
    measureMs: quick ? 200 : 1200,
    connections: number('connections') ?? 64,
    depths: numbers('depths') ?? [1, 16],
    sockets: numbers('sockets') ?? (quick ? [20] : [100, 1000]),
    window: number('window') ?? 64,
    latencySockets: numbers('latency-sockets') ?? (quick ? [20] : [100]),
    changesPerSecond: number('changes-per-second') ?? 1000,
    writes: number('writes') ?? (quick ? 200_000 : 3_000_000),
    parameters: number('parameters') ?? (quick ? 20_000 : 1_000_000),
  };
}

function readNumbers(name: string, text: string | undefined): readonly number[] | undefined {
  if (text === undefined) return undefined;
  const numbers = text.split(',').map(Number);
  if (!numbers.every((number) => Number.isSafeInteger(number) && number > 0))
    throw new Error(`--${name}: expected whole numbers above 0, got "${text}"`);
  return numbers;
}
