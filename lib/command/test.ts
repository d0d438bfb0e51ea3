// `patchbay test`: runs the tests of flow files in virtual time.

import { printable, printableLines } from '../model/printable.ts';
import { runFlowTests } from '../testing/run-tests.ts';
import type { Console } from './console.ts';

export interface TestOptions {
  /** true: all files are one installation; else each file is one by itself. */
  readonly together?: boolean;
}

/** Prints a line per test, a timeline for each that fails, and a count; exit status 1 when any fails or there is none. */
export async function test(paths: readonly string[], options: TestOptions, console: Console): Promise<number> {
  const counts = { passed: 0, failed: 0 };
  for await (const result of runFlowTests(paths, { isTogether: options.together ?? false })) {
    if (result.isPassed) {
      counts.passed++;
      console.print(printable(`ok    ${result.file}: ${result.name}`));
    } else {
      counts.failed++;
      console.print(`${printable(`FAIL  ${result.place}: ${result.name}`)}\n${printableLines(result.timeline)}\n`);
    }
  }
  const sum = counts.passed + counts.failed;
  if (sum === 0) {
    console.printError('expected flow files with tests, got none');
    return 1;
  }
  const count = `${counts.passed} ${counts.passed === 1 ? 'test' : 'tests'} passed`;
  console.print(counts.failed === 0 ? count : `${count}, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}
