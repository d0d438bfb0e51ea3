// What a script of the bench is told on the command line, and what it says of an option that is wrong.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { start } from '../support/system/process.ts';
import { chosenOf, listOf } from './script.ts';

const module = pathToFileURL(resolve(import.meta.dirname, 'script.ts'));
const program = `import { runAnyScript, tell } from '${module}';
  await runAnyScript({
    usage: 'how it is used',
    unless: { rounds: 7, days: Infinity },
    texts: ['folder'],
    flags: ['list'],
    takesNames: true,
    async run({ numbers: { rounds, days }, texts, flags, names }) {
      tell([rounds, days, texts.folder, flags.list, ...names].join(' '));
      return 3;
    },
  });`;

async function runWith(
  t: ExecutionContext,
  ...args: string[]
): Promise<readonly [status: number | null, output: string]> {
  const { status, output } = await start(t, ['--eval', program, '--', ...args], {
    program: '--input-type=module',
  }).ended();
  return [status, output.trim()];
}

test('a script has its numbers, texts, flags and names, and its status', async (t) => {
  t.deepEqual(await runWith(t, 'one', '--rounds', '2', '--folder', 'here', '--list', 'two'), [
    3,
    '2 Infinity here true one two',
  ]);
  t.deepEqual(await runWith(t), [3, '7 Infinity']);
  t.deepEqual(await runWith(t, '--help'), [0, 'how it is used']);
});

test('a number that is none is refused, and so is an option that is none', async (t) => {
  for (const text of ['x', '-1', 'Infinity', ''])
    t.deepEqual(await runWith(t, `--rounds=${text}`), [1, `--rounds: expected a number from 0, got "${text}"`]);
  const [status, output] = await runWith(t, '--turns', '3');
  t.is(status, 1);
  t.true(output.includes("Unknown option '--turns'"), output);
});

test('what is chosen by name is what there is, or nothing is', (t) => {
  const all = { flood: { about: 'sends' }, churn: { about: 'comes and goes' } };
  t.deepEqual(chosenOf(all, []), Object.entries(all));
  t.deepEqual(chosenOf(all, ['churn']), [['churn', all.churn]]);
  for (const name of ['tide', 'toString'])
    t.throws(() => chosenOf(all, [name]), { message: `expected one of flood, churn, got "${name}"` });
  t.is(listOf(all), 'flood: sends\nchurn: comes and goes');
});
