// What a disk, or somebody with rights, may do to a database.

import { chmod, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Random } from '../../../support/random.ts';

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
