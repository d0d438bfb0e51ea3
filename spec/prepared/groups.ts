// Files of specs that share a process (in-turn.ts), so that not each of hundreds reads and compiles the whole hub.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { modulesOf, root } from '../find-specs.ts';

/** The specs that take longest, the first one most. They begin first: else one of them would run alone when all others are over. */
export const longest: readonly string[] = [
  'spec/readme',
  'spec/package',
  'spec/flow/programs/misbehaving-flows',
  'bench/spec/run',
  'spec/trials/abuse/abuse',
  'spec/trials/clock/clock',
  'spec/trials/store/cuts',
  'spec/trials/domain/rogue',
  'spec/trials/domain/isolation',
  'spec/readme-pages',
  'spec/connections/rest-api/http/guard/foreign-pages',
  'spec/connections/keyboard/hub',
  'spec/command/run/start',
  'spec/trials/fuzz/fuzz',
].map((name) => join(root, `${name}.spec.ts`));

/** As many as a process gets at most: one of them that takes long is to keep few waiting. */
const most = 32;
/** Those that look at pages share with their own kind: a process of theirs has a Chromium. They take longer. */
const mostWithPages = 9;
const folder = join(root, 'spec/.together');
const ownProcess = join(root, 'spec/support/own-process.ts');
/** A spec of a trial starts processes and waits for them. */
const trialAtShortSize = join(root, 'spec/trials/short.ts');
const ownBrowser = join(root, 'spec/support/browser/own-browser.ts');

/** Writes a file for AVA for each group of specs; returns these files, and the specs that have a process of their own. */
export function group(specs: readonly string[]): string[] {
  const alone = specs.filter(
    (spec) =>
      longest.includes(join(root, spec)) || [ownProcess, trialAtShortSize].some((module) => imports(spec, module)),
  );
  const others = specs.filter((spec) => !alone.includes(spec));
  const withPages = others.filter((spec) => imports(spec, ownBrowser));
  const without = others.filter((spec) => !withPages.includes(spec));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const groups = [...deal(withPages, mostWithPages), ...deal(without, most)].map((group, index) => {
    const path = join(folder, `${String(index + 1).padStart(2, '0')}.spec.ts`); // they begin in this order
    writeFileSync(path, textOf(group));
    return relative(root, path);
  });
  return [...alone, ...groups];
}

function imports(spec: string, module: string): boolean {
  return modulesOf(join(root, spec)).has(module);
}

/** Neighbours are much alike, and so is the time that they take: each goes to another group. */
function deal(specs: readonly string[], most: number): string[][] {
  const count = Math.ceil(specs.length / most);
  return Array.from({ length: count }, (_, index) => specs.filter((_, at) => at % count === index));
}

function textOf(specs: readonly string[]): string {
  const names = specs.map((spec) => relative('spec', spec).replace(/\.spec\.ts$/, ''));
  return `import { readInTurn } from '../prepared/in-turn.ts';\n\nawait readInTurn(${JSON.stringify(names)});\n`;
}
