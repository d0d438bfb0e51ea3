// A run of AVA, and in CI a second one, alone, of what failed or hung beside all others: a machine that is busy for a moment breaks
// no build, a fault does, for it fails twice. Both runs are in the output, and so are the names of tests that needed the second one.
// AVA ends a process that hangs by SIGTERM, which a hub in it may ignore, and after a test with a timeout of its own not at all: such a
// process is killed.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { dependent } from './support/system/dependent.ts';

/** More files than this fail by no accident, also on a machine that does much else. */
const repeatedFiles = 8;
/** Lines of AVA's summary that say no more than that some tests failed: no crash, no hook, no file that hangs. */
const plainSummary = /^\d+ tests? (failed|passed|skipped|remained pending after a timeout)$/;
const hanging = /^ *(?:\d+ tests were pending in|Failed to exit when running) (.+)$|^ *✘ (.+) exited due to SIGKILL$/gm;
/** What AVA prints when nothing has ended for as long as its timeout. */
const timeOut = /^ *✘ Timed out while running tests$/m;
/** The time that processes have to end by SIGTERM. */
const endingMs = 3000;
/** Nothing runs any more if there is no output for this time, which exceeds the timeout of each test. */
const longestSilenceMs = 9 * 60_000;

export interface AvaRun {
  /** Where the package is. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isCi: boolean;
  /** The time without output after which its processes are killed, in CI. */
  readonly silentMs?: number;
}

/** Runs AVA and returns its status. */
export async function runAva(run: AvaRun): Promise<number> {
  const { folder, isCi } = run;
  const first = await runOnce(run);
  const files = isCi && first.status !== 0 && isPlain(first.output) ? failedFiles(folder, first.output) : [];
  if (files.length === 0 || files.length > repeatedFiles) return first.status;
  console.log(`\nFailed beside all others, runs again alone: ${files.join(', ')}\n`);
  const options = run.args.filter((arg) => arg.startsWith('-') && !arg.startsWith('--concurrency'));
  const second = await runOnce({ ...run, args: [...options, '--concurrency=1', ...files] });
  const stillFailed = failedTests(second.output);
  // AVA leaves out the folders that all files of a run have in common
  const late = failedTests(first.output).filter((name) => !stillFailed.some((still) => name.endsWith(still)));
  console.log(`\nTests that passed at the second try only, to be mended: ${late.length}`);
  for (const name of late) console.log(`  ${name}`);
  return second.status;
}

async function runOnce({
  folder,
  args,
  env,
  isCi,
  silentMs = longestSilenceMs,
}: AvaRun): Promise<{ status: number; output: string }> {
  const cli = join(folder, 'node_modules/ava/entrypoints/cli.js');
  const child = spawn(...dependent(process.execPath, [cli, ...args]), {
    cwd: folder,
    env: isCi ? { ...env, AVA_FORCE_CI: 'not-ci' } : env, // only then does it keep which files failed
    stdio: ['inherit', isCi ? 'pipe' : 'inherit', 'inherit'],
  });
  child.stdout?.pipe(process.stdout, { end: false });
  const kill = () => killChildren(child.pid!);
  const silence = child.stdout === null ? undefined : setTimeout(kill, silentMs).unref();
  child.stdout?.on('data', (chunk) => {
    silence?.refresh();
    if (timeOut.test(String(chunk))) setTimeout(kill, endingMs).unref();
  });
  const [output, status] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1))),
  ]);
  return { status, output };
}

/** On Linux, as CI is. */
function killChildren(pid: number): void {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    for (const child of children) if (child > 0) process.kill(child, 'SIGKILL');
  } catch {
    // they have ended
  }
}

const isPlain = (output: string) =>
  output
    .slice(output.lastIndexOf('\n  ─'))
    .split('\n')
    .slice(2)
    .map((line) => line.trim())
    .every((line) => line === '' || plainSummary.test(line));

/** Those with tests that failed, and those that hung. */
function failedFiles(folder: string, output: string): string[] {
  const kept = JSON.parse(readFileSync(join(folder, 'node_modules/.cache/ava/failing-tests.json'), 'utf8')) as string[];
  const hung = Array.from(output.matchAll(hanging), ([, ...found]) => found.find((file) => file !== undefined)!);
  return [...new Set([...kept.map((path) => relative(folder, path)), ...hung])];
}

/** The titles of failed tests: each stands in a line of its own in the summary, and before the message where it failed. */
function failedTests(output: string): string[] {
  const lines = new Set(output.split('\n').map((line) => line.trim()));
  return [...output.matchAll(/✘ \[fail\]: (.*)/g)].map(([, text]) => {
    const words = text!.split(' ');
    const ends = Array.from(words, (_, index) => words.slice(0, words.length - index).join(' '));
    return ends.find((title) => lines.has(title)) ?? text!;
  });
}
