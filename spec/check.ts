// `npm run check`: format, lint and types, and then the specs, if nothing is wrong. What the specs need is installed meanwhile: one of
// the two waits for the network, the other has one processor to do.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { dependent } from './support/system/dependent.ts';

/** Runs a script of the package. Its output is printed once it is over, so that no two mingle. */
async function runBeside(script: string): Promise<number> {
  const child = spawn(...dependent('npm', ['run', script]), { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  process.stdout.write(output);
  process.stderr.write(errors);
  return (status as number | null) ?? 1;
}

async function lintAndTypes(): Promise<number> {
  return (await runBeside('lint')) || (await runBeside('types'));
}

const [status] = await Promise.all([lintAndTypes(), runBeside('spec:install')]);
if (status === 0) {
  const child = spawn(...dependent('npm', ['run', 'spec']), { stdio: 'inherit' });
  const [specs] = await once(child, 'close');
  process.exitCode = (specs as number | null) ?? 1;
} else process.exitCode = status;
