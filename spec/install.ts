// `npm run spec:install` installs the programs that specs need: on Debian, as root or with a `sudo` that asks for nothing. Elsewhere it says
// which are missing; not in CI, which begins before npm has installed what the check of the keyboard needs.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findSpecs, missingOf } from './find-specs.ts';
import { type ProgramName, pathOf, programs } from './support/programs.ts';

const needed = [...findSpecs().values()];
install(missingOf(needed));
const missing = process.env.CI ? [] : missingOf(needed);
if (missing.length > 0) {
  console.error(`Still missing: ${missing.join(', ')}. Packages of Debian: ${packagesOf(missing).join(' ')}`);
  process.exitCode = 1;
}

function install(names: readonly ProgramName[]): void {
  if (names.length === 0 || !existsSync('/etc/debian_version') || pathOf('apt-get') === undefined) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return;
  const packages = packagesOf(names);
  console.log(`Specs need ${packages.join(' ')}: apt-get installs them`);
  const apt = (...args: readonly string[]) => {
    const command = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', ...args];
    spawnSync(isRoot ? command[0]! : 'sudo', isRoot ? command.slice(1) : command, { stdio: 'inherit' });
  };
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...packages);
}

function packagesOf(names: readonly ProgramName[]): string[] {
  return names.flatMap((name) => programs[name].packages);
}
