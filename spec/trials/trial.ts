// A trial: a test that passes or fails, at its full size or at the short one that CI runs; and the parsing of its command line.

import { parseArgs } from 'node:util';

/** What the usage says of an option, its value at full size, and at the short one where that is another. */
type Option =
  | readonly [about: string, full: number, short?: number]
  | readonly [about: string, full: string, short?: string];

type Options = Readonly<Record<string, Option>>;

type Values<Of extends Options> = {
  readonly [Name in keyof Of]: Of[Name] extends readonly [string, number, ...unknown[]] ? number : string;
};

/** One of several things that a trial tries. */
interface Part {
  readonly about: string;
}

interface Parts<Item extends Part> {
  readonly all: Readonly<Record<string, Item>>;
  /** The names of those that the short size has. */
  readonly short: readonly string[];
  /** A run at the short size tries so many of them, each time others; left out, all. */
  readonly shortCount?: number;
}

interface Size<Item extends Part = Part> {
  readonly isShort: boolean;
  /** The parts that are tried, by name. */
  readonly parts: readonly (readonly [name: string, part: Item])[];
}

interface Definition<Of extends Options, Item extends Part> {
  /** The trial in one sentence: `sends a hub inputs that it has never seen`. */
  readonly about: string;
  readonly options: Of;
  readonly parts?: Parts<Item>;
  /** Resolves with whether all of it held; what did not has been printed by then. */
  run(values: Values<Of>, size: Size<Item>): Promise<boolean>;
}

export interface Trial {
  readonly about: string;
  /** What `--help` prints. */
  usage(name: string): string;
  /** Runs it with what the command line says. Errors: one sentence, also for an option that there is not. */
  run(args: readonly string[]): Promise<boolean>;
}

const indent = 26;

/** Defines a trial by its options. An option that is a number takes any from 0 on, Infinity as its value at full size. */
export function defineTrial<const Of extends Options, Item extends Part>(definition: Definition<Of, Item>): Trial {
  const { about, options, parts } = definition;
  const flags = { short: { type: 'boolean' }, help: { type: 'boolean' }, list: { type: 'boolean' } } as const;
  const texts = Object.fromEntries(Object.keys(options).map((name) => [name, { type: 'string' }] as const));
  return {
    about,
    usage: (name) => usageOf(name, definition),
    async run(args) {
      const { values, positionals } = parseArgs({
        args: [...args],
        options: { ...texts, ...flags },
        allowPositionals: parts !== undefined,
      });
      if (values.list === true) {
        notify(listOf(parts?.all ?? {}));
        return true;
      }
      const isShort = values.short === true;
      const names = positionals.length === 0 && isShort && parts !== undefined ? someOf(parts) : positionals;
      const given = values as Readonly<Record<string, string | undefined>>;
      const read = Object.entries<Option>(options).map(([name, [, full, short = full]]) => {
        return [name, readValue(name, given[name], isShort ? short : full)] as const;
      });
      return definition.run(Object.fromEntries(read) as Values<Of>, {
        isShort,
        parts: parts === undefined ? [] : chosenOf(parts.all, names),
      });
    },
  };
}

export function notify(line: string): void {
  process.stdout.write(`${line}\n`);
}

const tenths = 10;

/** Prints after each tenth of the work how much is done and how long the tenth took: `rounds: 100 of 1000, 52 s, 1.9/s`. */
export function progress(what: string, all: number): (done: number) => void {
  let told = 0;
  let toldMs = performance.now();
  return (done) => {
    if (done === 0 || done - told < all / tenths) return;
    const tookS = (performance.now() - toldMs) / 1000;
    notify(
      `  ${what}: ${done} of ${all}, the last ${done - told} in ${tookS.toFixed(1)} s, ${((done - told) / tookS).toFixed(1)}/s`,
    );
    told = done;
    toldMs = performance.now();
  };
}

/** Some names of the short size, by chance. */
function someOf({ short, shortCount = short.length }: Pick<Parts<Part>, 'short' | 'shortCount'>): readonly string[] {
  const left = [...short];
  return Array.from({ length: shortCount }, () => left.splice(Math.floor(Math.random() * left.length), 1)[0]!);
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
export function listOf(all: Readonly<Record<string, Part>>): string {
  return Object.entries(all)
    .map(([name, { about }]) => `${name}: ${about}`)
    .join('\n');
}

function usageOf<Of extends Options, Item extends Part>(
  trial: string,
  { about, options, parts }: Definition<Of, Item>,
): string {
  const line = (option: string, text: string) => `  ${option.padEnd(indent)} ${text}`;
  const rows = Object.entries<Option>(options).map(([name, [text, full, short]]) =>
    line(
      `--${name} <${typeof full === 'number' ? 'n' : 'text'}>`,
      `${text} (${full}${short === undefined ? '' : `; short: ${short}`})`,
    ),
  );
  const names = parts === undefined ? '' : ' [names…]';
  return [
    `npm run trial -- ${trial}${names} [options]: ${about}`,
    '',
    ...rows,
    ...(parts === undefined
      ? []
      : [
          line(
            '--list',
            `prints the names (short: ${parts.shortCount === undefined ? '' : `${parts.shortCount} of `}${parts.short.join(', ')})`,
          ),
        ]),
    line('--short', 'the size that CI runs'),
  ].join('\n');
}

/** Errors: one sentence. */
function readValue(name: string, text: string | undefined, unless: string | number): string | number {
  if (text === undefined || typeof unless === 'string') return text ?? unless;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new Error(`--${name}: expected a number from 0, got "${text}"`);
  return number;
}
