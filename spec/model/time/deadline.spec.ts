import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import test from 'ava';
import { within } from '../../../lib/model/time/deadline.ts';

test('a result in time is returned', async (t) => {
  t.is(await within(Promise.resolve(5), 60_000), 5);
  await t.throwsAsync(within(Promise.reject(new Error('its own')), 60_000), { message: 'its own' });
});

test('a late result is not awaited', async (t) => {
  t.is(await within(new Promise(() => {}), 1), undefined);
});

test('a deadline of a finished result keeps no process alive', (t) => {
  const path = resolve(import.meta.dirname, '../../../lib/model/time/deadline.ts');
  const code = `import { within } from ${JSON.stringify(path)}; console.log(await within(Promise.resolve(5), 2 ** 31 - 1));`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', code], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  t.is(stdout, '5\n');
  t.is(status, 0);
});
