// The options of `npm run bench`, with what they are when nothing is said and what `--quick` makes of them.

import { join, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { thisTree } from '../../spec/support/folder.ts';

export interface Options {
  /** Names of subjects; empty: all. */
  readonly subjects: readonly string[];
  /** Only cases whose name has this; empty: all. */
  readonly cases: string;
  /** The folder of the source tree whose hub is measured. */
  readonly hubFolder: string;
  readonly isQuick: boolean;
  /** Whether RESULTS.md gets what is measured, and whether it is only marked. */
  readonly keeps: boolean;
  readonly marksStale: boolean;
  /** Rounds per contender; undefined: what each subject sets for itself. */
  readonly rounds: number | undefined;
  /** Where results are kept. */
  readonly resultsFolder: string;
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
  readonly v1Sockets: readonly number[];
  readonly v1Window: number;
  readonly natsWindow: number;
  /** Latency: how many sockets hear every change, and the number of changes per second. */
  readonly latencySockets: readonly number[];
  readonly changesPerSecond: number;
  /** Dashboards, and how long those that stall read nothing. */
  readonly dashboards: number;
  readonly stalledAmong: number;
  readonly stallMs: number;
  /** Resume: how often the link is killed, and over how many parameters. */
  readonly kills: number;
  readonly resumeParameters: readonly number[];
  readonly filters: readonly number[];
  readonly idleClients: number;
  /** How many outputs a large Virtual Core has. */
  readonly coreOutputs: number;
  /** How many devices a hub has, half of which do not work. */
  readonly devices: number;
  readonly writes: number;
  /** How many rules a large installation has; a small one has a hundredth of them. */
  readonly rules: number;
  readonly parameters: number;
  /** Past: how many numbers a store has recorded, and for how many days. */
  readonly pastLevels: number;
  readonly pastDays: number;
  /** Recording: changes per second. */
  readonly recordedPerSecond: number;
}

export const usage = `npm run bench -- [subjects…] [options]
npm run bench:compare -- <git ref> [subjects…] [options]

  --cases <text>             only cases whose name has this text
  --rounds <n>               rounds per contender (a subject's own number unless said; compare: 7)
  --quick                    one short round of everything, small: shows that all of it works, measures nothing
  --hub <folder>             the source tree whose hub is measured (this one)
  --into <folder>            where results are kept (bench/results)
  --keep                     writes what is measured into bench/RESULTS.md
  --mark-stale               measures nothing: marks in bench/RESULTS.md what has changed since it was measured
  --profile                  CPU profiles of the hub's processes, into profiles/ below that
  --measure <ms>             how long a rate or a latency is measured (1200)
  --connections <n>          http-read: connections (64)
  --depths <n,…>             http-read: requests under way per connection (1,16)
  --sockets <n,…>            plain-fan-out: sockets (100,1000,5000)
  --window <n>               plain-fan-out, filter-cost: changes under way (64)
  --v1-sockets <n,…>         v1-fan-out: sockets (100,1000)
  --v1-window <n>            v1-fan-out: changes under way, hub (4096)
  --nats-window <n>          changes under way, NATS (8192)
  --latency-sockets <n,…>    plain-latency: sockets (100)
  --changes-per-second <n>   plain-latency: changes (1000)
  --dashboards <n>           v1-dashboards: dashboards (500)
  --stalled-among <n>        v1-stalled: dashboards, of which one in 20 stalls (1000)
  --stall <ms>               v1-stalled: for how long (30000)
  --kills <n>                v1-resume: how often the link is killed (100)
  --resume-parameters <n,…>  v1-resume: parameters in the hub, the first is what others are held against (1000,100000)
  --filters <n,…>            filter-cost: different subscriptions (1,100,1000)
  --idle-clients <n>         idle: sockets (10000)
  --core-outputs <n>         virtual-core: outputs of a large core (10000)
  --devices <n>              dead-devices: devices, half of which do not work (1000)
  --writes <n>               write-rule: writes (3000000)
  --rules <n>                rule-growth: rules of a large installation (10000)
  --parameters <n>           memory: parameters (1000000)
  --past-levels <n>          past: numbers that are asked for (100)
  --past-days <n>            past: for how many days there is something (30)
  --recorded-per-second <n>  recording: changes (20000)
  --help`;

/** Every option that takes numbers, with its values unless said: in full, and quick. */
const numberOptions = {
  measure: [[1200], [100]],
  connections: [[64], [64]],
  depths: [
    [1, 16],
    [1, 16],
  ],
  sockets: [[100, 1000, 5000], [20]],
  window: [[64], [64]],
  'v1-sockets': [[100, 1000], [20]],
  'v1-window': [[4096], [512]],
  'nats-window': [[8192], [256]],
  'latency-sockets': [[100], [20]],
  'changes-per-second': [[1000], [1000]],
  dashboards: [[500], [20]],
  'stalled-among': [[1000], [20]],
  stall: [[30_000], [200]],
  kills: [[100], [3]],
  'resume-parameters': [
    [1000, 100_000],
    [100, 1000],
  ],
  filters: [
    [1, 100, 1000],
    [1, 20],
  ],
  'idle-clients': [[10_000], [100]],
  'core-outputs': [[10_000], [100]],
  devices: [[1000], [20]],
  writes: [[3_000_000], [200_000]],
  rules: [[10_000], [200]],
  parameters: [[1_000_000], [20_000]],
  'past-levels': [[100], [4]],
  'past-days': [[30], [2]],
  'recorded-per-second': [[20_000], [1000]],
} satisfies Record<string, readonly [full: readonly number[], quick: readonly number[]]>;

type NumberOption = keyof typeof numberOptions;
const listOptions: readonly NumberOption[] = [
  'depths',
  'sockets',
  'v1-sockets',
  'latency-sockets',
  'resume-parameters',
  'filters',
];

/** Reads the command line; undefined when help is asked for. Errors: one sentence for an option that is none. */
export function readOptions(args: readonly string[]): Options | undefined {
  const texts = [...Object.keys(numberOptions), 'rounds', 'cases', 'hub', 'into'].map(
    (name) => [name, { type: 'string' }] as const,
  );
  const flags = ['help', 'quick', 'keep', 'mark-stale', 'profile'].map((name) => [name, { type: 'boolean' }] as const);
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries([...texts, ...flags]);
  const parsed = parseArgs({ args: [...args], allowPositionals: true, options });
  const values = parsed.values as Readonly<Record<string, string | boolean | undefined>>;
  if (values.help) return undefined;
  const isQuick = values.quick === true;
  const read = (name: string) =>
    readNumbers(name, values[name] as string | undefined, listOptions.includes(name as NumberOption));
  const numbers = (name: NumberOption): readonly number[] => read(name) ?? numberOptions[name][isQuick ? 1 : 0];
  const number = (name: NumberOption): number => numbers(name)[0]!;
  const resultsFolder = resolve((values.into as string | undefined) ?? join(import.meta.dirname, '../results'));
  return {
    subjects: parsed.positionals,
    cases: (values.cases as string | undefined) ?? '',
    hubFolder: resolve((values.hub as string | undefined) ?? thisTree),
    isQuick,
    keeps: values.keep === true && !isQuick,
    marksStale: values['mark-stale'] === true,
    rounds: read('rounds')?.[0] ?? (isQuick ? 1 : undefined),
    resultsFolder,
    profileFolder: values.profile ? join(resultsFolder, 'profiles') : undefined,
    warmUpMs: isQuick ? 50 : 600,
    measureMs: number('measure'),
    connections: number('connections'),
    depths: numbers('depths'),
    sockets: numbers('sockets'),
    window: number('window'),
    v1Sockets: numbers('v1-sockets'),
    v1Window: number('v1-window'),
    natsWindow: number('nats-window'),
    latencySockets: numbers('latency-sockets'),
    changesPerSecond: number('changes-per-second'),
    dashboards: number('dashboards'),
    stalledAmong: number('stalled-among'),
    stallMs: number('stall'),
    kills: number('kills'),
    resumeParameters: atLeastTwo('resume-parameters', numbers('resume-parameters')),
    filters: numbers('filters'),
    idleClients: number('idle-clients'),
    coreOutputs: number('core-outputs'),
    devices: number('devices'),
    writes: number('writes'),
    rules: number('rules'),
    parameters: number('parameters'),
    pastLevels: number('past-levels'),
    pastDays: number('past-days'),
    recordedPerSecond: number('recorded-per-second'),
  };
}

/** What is measured is held against the first number. */
function atLeastTwo(name: string, numbers: readonly number[]): readonly number[] {
  if (numbers.length < 2) throw new Error(`--${name}: expected two numbers or more, got "${numbers}"`);
  return numbers;
}

function readNumbers(name: string, text: string | undefined, isList: boolean): readonly number[] | undefined {
  if (text === undefined) return undefined;
  const numbers = isList ? text.split(',').map(Number) : [Number(text)];
  if (!numbers.every((number) => Number.isSafeInteger(number) && number > 0))
    throw new Error(`--${name}: expected ${isList ? 'whole numbers' : 'a whole number'} above 0, got "${text}"`);
  return numbers;
}
