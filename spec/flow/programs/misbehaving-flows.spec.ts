// What flows in TypeScript may do wrong when they are loaded: nothing of it takes the hub down, disturbs other rules or stops a
// later reload. What they may do while they run is in misbehaving-rules.spec.ts.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { type Parts, startMisbehaving, step } from '../../support/misbehaving.ts';

/** After so many that are refused, a good one is saved. */
const goodEvery = 4;
/** Found before the hub imports the file; the flow as it was goes on. */
const refused: [what: string, parts: Parts, log: RegExp][] = [
  [
    'throws at import',
    { top: "wrongAgain();\nfunction wrongAgain() { throw new Error('no'); }" },
    /^flow\.ts:5:\d+: cannot be loaded: no$/,
  ],
  [
    'throws null at import',
    { top: 'throw null;' },
    /^flow\.ts:4:\d+: cannot be loaded: null was thrown, which is no error$/,
  ],
  [
    'rejects with undefined at import',
    { top: 'Promise.reject(undefined);' },
    /^flow\.ts: .*: a promise was rejected with undefined, which is no error$/,
  ],
  [
    'throws in a timer at once',
    { top: 'setTimeout(() => wrong());' },
    /^flow\.ts:5:\d+: failed as soon as it was loaded: wrong$/,
  ],
  [
    'ends the process at import',
    { top: 'process.exit(3);' },
    /^flow\.ts:4:\d+: cannot be loaded: process\.exit\(3\): a flow cannot end the hub$/,
  ],
  [
    'aborts the process at import',
    { top: 'process.abort();' },
    /^flow\.ts:4:\d+: cannot be loaded: process\.abort\(\): a flow cannot end the hub$/,
  ],
  [
    'kills the process at import',
    { top: "process.kill(process.pid, 'SIGKILL');" },
    /^flow\.ts:4:\d+: cannot be loaded: process\.kill\(\d+, SIGKILL\): /,
  ],
  [
    'waits for ever at import',
    { top: 'await new Promise(() => {});' },
    /^flow\.ts: cannot be loaded: expected a file that is read within 2 s, it still waits/,
  ],
  [
    'loops at import',
    { top: 'for (;;);' },
    /^flow\.ts:4:\d+: cannot be loaded: expected a file that is read within 2 s, it still runs/,
  ],
  [
    'loops in rules(on)',
    { rules: 'for (;;);' },
    /^flow\.ts:6:\d+: cannot be loaded: expected a file that is read within 2 s, it still runs/,
  ],
  ['throws in rules(on)', { rules: 'wrong();' }, /^flow\.ts:5:\d+: rules: failed: wrong$/],
  [
    'rejects in rules(on)',
    { rules: "(async () => wrong('late'))();" },
    /^flow\.ts:5:\d+: failed as soon as it was loaded: late$/,
  ],
  [
    'imports a file that throws',
    { top: "import './_bad.ts';" },
    /^flow\.ts: cannot be loaded: bad \(_bad\.ts:2:\d+\)$/,
  ],
  ['has a mistake in its syntax', { top: 'const x = = 1;' }, /^flow\.ts:4:\d+: cannot be loaded: /],
  [
    'changes what all code shares',
    { top: 'JSON.parse = null;' },
    /^flow\.ts: .*: changes JSON\.parse, which the hub needs as it is$/,
  ],
];

test('a flow that misbehaves when it is loaded is named with file and line, disturbs nobody, and the next good save takes effect', async (t) => {
  const { hub, said, save, adds, expectNeighbourWell } = await startMisbehaving(t);
  let plus = step;
  await save({ plus });
  await adds(plus);
  for (const [index, [what, parts, log]] of refused.entries()) {
    await save(parts);
    await t.notThrowsAsync(said(log), what);
    await said(/^not reloaded/);
    await adds(plus, what); // the flow as it was runs on
    if (index % goodEvery < goodEvery - 1 && index < refused.length - 1) continue;
    plus += step;
    await save({ plus });
    await adds(plus, `all up to the one that ${what}`);
  }
  expectNeighbourWell();
  hub.process.kill('SIGTERM');
  t.is((await hub.ended()).status, 0);
});

test('a good save does not wait for one that hangs', async (t) => {
  const {
    save,
    adds,
    said,
    hub: { folder },
  } = await startMisbehaving(t);
  await save({ plus: step });
  await adds(step);
  await save({ top: "writeFileSync(new URL('begun', import.meta.url), ''); await new Promise(() => {});" });
  await eventually(() => existsSync(join(folder, 'begun')));
  await save({ plus: 2 * step }, false);
  t.log(`${Math.round(await adds(2 * step))} ms`);
  await t.notThrowsAsync(said(/newer save waits/));
});
