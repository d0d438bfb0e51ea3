// What `patchbay` says where there is nothing to run: commands that work as they are printed.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import json5 from 'json5';
import { check } from '../../lib/command/check-command.ts';
import { calledAs, quoted } from '../../lib/command/first-steps.ts';
import { init } from '../../lib/command/init.ts';
import { test as testFlows } from '../../lib/command/test.ts';
import { startHub } from '../../lib/hub/index.ts';
import { printable } from '../../lib/model/printable.ts';
import { createLogRecorder } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { portsOf, writer } from '../support/hub.ts';
import { readReadme } from '../support/repository/readme.ts';
import { call as inProcess, runToEnd } from '../support/system/process.ts';

const root = resolve(import.meta.dirname, '../..');

/** What a command prints in a folder, with its errors and its exit status. */
async function runIn(cwd: string, command: string, path = '') {
  const env = { ...process.env, PATH: `${path}:${process.env.PATH}` };
  const {
    code = 0,
    stdout,
    stderr,
  } = await promisify(execFile)('sh', ['-c', command], { cwd, env }).catch((error) => error);
  return { code, stdout, stderr };
}

const calls: [what: string, prepare: (t: ExecutionContext) => Promise<[command: string, path: string]>][] = [
  ['in a clone', async () => [`node ${join(root, 'lib/main.ts')}`, '']],
  [
    'installed globally',
    async (t) => {
      const bin = await createFolder(t, { 'lib/README': '' });
      await writeFile(join(bin, 'patchbay'), `#!/bin/sh\nexec node ${bin}/lib/patchbay "$@"\n`, { mode: 0o755 }); // as npm links it
      await symlink(join(root, 'lib/patchbay.ts'), join(bin, 'lib/patchbay'));
      return ['patchbay', bin];
    },
  ],
];

for (const [what, prepare] of calls)
  test(`${what}, the demo and the help are offered by commands that work`, async (t) => {
    const folder = await createFolder(t);
    const [command, path] = await prepare(t);
    const { code, stdout, stderr } = await runIn(folder, command, path);
    t.deepEqual([code, stdout], [1, '']);
    t.regex(stderr, /^No flow files were given, and this folder contains no folder named flows\.\n/);
    const [, demo] = /^The demo: +(.+)$/m.exec(stderr)!;
    const [, call, flow] = /^(.*) run (\S+)$/.exec(demo!)!;
    t.regex((await runIn(folder, `${call} --version`, path)).stdout, /^\d+\.\d+\.\d+\n$/);
    const checked = await inProcess((console) => check([resolve(folder, flow!)], console));
    t.deepEqual(checked, { status: 0, output: checked.output, errors: '' });
    t.regex(checked.output, /^ok: \d+ connections/);
    const [, help] = /^All commands: +(.+)$/m.exec(stderr)!;
    t.regex((await runIn(folder, help!, path)).stdout, /^Usage: patchbay /);
  });

test('init creates a folder that runs, with valid files and passing tests; it never changes existing files', async (t) => {
  const folder = await createFolder(t);
  const call = `node ${join(root, 'lib/main.ts')}`;
  const [, begin] = /^Start here: +(.+)$/m.exec((await runIn(folder, call)).stderr)!;
  const made = await runIn(folder, begin!);
  t.is(made.code, 0, made.stderr);
  t.regex(made.stdout, /^created README\.md$/m);
  const paths = [join(folder, 'flows')];
  t.is((await inProcess((console) => check(paths, console))).status, 0);
  t.is((await inProcess((console) => testFlows(paths, {}, console))).status, 0);
  const flow = join(folder, 'flows/studio.json5');
  await writeFile(flow, (await readFile(flow, 'utf8')).replace('port: 17011', 'port: 0'));
  const log = createLogRecorder();
  const hub = await startHub({ paths, log });
  t.teardown(() => hub.stop());
  hub.write('desk/mic-button', true, writer);
  t.is(hub.find('desk/red-light')!.value, true);
  const list = await fetch(`http://127.0.0.1:${portsOf(log)[0]}/hub/dashboards`);
  t.deepEqual(await list.json(), { dashboards: ['studio'] });
  t.deepEqual(
    log.lines
      .filter(({ level }) => level === 'warn' || level === 'error')
      .filter(({ message }) => !message.endsWith('the disk is slow')),
    [],
  );
  await hub.stop();
  await writeFile(flow, '{}');
  await rm(join(folder, 'README.md'));
  const again = await runIn(folder, begin!);
  t.deepEqual([again.code, again.stdout], [1, '']);
  t.regex(again.stderr, /^flows\/studio\.json5: file already exists; nothing was created$/m);
  t.is(await readFile(flow, 'utf8'), '{}');
  t.false(existsSync(join(folder, 'README.md')));
});

