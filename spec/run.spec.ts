// The run of the specs itself: what is missing on a machine leaves out the specs that need it, and is told; in CI it fails.

import { join } from 'node:path';
import test from 'ava';
import { start } from './support/system/process.ts';

const specs = ['spec/console/why.spec.ts', 'spec/model/address.spec.ts'];
const missing = /^Not run.*: for want of chromium-headless-shell: console\/why$/m;

/** Where nothing is found, apt-get neither: so nothing is installed. */
const nowhere = '/nowhere';

test('a spec whose program is missing is left out and named, all others run', async (t) => {
  const { status, output } = await start(t, specs, {
    program: join(import.meta.dirname, 'run.ts'),
    env: { PATH: nowhere, CI: 'false' },
  }).ended();
  t.regex(output, /tests? passed/);
  t.regex(output, missing);
  t.is(status, 0, output);
});

test('with CI=true a missing program is a failure', async (t) => {
  const run = start(t, specs, { program: join(import.meta.dirname, 'run.ts'), env: { PATH: nowhere, CI: 'true' } });
  const { status, output } = await run.ended();
  t.regex(output, missing);
  t.is(status, 1);
});
