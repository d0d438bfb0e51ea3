// npm run trial -- cuts: damages the databases of a store in every way that a disk may, including truncation at every 4 KiB and flipped
// bits, and starts a hub on each. The hub must start, have the data of the database or report it lost, never have other values, and store
// new data. It also fills the disk of a running hub, and lets the store fill it. Exit status 1 otherwise.

import { chmod, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Random } from '../../support/random.ts';
import { defineTrial, notify } from '../trial.ts';
import { prepareRecords } from './damaged-records.ts';
import { type Cuts, prepareCuts } from './damaged-values.ts';
import { crowdDisk, fillDisk } from './full-disk.ts';

const options = {
  parameters: ['the number of values in the database of values', 10_000, 1000],
  changes: ['the number of changes in the databases of history and audit', 10_000, 1000],
  every: ['the step between the lengths at which a database is cut, in bytes', 4096],
  turns: ['the number of flipped bits; bytes are replaced with noise a tenth as often', 200],
  most: ['the maximum number of evenly selected damages to each database', Infinity, 2],
} as const;

export const trial = defineTrial({
  about:
    'damages the databases of a store in every way that a disk can, and fills the disk: the hub must start and report what is lost',
  options,
  run: (numbers, { isShort }) => run(numbers, isShort),
});

async function run(
  { parameters, changes, every, turns, most }: Readonly<Record<keyof typeof options, number>>,
  isShort: boolean,
): Promise<boolean> {
  let failed = 0;
  for (const [what, work] of Object.entries({
    ...(!isShort && { 'a full disk': fillDisk }),
    'a crowded disk': crowdDisk,
  })) {
    const done = await work();
    if ('reason' in done) notify(`${what} is left out: ${done.reason}`);
    else for (const mistake of done.mistakes) notify(`${what}: ${mistake}`);
    if ('mistakes' in done && done.mistakes.length > 0) failed++;
  }
  const isAdministrator = process.getuid?.() === 0;
  if (isAdministrator) process.seteuid?.('nobody'); // rights bind it
  const databases = {
    values: () => prepareCuts(parameters),
    history: () => prepareRecords(['history'], changes),
    audit: () => prepareRecords(['audit'], changes),
  };
  for (const [name, prepare] of Object.entries(databases))
    failed += await damageAll(name, await prepare(), { every, turns, most });
  return failed === 0;
}

/** Returns how many damages a hub did not bear. */
async function damageAll(
  name: string,
  cuts: Cuts,
  { every, turns, most }: { every: number; turns: number; most: number },
): Promise<number> {
  const all = [
    folderInPlace,
    ...readOnly,
    ...Array.from({ length: Math.ceil(cuts.bytes / every) }, (_, index) => cutAt(index * every)),
    ...Array.from({ length: turns }, (_, index) => turnBits(1 + (index % 8) ** 2, index)),
    ...Array.from({ length: turns / 10 }, (_, index) => noise(16 * 4 ** (index % 8), index)),
  ];
  const step = Math.max(1, all.length / most);
  const damages = all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
  let failed = 0;
  let slowestMs = 0;
  let costly = 0;
  try {
    for (const { what, damage, repair } of damages) {
      const { mistakes, startMs, lost } = await cuts.start(damage, repair);
      slowestMs = Math.max(slowestMs, startMs);
      if (lost > 0) costly++;
      if (mistakes.length > 0) failed++;
      for (const mistake of mistakes.slice(0, 5)) notify(`${name}, ${what}: ${mistake}`);
    }
  } finally {
    await cuts.remove();
  }
  notify(
    `${name}: ${damages.length} damages, ${failed} of them with a mistake; ${costly} cost something; ` +
      `slowest start ${slowestMs.toFixed(0)} ms`,
  );
  if (costly === 0) notify(`${name}: no damage has cost anything`);
  return costly === 0 ? failed + 1 : failed;
}

export type Damage = (path: string) => Promise<unknown>;

export interface NamedDamage {
  readonly what: string;
  readonly damage: Damage;
  /** What ends it while the hub runs. */
  readonly repair?: Damage;
}

export function cutAt(length: number): NamedDamage {
  return { what: `cut at ${length} bytes`, damage: (path) => truncate(path, length) };
}

/** Turns so many bits, anywhere. */
export function turnBits(count: number, seed: number): NamedDamage {
  const damage = async (path: string) => {
    const random = new Random(seed, count);
    const file = await readFile(path);
    for (let turned = 0; turned < count; turned++) file[random.below(file.length)]! ^= 1 << random.below(8);
    await writeFile(path, file);
  };
  return { what: `${count} bits turned (seed ${seed})`, damage };
}

/** Noise in the place of some bytes. */
export function noise(bytes: number, seed: number): NamedDamage {
  const damage = async (path: string) => {
    const random = new Random(seed, 0);
    const file = await readFile(path);
    const from = random.below(Math.max(1, file.length - bytes));
    for (let at = from; at < Math.min(from + bytes, file.length); at++) file[at] = random.below(256);
    await writeFile(path, file);
  };
  return { what: `${bytes} bytes of noise (seed ${seed})`, damage };
}

export const folderInPlace: NamedDamage = {
  what: 'a folder in its place',
  damage: async (path) => {
    await rm(path);
    await mkdir(path);
  },
};

/** Rights bind nobody who is the administrator. */
export const readOnly: readonly NamedDamage[] = [
  { what: 'a read-only file', damage: (path) => chmod(path, 0o444), repair: (path) => chmod(path, 0o644) },
  {
    what: 'a read-only folder',
    damage: (path) => chmod(dirname(path), 0o555),
    repair: (path) => chmod(dirname(path), 0o755),
  },
];