test('init creates files for another place, as in the README for the image', async (t) => {
  const folder = await createFolder(t);
  const readme = readReadme('install/README.md');
  const [, args] = /^docker run .* -v "\$PWD:\/work" -w \/work patchbay (init studio.*)$/m.exec(readme)!;
  const [, name, image] = /^ENV (PATCHBAY_IMAGE)=(\w+)$/m.exec(readReadme('Dockerfile'))!;
  const { code, stdout, stderr } = await runIn(folder, `${name}=${image} node ${join(root, 'lib/main.ts')} ${args}`);
  t.is(code, 0, stderr);
  const [command] = /^docker run -d.*\n.* patchbay$/m.exec(readme)!;
  t.true(stdout.includes(`\n${command}\n\nThen open http://localhost:17011/hub/\n`), stdout);
  const flow = await readFile(join(folder, 'studio/flows/studio.json5'), 'utf8');
  const { connections } = json5.parse(flow);
  const [volume] = /^VOLUME (.+)$/m.exec(readReadme('Dockerfile'))!.slice(1);
  t.like(connections, { store: { folder: volume }, api: { bindIp: '' } });
  t.regex(
    await readFile(join(folder, 'studio/README.md'), 'utf8'),
    /^- \/var\/lib\/patchbay contains the stored values/m,
  );
  t.true(readme.includes(`:${volume} patchbay`) && readme.includes('"$PWD"/studio/flows:/etc/patchbay/flows:ro'));
  t.is((await inProcess((console) => check([join(folder, 'studio/flows')], console))).status, 0);
});

test('init reports a folder that cannot be created, and ends', async (t) => {
  const { status, errors } = await runToEnd(t, ['init', '/proc/nothing']);
  t.is(status, 1);
  t.regex(errors, /ENOENT/);
});

test('init accepts a data folder with any character, and refuses an invalid address', async (t) => {
  const folder = await createFolder(t);
  const data = `/srv/ann's "data"\\new`;
  t.is(await init(join(folder, 'a'), 'patchbay', { print: () => {} }, { data, bindIp: '::1' }), 0);
  const { connections } = json5.parse(await readFile(join(folder, 'a/flows/studio.json5'), 'utf8'));
  t.like(connections, { store: { folder: data }, api: { bindIp: '::1' } });
  const error = await t.throwsAsync(init(join(folder, 'b'), 'patchbay', { print: () => {} }, { bindIp: 'all' }));
  t.is(error!.message, `--bind-ip: expected an IP address, or '' for all, got "all"`);
  t.false(existsSync(join(folder, 'b')));
});

test('a package of a folder is called by npx', (t) => {
  t.is(calledAs('/home/ann/studio/node_modules/.bin/patchbay', '/home/ann/studio'), 'npx patchbay-hub');
  t.is(calledAs('/usr/local/bin/patchbay', '/home/ann'), 'patchbay');
  t.is(calledAs('/home/ann/patch bay/lib/main.ts', '/home/ann'), "node 'patch bay/lib/main.ts'");
});

test('init explains how to enter a folder with a space; with a broken link in the way it creates nothing', async (t) => {
  const folder = await createFolder(t);
  const call = `node ${join(root, 'lib/main.ts')}`;
  const { stdout } = await runIn(folder, `${call} init "ann's studio"`);
  const [, go] = /^(cd .*)$/m.exec(stdout)!;
  t.is((await runIn(folder, `${go} && pwd`)).stdout.trim(), join(folder, "ann's studio"));
  await symlink(join(folder, 'nowhere'), join(folder, 'README.md'));
  const { code, stderr } = await runIn(folder, `${call} init`);
  t.is(code, 1);
  t.regex(stderr, /README\.md: file already exists; nothing was created/);
  t.false(existsSync(join(folder, 'flows')));
});

test('a quoted path is one word of a shell, with any characters, and no option', async (t) => {
  for (const path of [
    'plain/path.json5',
    'with space',
    "it's",
    'a"b',
    '$(touch x)',
    '`touch x`',
    'a\\b',
    '-rf',
    '+1',
    '~home',
    '*',
    '!x',
    'a;b&c|d>e',
    'a\nb',
    'a\u001b[2Jb',
    'a\u009bb\u202ec',
    "a\n'b\\n",
    '#a',
    '',
    'Größe 日本',
  ]) {
    const word = quoted(path, 'linux');
    t.is(printable(word), word, 'it may be printed');
    const { stdout } = await promisify(execFile)('bash', ['-c', `printf %s ${word}`]);
    t.is(stdout.replace(/^\.\/(?=[-+])/, ''), path, word);
    t.false(stdout.startsWith('-'));
  }
  t.is(quoted('a b', 'win32'), '"a b"');
  t.is(quoted('C:\\flows\\a.json5', 'win32'), 'C:\\flows\\a.json5');
});
