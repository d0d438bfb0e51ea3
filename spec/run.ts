// `npm run spec`: runs the specs, but for those whose programs are missing, which it names; with CI=true nothing may be missing.
// `npm run spec -- spec/graph` runs some: files, patterns and folders.

import { availableParallelism } from 'node:os';
import { messageOf } from '../lib/model/error.ts';
import { runAva } from './ava.ts';
import { findSpecs, missingOf, root } from './find-specs.ts';
import { group } from './prepared/groups.ts';
import { compiledModules, prepare } from './prepared/prepare.ts';

const isCi = ['true', '1'].includes(process.env.CI ?? '');
const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const patterns = args.filter((arg) => !arg.startsWith('-'));

const needed = findOrExit();
const missing = new Set(missingOf(needed.values()));
const [lacking, runnable] = [true, false].map((isLacking) =>
  [...needed.keys()].filter((spec) => needed.get(spec)!.some((name) => missing.has(name)) === isLacking),
) as [string[], string[]];

const status = isCi && lacking.length > 0 ? 1 : await runSpecs();
if (lacking.length > 0)
  console.log(
    `\nNot run${isCi ? ', which fails with CI=true' : ''}: ${describeLacking()}\nnpm run spec:install installs what they need, on Debian`,
  );
process.exitCode = status;

function findOrExit(): ReturnType<typeof findSpecs> {
  try {
    return findSpecs(patterns.length > 0 ? patterns : undefined);
  } catch (error) {
    console.error(messageOf(error));
    process.exit(1);
  }
}

async function runSpecs(): Promise<number> {
  if (runnable.length === 0) return 0;
  const files = patterns.length > 0 ? runnable : group(runnable);
  const atOnce = `--concurrency=${2 * availableParallelism()}`; // some of their time they wait
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? compiledModules(), // a run within a run throws nothing away
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${await prepare()}`.trim(),
  };
  return runAva({ folder: root, args: [atOnce, ...options, ...files], env, isCi });
}

/** `for want of chromium: client/browser, console/why; for want of git: bench/spec/compare`. */
function describeLacking(): string {
  const byWant = Map.groupBy(lacking, (spec) =>
    needed
      .get(spec)!
      .filter((name) => missing.has(name))
      .join(' and '),
  );
  const nameOf = (spec: string) => spec.replace(/^spec\/|\.spec\.ts$/g, '');
  return [...byWant].map(([want, specs]) => `for want of ${want}: ${specs.map(nameOf).join(', ')}`).join('; ');
}
