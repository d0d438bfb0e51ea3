// Trials in their short version, as CI runs them: `npm run trial -- <name> --short`.

import { join } from 'node:path';
import test from 'ava';
import { start } from '../support/system/process.ts';

const program = join(import.meta.dirname, 'run.ts');
/** It stands for a hang, as on a machine that has next to no time for it a trial takes minutes. */
const limitMs = 420_000;

/** Declares the test that a trial holds; `shows` is what it prints then. */
export function holds(sentence: string, name: string, shows: RegExp): void {
  test(sentence, async (t) => {
    t.timeout(limitMs + 10_000);
    const { status, output, errors } = await start(t, [name, '--short'], { program, env: { DISPLAY: '' } }).ended(
      limitMs,
    );
    t.is(status, 0, output + errors);
    t.regex(output, shows);
  });
}
