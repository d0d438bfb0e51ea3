// The run of the specs itself: what is missing on a machine leaves out the specs that need it, and is told; in CI it fails.

import { readFileSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { modulesOf } from './find-specs.ts';
import { createFolder } from './support/folder.ts';
import { start } from './support/system/process.ts';

const specs = ['spec/console/why.spec.ts', 'spec/model/address.spec.ts'];
const missing = /^Not run.*: for want of chromium-headless-shell: console\/why$/m;

/** Where no program is found. */
const nowhere = '/nowhere';

test('a spec whose program is missing is skipped and named, all others run', async (t) => {
  const { status, output } = await start(t, specs, {
    program: join(import.meta.dirname, 'run.ts'),
    env: { PATH: nowhere, CI: 'false' },
  }).ended();
  t.regex(output, /tests? passed/);
  t.regex(output, missing);
  t.regex(output, /^npm run spec:install installs what they need/m);
  t.is(status, 0, output);
});

test('npm test installs nothing', (t) => {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
  t.regex(`${scripts.test} ${scripts.check}`, /^npm run check node .*spec\/check\.ts$/);
  for (const program of ['check.ts', 'run.ts'])
    for (const [, text] of modulesOf(join(import.meta.dirname, program))) t.false(text.includes("'install', '-y'"));
});

test('with CI=true a missing program is a failure', async (t) => {
  const run = start(t, specs, { program: join(import.meta.dirname, 'run.ts'), env: { PATH: nowhere, CI: 'true' } });
  const { status, output } = await run.ended();
  t.regex(output, missing);
  t.is(status, 1);
});

test('a folder means all its specs, and a name without a match is a failure', async (t) => {
  const program = join(import.meta.dirname, 'run.ts');
  const folder = await start(t, ['spec/wire', 'spec/model/addr*.spec.ts'], { program }).ended();
  t.is(folder.status, 0, folder.output);
  t.regex(folder.output, /tests passed/);

  const { status, errors } = await start(t, ['spec/model/address.spec.ts', 'spec/modle'], { program }).ended();
  t.is(status, 1);
  t.is(errors, 'expected specs, "spec/modle" has none\n');
});

const ava = join(import.meta.dirname, 'ava.ts');

/** Runs, as CI does, a package with this spec, which may look for and write files beside it, and with others. */
async function runPackage(t: ExecutionContext, spec: string, others: Record<string, string> = {}, options = '') {
  const folder = await createFolder(t, {
    'package.json': { type: 'module' },
    'ava.config.js': "export default { files: ['*.spec.js'], workerThreads: false };",
    ...others,
    'bad.spec.js': `import { existsSync, writeFileSync } from 'node:fs'; import test from 'ava'; ${spec}`,
    'run.mjs': `import { runAva } from ${JSON.stringify(ava)};
      process.exitCode = await runAva({ folder: import.meta.dirname, args: [], env: process.env, isCi: true${options} });`,
  });
  const modules = resolve(import.meta.dirname, '../node_modules');
  await mkdir(join(folder, 'node_modules'));
  for (const name of await readdir(modules))
    if (!name.startsWith('.')) await symlink(join(modules, name), join(folder, 'node_modules', name));
  return start(t, [], { program: join(folder, 'run.mjs'), folder }).ended();
}

test('a test that fails together with others in CI and passes alone is counted, and named', async (t) => {
  const once =
    "test('once, or twice: it was late', (t) => { const known = existsSync('x'); writeFileSync('x', ''); t.true(known); });";
  const { status, output } = await runPackage(t, once, {
    'good.spec.js': "import test from 'ava'; test('good', (t) => t.pass());",
  });
  t.is(status, 0, output);
  t.regex(output, /1 test failed[\s\S]*Failed beside all others, runs again alone: bad\.spec\.js[\s\S]*1 test passed/);
  t.regex(
    output,
    /^Tests that passed at the second try only, to be mended: 1\n {2}bad › once, or twice: it was late$/m,
  );
});

test('a second failure fails, and a crash is not a failed test', async (t) => {
  const twice = await runPackage(t, "test('twice', (t) => t.fail());");
  t.is(twice.status, 1, twice.output);
  t.regex(
    twice.output,
    /runs again alone: bad\.spec\.js[\s\S]*1 test failed[\s\S]*^Tests that passed at the second try only, to be mended: 0$/m,
  );

  const crash = await runPackage(t, "test('one', (t) => t.fail()); test('other', () => process.exit(0));");
  t.is(crash.status, 1, crash.output);
  t.notRegex(crash.output, /runs again/);
});

test('a test that hangs in CI is killed, also when it ignores SIGTERM, and runs again alone', async (t) => {
  const config = "export default { files: ['*.spec.js'], workerThreads: false, timeout: '8s' };";
  const hang =
    "process.on('SIGTERM', () => {}); test('once', async (t) => { setInterval(() => {}, 1000); if (!existsSync('x')) { writeFileSync('x', ''); await new Promise(() => {}); } t.pass(); });";
  const exit =
    "import test from 'ava'; process.on('SIGTERM', () => {}); test('good', (t) => { setInterval(() => {}, 1000); t.pass(); });";
  const { status, output } = await runPackage(t, hang, { 'ava.config.js': config, 'exit.spec.js': exit });
  t.is(status, 1, output);
  t.regex(output, /Failed beside all others, runs again alone: (bad\.spec\.js, exit|exit\.spec\.js, bad)\.spec\.js/);
  t.regex(output, /runs again[\s\S]*bad › once[\s\S]*Failed to exit when running exit\.spec\.js/);
});

test('what hangs without an end by AVA is killed after a silence, and runs again alone', async (t) => {
  const config = "export default { files: ['*.spec.js'], workerThreads: false, timeout: '8s' };"; // AVA forgets it while a test has a timeout of its own
  const leak =
    "process.on('SIGTERM', () => {}); test('once', (t) => { t.timeout(60_000); if (!existsSync('x')) { writeFileSync('x', ''); setInterval(() => {}, 1000); } t.pass(); });";
  const { status, output } = await runPackage(t, leak, { 'ava.config.js': config }, ', silentMs: 16_000');
  t.regex(output, /Failed beside all others, runs again alone: bad\.spec\.js/);
  t.is(status, 0, output);
});
