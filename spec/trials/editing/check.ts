// Runs `patchbay check` and `patchbay test` on the files that the trial has made.

import { check } from '../../../lib/command/check-command.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';

/** Errors: what is wrong with the files, or the first test that fails. */
export async function expectSound(paths: readonly string[]): Promise<number> {
  const errors: string[] = [];
  const console = { print: () => {}, printError: (line: string) => errors.push(line) };
  if ((await check(paths, console as never)) !== 0) throw new Error(errors.join('\n'));
  let passed = 0;
  for await (const { isPassed, name, timeline } of runFlowTests(paths, { isTogether: true })) {
    if (!isPassed) throw new Error(`the test “${name}” fails:\n${timeline}`);
    passed++;
  }
  return passed;
}
