// `npm run spec`: installs the programs that specs need (Debian, as root or with sudo), leaves out the specs whose programs
// are still missing, and runs all others; with CI=true nothing may be missing. `npm run spec -- spec/graph/*.spec.ts` runs some.

import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { runAva } from './ava.ts';
import { prepare } from './prepared/prepare.ts';
import { type ProgramName, pathOf, programs } from './support/programs.ts';

const root = resolve(import.meta.dirname, '..');
const isCi = ['true', '1'].includes(process.env.CI ?? '');
const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const patterns = args.filter((arg) => !arg.startsWith('-'));
const specs = globSync(patterns.length > 0 ? patterns : 'spec/**/*.spec.ts', { cwd: root }).sort();

const needed = new Map(specs.map((spec) => [spec, programsOf(join(root, spec))]));
install(missing());
const stillMissing = new Set(missing());
const [lacking, runnable] = [true, false].map((isLacking) =>
  specs.filter((spec) => needed.get(spec)!.some((name) => stillMissing.has(name)) === isLacking),
) as [string[], string[]];

const status = isCi && lacking.length > 0 ? 1 : await runSpecs();
if (lacking.length > 0) console.log(`\nNot run${isCi ? ', which fails with CI=true' : ''}: ${describeLacking()}`);
process.exitCode = status;

/** The names of the programs that a module and its imports within spec/ call for. */
function programsOf(path: string, seen = new Set<string>()): ProgramName[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  const called = [...text.matchAll(/^needs\(([^)]*)\);/gm)].flatMap(([, list]) => list!.match(/[\w-]+/g) ?? []);
  const imported = [...text.matchAll(/^(?:import|export|}).* from '(\.[^']*)';$/gm)]
    .map(([, name]) => join(dirname(path), name!))
    .filter((module) => module.startsWith(import.meta.dirname));
  return [...(called as ProgramName[]), ...imported.flatMap((module) => programsOf(module, seen))];
}

function missing(): ProgramName[] {
  return [...new Set([...needed.values()].flat())].filter((name) => !programs[name].isThere());
}

function install(names: readonly ProgramName[]): void {
  if (names.length === 0 || !existsSync('/etc/debian_version') || pathOf('apt-get') === undefined) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return;
  const packages = names.flatMap((name) => programs[name].packages);
  console.log(`Specs need ${packages.join(' ')}: apt-get installs them`);
  const apt = (...args: readonly string[]) => {
    const command = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', ...args];
    spawnSync(isRoot ? command[0]! : 'sudo', isRoot ? command.slice(1) : command, { stdio: 'inherit' });
  };
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
}

async function runSpecs(): Promise<number> {
  if (runnable.length === 0) return 0;
  const files = lacking.length > 0 || patterns.length > 0 ? runnable : [];
  const atOnce = `--concurrency=${2 * availableParallelism()}`; // half of their time they wait
  const env = {
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'), // each file is a process
    ...process.env,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${await prepare()}`.trim(),
  };
  return runAva({ folder: root, args: [atOnce, ...options, ...files], env, isCi });
}

/** `for want of chromium: client/browser, console/why; for want of git: bench/compare`. */
function describeLacking(): string {
  const byWant = Map.groupBy(lacking, (spec) =>
    needed
      .get(spec)!
      .filter((name) => stillMissing.has(name))
      .join(' and '),
  );
  const nameOf = (spec: string) => relative('spec', spec).replace(/\.spec\.ts$/, '');
  return [...byWant].map(([want, specs]) => `for want of ${want}: ${specs.map(nameOf).join(', ')}`).join('; ');
}
