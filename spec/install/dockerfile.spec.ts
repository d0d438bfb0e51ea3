// The Dockerfile is what it promises to be: a pinned base, no root, one volume, a health check that asks the hub, and a context that
// holds no secrets and nothing that was built.

import { globSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { readReadme, root } from '../support/repository/readme.ts';

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of each stage, from its FROM on; lines that end in a backslash go on. */
function stagesOf(dockerfile: string): Instruction[][] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  const stages: Instruction[][] = [];
  for (const line of lines.filter((line) => line.trim() !== '')) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)!.push({ name, text });
  }
  return stages;
}

const known = /^(FROM|WORKDIR|COPY|RUN|LABEL|USER|VOLUME|EXPOSE|ENV|HEALTHCHECK|ENTRYPOINT|CMD)$/;
const stages = stagesOf(readReadme('Dockerfile'));
const last = stages.at(-1)!;
const textOf = (name: string) => last.filter((one) => one.name === name).map(({ text }) => text);

test('each instruction is known, and all stages have one base, a Node.js on a Debian that is pinned by its digest', (t) => {
  t.is(stages.length, 4);
  for (const { name, text } of stages.flat()) t.regex(name, known, text);
  const [base, ...others] = stages.map(([first]) => first!.text);
  t.regex(base!, /^node:22\.\d+\.\d+-trixie-slim@sha256:[0-9a-f]{64} AS base$/);
  for (const other of others) t.regex(other, /^base( AS \w+)?$/);
});

test('a change of the source leaves the layers of packages as they are; the last one has no libraries of a desktop', (t) => {
  const installing = stages.filter((stage) => stage.some(({ text }) => text.includes('npm install')));
  t.is(installing.length, 2);
  for (const stage of installing) {
    const at = stage.findIndex(({ text }) => text.includes('npm install'));
    const copied = stage.slice(0, at).filter(({ name }) => name === 'COPY');
    t.deepEqual(
      copied.map(({ text }) => text),
      ['package.json package-lock.json .npmrc ./'],
    );
  }
  const [packages] = installing.filter((stage) => stage[0]!.text === 'base AS packages');
  t.true(packages!.some(({ text }) => /npm pkg delete .*optionalDependencies/.test(text)));
  t.true(textOf('COPY').includes('--from=packages /opt/patchbay/node_modules /opt/patchbay/node_modules'));
});

test('the file behind patchbay is executable: npm packs it as one that is not', (t) => {
  const [, target] = /ln -s \/opt\/patchbay\/(\S+) \/usr\/local\/bin\/patchbay/.exec(textOf('RUN').join())!;
  t.is(target, JSON.parse(readReadme('package.json')).bin.patchbay);
  t.true(stages.flat().some(({ name, text }) => name === 'RUN' && text.includes(`chmod 755 /packed/${target}`)));
});

test('the unit and the image configure the allocator to return memory in the same way', (t) => {
  const [, unit] = /^Environment=(MALLOC_.*)$/m.exec(readReadme('install/patchbay.service'))!;
  t.true(textOf('ENV').includes(unit!));
  for (const variable of unit!.split(' ')) t.true(readReadme('install/README.md').includes(variable), variable);
});

test('the hub runs as a user that is not root, in exec form, and may write one volume', (t) => {
  t.deepEqual(textOf('USER'), ['1000:1000']);
  t.deepEqual(textOf('VOLUME'), ['/var/lib/patchbay']);
  const user = last.findIndex(({ name }) => name === 'USER');
  t.true(last.slice(user).every(({ name }) => name !== 'RUN' && name !== 'COPY'));
  t.true(textOf('RUN').some((text) => text.includes('install -d -o 1000 -g 1000 -m 700 /var/lib/patchbay')));
  for (const name of ['ENTRYPOINT', 'CMD']) t.notThrows(() => JSON.parse(textOf(name)[0]!));
  t.is(textOf('ENTRYPOINT').length + textOf('CMD').length, 2);
});

test('only npm downloads anything, and no secret is passed', (t) => {
  for (const { name, text } of stages.flat()) {
    t.false(/curl|wget|http:|sudo|apt/.test(name === 'RUN' ? text : ''), text);
    t.false(['ENV', 'LABEL'].includes(name) && /pass|token|secret/i.test(text), text);
  }
});

test('the health check is a program that checks whether the hub is alive', (t) => {
  const [, command] = /^.* CMD (\[.*\])$/.exec(textOf('HEALTHCHECK')[0]!)!;
  const [node, option, script] = JSON.parse(command!) as string[];
  t.deepEqual([node, option], ['node', '-e']);
  t.notThrows(() => new Function(script!));
  t.true(script!.includes('/hub/health/live'));
  t.true(textOf('EXPOSE').includes(/:(\d+)/.exec(textOf('ENV')[0]!)![1]!));
});

test('excluded files exist, and no file that the build needs is excluded', (t) => {
  const ignored = readReadme('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  for (const name of ['.git', 'node_modules', 'dist']) t.true(ignored.includes(name), name);
  for (const name of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'lib',
    'flows/init',
    'flows/cookbook',
    'install/README.md',
  ]) {
    t.true(globSync(name, { cwd: root }).length > 0, name);
    t.false(
      ignored.some((one) => one === name || name.startsWith(`${one}/`)),
      join(name),
    );
  }
});
