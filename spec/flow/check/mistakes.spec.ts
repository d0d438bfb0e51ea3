// Errors that rule authors make: each is reported once, at its line and column, with what to write instead.

import { join } from 'node:path';
import test from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import { createFolder } from '../../support/folder.ts';
import { readMark } from '../../support/mistakes/mistake.ts';
import { mistakes } from '../../support/mistakes/mistakes.ts';

for (const { title, text: marked, reported } of mistakes)
  test(`error: ${title}: ${marked
    .split('\n')
    .find((line) => line.includes('¦'))
    ?.trim()}`, async (t) => {
    const { text, line, column } = readMark(marked);
    const folder = await createFolder(t, { 'flow.json5': text });
    const { message } = (await t.throwsAsync(loadFlows([join(folder, 'flow.json5')])))!;
    t.is(message.split('\n').length, 1, message);
    t.true(message.startsWith(`${join(folder, 'flow.json5')}:${line}:${column}: `), `${line}:${column} in ${message}`);
    for (const part of reported) t.true(message.includes(part), `${part} in ${message}`);
  });
