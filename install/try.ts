// node install/try.ts: installs the Debian package in a minimal Debian 12 and 13 with a running systemd, and does what administrators
// do with it. It prints a table; the exit status is 1 if a step fails. It needs root, debootstrap, npm and the network.

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { installGlobally, npmPack, run } from './packing.ts';
import { Machine } from './try/machine.ts';
import { otherNodeSteps, type Step, steps } from './try/steps.ts';

const usage = `node install/try.ts [options]

  --releases <list>  the releases of Debian (default: 12,13)
  --bases <folder>   copies its folders 12 and 13, made by debootstrap --include=systemd (default: makes them)
  --node <version>   another Node.js to test the hub with on Debian 13 (default: 24.21.0)
  --help
`;

const codenames: Readonly<Record<string, string>> = { '12': 'bookworm', '13': 'trixie' };
const root = resolve(import.meta.dirname, '..');
const notify = (line: string) => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    releases: { type: 'string', default: '12,13' },
    bases: { type: 'string' },
    node: { type: 'string', default: '24.21.0' },
    help: { type: 'boolean' },
  },
});

if (values.help) notify(usage);
else {
  const work = mkdtempSync(join(tmpdir(), 'patchbay-try-'));
  try {
    process.exitCode = (await tryAll(work)) ? 0 : 1;
  } catch (error) {
    notify(messageOf(error));
    process.exitCode = 1;
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Runs all steps. Returns whether all of them hold. */
async function tryAll(work: string): Promise<boolean> {
  const archive = npmPack(root, join(work, 'hub'));
  const build = (version: string) => {
    const args = ['install/build-deb.ts', '--into', work, '--packed', archive, '--version', version];
    return run(process.execPath, args, root).trim();
  };
  const packages = [build('0.0.1~try1'), build('0.0.1~try2')] as const;
  notify('| Debian | step | | seconds |\n|---|---|---|---:|');
  let holds = true;
  for (const release of values.releases.split(',')) {
    const folder = join(work, release);
    makeRoot(release, folder);
    for (const file of packages) cpSync(file, join(folder, 'root', basename(file)));
    const [first, second] = packages.map((file) => `/root/${basename(file)}`) as [string, string];
    const todo = [...steps(first, second)];
    if (release !== '12') {
      installGlobally(archive, values.node, join(folder, 'opt/patchbay'));
      todo.push(...otherNodeSteps(first, values.node));
    }
    holds = (await tryOn(release, folder, todo)) && holds;
    rmSync(folder, { recursive: true });
  }
  return holds;
}

async function tryOn(release: string, folder: string, todo: readonly Step[]): Promise<boolean> {
  const machine = await Machine.boot(folder);
  try {
    for (const { what, script } of todo) {
      const startMs = performance.now();
      const { isWell, said } = machine.run(script);
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      notify(`| ${release} | ${what} | ${isWell ? said || 'holds' : '**does not hold**'} | ${seconds} |`);
      if (!isWell) {
        notify(`\n${said}\n`);
        return false;
      }
    }
    return true;
  } finally {
    await machine.end();
  }
}

/** Makes the root folder of a Debian. Errors: when the release is unknown or cannot be made. */
function makeRoot(release: string, folder: string): void {
  const codename = codenames[release];
  if (codename === undefined)
    throw new Error(`--releases: expected some of ${Object.keys(codenames).join(',')}, got "${release}"`);
  mkdirSync(folder);
  if (values.bases !== undefined) run('cp', ['-a', `${join(resolve(values.bases), release)}/.`, folder]);
  else run('debootstrap', ['--variant=minbase', '--include=systemd', codename, folder]);
  writeFileSync(join(folder, 'etc/dpkg/dpkg.cfg.d/try'), 'force-unsafe-io\n'); // the folder is temporary
}
