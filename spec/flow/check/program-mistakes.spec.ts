// Errors of flows in TypeScript: each is reported once, at its line and column, without a stack.

import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import { createFolder } from '../../support/folder.ts';
import { readMark } from '../../support/mistakes/mistake.ts';
import { programMistakes } from '../../support/mistakes/program-mistakes.ts';

const desk = { connections: { desk: { type: 'dummy', parameters: ['mic,B', 'lamp,B', 'level,F'] } } };

test('errors of flows in TypeScript are reported at their places', async (t) => {
  const files = programMistakes.map(({ text }, index) => [`flows/${index}.ts`, readMark(text).text]);
  const folder = await createFolder(t, {
    'flows/desk.json5': desk,
    'flows/_lamp.ts': '',
    ...Object.fromEntries(files),
  });
  await symlink(join(resolve(import.meta.dirname, '../../..'), 'node_modules'), join(folder, 'node_modules'));
  await symlink('nowhere.ts', join(folder, 'flows/_gone.ts'));
  const { message } = (await t.throwsAsync(loadFlows([join(folder, 'flows')])))!;
  const lines = message.split('\n');
  programMistakes.forEach(({ title, text, reported }, index) => {
    const { line, column } = readMark(text);
    const file = join(folder, `flows/${index}.ts`);
    const own = lines.filter((one) => one.startsWith(file));
    t.is(own.length, 1, `${title}: ${own.join('\n')}`);
    t.true(own[0]?.startsWith(`${file}:${line}:${column}: `), `${title}: ${line}:${column} in ${own[0]}`);
    for (const part of reported) t.true(own[0]?.includes(part), `${title}: ${part} in ${own[0]}`);
  });
  t.is(lines.length, programMistakes.length, message);
});
