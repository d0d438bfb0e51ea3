// The README is true: its commands print what it says, its flow files are right, its tables name what there is.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { connectionTypes } from '../lib/connections/registry.ts';
import { parseDashboard } from '../lib/dashboard/parse.ts';
import { stepTypes } from '../lib/flow/steps/steps.ts';
import { loadFlows } from '../lib/hub.ts';
import { createFolder } from './support/folder.ts';
import { startTestHub } from './support/hub.ts';
import { needs } from './support/programs.ts';

needs('curl');

const root = resolve(import.meta.dirname, '..');
const readme = await readFile(join(root, 'README.md'), 'utf8');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text!);

test('the console blocks print what they show, in order, against the demo', async (t) => {
  const demo = await readFile(join(root, 'flows/demo.json5'), 'utf8');
  const hub = await startTestHub(t, demo.replace('port: 17011', 'port: 0'));
  const steps = blocks('console').flatMap((block) => [...block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)]);
  t.true(steps.length >= 10);
  for (const [, command, expected] of steps) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command!.replaceAll(':17011', `:${hub.port}`)], {
      cwd: root,
    });
    t.is(stdout.trimEnd(), expected!.trimEnd(), command);
  }
});

for (const [index, block] of blocks('json5').entries())
  test(`file ${index + 1}, a flow file or a dashboard, has no mistake`, async (t) => {
    if (/^ {2}widgets:/m.test(block)) t.notThrows(() => parseDashboard('dashboard.json5', block));
    else await t.notThrowsAsync(loadFlows([await createFolder(t, { 'flow.json5': block })]));
  });

test('the demo is the flow file that npm start runs, and has no mistake', async (t) => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  t.is(scripts.start, 'node lib/main.ts run flows/demo.json5');
  await t.notThrowsAsync(loadFlows([join(root, 'flows/demo.json5')]));
});

test('the table of steps is that of the code', (t) => {
  for (const [name, { summary }] of stepTypes) t.true(readme.includes(`| \`${name}\` | ${summary} |`), name);
});

test('the tables name every connection type and every verb', async (t) => {
  for (const type of connectionTypes.keys()) t.regex(readme, new RegExp(`^\\| \`${type}\` \\|`, 'm'), type);
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const verb of ['dev', 'check', 'format', 'bench']) {
    t.truthy(scripts[verb]);
    t.regex(readme, new RegExp(`\`npm run ${verb}\``));
  }
});
