// Files of specs that share a process (in-turn.ts), so that not each of hundreds reads and compiles the whole hub.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { longest } from '../longest.ts';
import { modulesOf } from '../modules-of.ts';

/** As many as a process gets at most: one of them that takes long is to keep few waiting. */
const most = 16;
const root = join(import.meta.dirname, '../..');
const folder = join(root, 'spec/.together');
const ownProcess = join(root, 'spec/support/own-process.ts');

/** Writes a file for AVA for each group of specs; returns these files, and the specs that have a process of their own. */
export function group(specs: readonly string[]): string[] {
  const alone = specs.filter(isAlone);
  const others = specs.filter((spec) => !alone.includes(spec));
  const count = Math.ceil(others.length / most);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const groups = Array.from({ length: count }, (_, index) => {
    const path = join(folder, `${index + 1}.spec.ts`);
    // Neighbours are much alike, and so is the time that they take.
    writeFileSync(path, textOf(others.filter((_, at) => at % count === index)));
    return relative(root, path);
  });
  return [...alone, ...groups];
}

function isAlone(spec: string): boolean {
  const path = join(root, spec);
  return longest.includes(path) || modulesOf(path).has(ownProcess);
}

function textOf(specs: readonly string[]): string {
  const names = specs.map((spec) => relative('spec', spec).replace(/\.spec\.ts$/, ''));
  return `import { readInTurn } from '../prepared/in-turn.ts';\n\nawait readInTurn(${JSON.stringify(names)});\n`;
}
