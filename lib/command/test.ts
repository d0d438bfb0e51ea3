// `patchbay test`: runs the tests in flow files in virtual time.

import { counted } from '../model/digits.ts';
import { printable, printableLines } from '../model/printable.ts';
import { type Cli, command, flowFiles } from './cli.ts';
import type { Console } from './console.ts';

export function register(cli: Cli): void {
  command(cli, 'test', 'run the tests of flow files in virtual time; exit with status 1 if one fails')
    .argument(...flowFiles)
    .option('--together', 'treat all files as one installation (default: each file is a separate installation)')
    .action((paths: string[], options: TestOptions) => cli.finish(test(paths, options, cli.console)));
}

interface TestOptions {
  /** true means that all files form one installation; otherwise, each file is a separate installation. */
  readonly together?: boolean;
}

/**
 * Prints one line per test, a timeline for each failed test, and the number of tests. Returns exit status 1 if a test fails or there are no
 * tests.
 */
export async function test(paths: readonly string[], options: TestOptions, console: Console): Promise<number> {
  const { runFlowTests } = await import('../testing/run-tests.ts');
  const counts = { passed: 0, failed: 0 };
  const files = new Set<string>();
  let needsOthers = false;
  for await (const result of runFlowTests(paths, { isTogether: options.together ?? false })) {
    files.add(result.file);
    if (result.isPassed) {
      counts.passed++;
      console.print(printable(`ok    ${result.file}: ${result.name}`));
    } else {
      counts.failed++;
      needsOthers ||= /: unknown connection "/.test(result.timeline);
      console.print(`${printable(`FAIL  ${result.place}: ${result.name}`)}\n${printableLines(result.timeline)}\n`);
    }
  }
  const sum = counts.passed + counts.failed;
  if (sum === 0) {
    console.printError('expected flow files with tests, got none');
    return 1;
  }
  const count = `${counted(counts.passed, 'test')} passed`;
  console.print(counts.failed === 0 ? count : `${count}, ${counts.failed} failed`);
  if (needsOthers && files.size > 1 && options.together !== true)
    console.print('If a file uses connections of other files, test the files as one installation: add --together');
  return counts.failed === 0 ? 0 : 1;
}
