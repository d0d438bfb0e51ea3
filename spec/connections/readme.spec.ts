// The README of connection types, followed to the letter in a clone: its example compiles, is registered by the lines that it
// shows, and keeps the contract.

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { blocksOf, change, createClone, readReadme, save, shellEnvironment } from '../support/repository/readme.ts';
import { unnamedSettings } from '../support/repository/settings.ts';

const run = promisify(execFile);
const readme = 'lib/connections/README.md';

test('the example is complete: its code is a connection type that fulfils the contract', async (t) => {
  t.timeout(240_000);
  const clone = await createClone(t, 17_011, ['flows', 'lib', 'spec']);
  for (const block of blocksOf(readReadme(readme)))
    if (block.language === 'diff') await change(t, clone, block);
    else if (block.language === 'md')
      await writeFile(join(clone.folder, 'lib/connections/udp-text/README.md'), block.text);
    else await save(t, clone, block);

  const compilerOptions = JSON.parse(await readFile(join(clone.folder, 'tsconfig.json'), 'utf8'));
  const include = ['lib/connections', 'spec/connections/udp-text'];
  await writeFile(join(clone.folder, 'tsconfig.json'), JSON.stringify({ ...compilerOptions, include }));
  const env = { ...process.env, GOGC: 'off' }; // the compiler, in Go, needs none of its memory back before it ends
  await t.notThrowsAsync(run('node_modules/.bin/tsc', ['--noEmit', '--singleThreaded'], { cwd: clone.folder, env }));

  await import(join(clone.folder, 'spec/type-table.ts'));
  const table = await readFile(join(clone.folder, 'README.md'), 'utf8');
  t.true(table.includes('(lib/connections/udp-text/README.md) | Text over UDP, in both directions. |'));

  const { udpText } = await import(join(clone.folder, 'lib/connections/udp-text/udp-text.ts'));
  const ofType = await readFile(join(clone.folder, 'lib/connections/udp-text/README.md'), 'utf8');
  t.deepEqual(unnamedSettings(ofType, udpText), []);

  const [, command] = /`(npx ava .*?)`/.exec(readReadme(readme))!;
  const { stdout } = await run('sh', ['-c', command!], { cwd: clone.folder, env: shellEnvironment });
  t.regex(stdout, /udp-text: when its port is taken it is failed/);
  t.regex(stdout, /\d+ tests passed/);
});
