// Files of specs that share a process, run by AVA itself in a package of their own.

import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { createFolder } from '../support/folder.ts';
import { start } from '../support/system/process.ts';

const head = `import { appendFileSync } from 'node:fs';
  import { setImmediate } from 'node:timers/promises';
  import test from './prepared/in-turn.ts';
  const note = (text) => appendFileSync('notes', text + ' ');
  const noted = (name) => async () => { note(name); await setImmediate(); await setImmediate(); note(name + '.'); };
  const macro = test.macro({ exec: async (t, name) => { await noted(name)(); t.pass(); }, title: (_, name) => 'macro  ' + name });`;

test('each file runs in its turn: serial tests first, then all others together', async (t) => {
  const folder = await createFolder(t, {
    'package.json': { type: 'module' },
    'ava.config.js': "export default { extensions: ['ts'], files: ['group.spec.ts'], workerThreads: false };",
    'prepared/in-turn.ts': await readFile(join(import.meta.dirname, 'in-turn.ts'), 'utf8'),
    'group.spec.ts':
      "import { readInTurn } from './prepared/in-turn.ts'; await readInTurn(['desk/one', 'broken', 'two']);",
    'desk/one.spec.ts': `${head.replace('./prepared', '../prepared')}
      await setImmediate();
      test.before(() => note('before'));
      test.after.always(() => note('after'));
      test('a', async (t) => { await noted('a')(); t.fail('is told'); });
      test(macro, 'b');
      test.skip('c', noted('c'));
      test.serial('d', async (t) => { await noted('d')(); t.pass(); });
      test.serial(macro, 'e');`,
    'broken.spec.ts': "throw new Error('cannot be read');",
    'two.spec.ts': `${head}
      test('f', async (t) => { await noted('f')(); t.pass(); });
      test.serial('g', async (t) => { setInterval(() => {}, 1000); await noted('g')(); t.pass(); });`,
  });
  const modules = resolve(import.meta.dirname, '../../node_modules');
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(modules, 'ava'), join(folder, 'node_modules/ava'));

  const program = join(folder, 'node_modules/ava/entrypoints/cli.js');
  const { status, output, errors } = await start(t, ['--no-worker-threads'], { program, folder }).ended();

  t.is(status, 1, output + errors);
  t.is(await readFile(join(folder, 'notes'), 'utf8'), 'before d d. e e. a b a. b. g g. f f. after ', output);
  t.regex(output, /✘ \[fail\]: desk › one › a is told/);
  t.regex(output, /✘ \[fail\]: broken › can be read/);
  t.regex(output + errors, /left open by a test: .*Timeout/);
  t.regex(output, /- \[skip\] desk › one › c/);
  for (const name of ['desk › one › macro b', 'desk › one › d', 'desk › one › macro e', 'two › f', 'two › g'])
    t.true(output.includes(`✔ ${name}`), `${name} in ${output}`);
});
