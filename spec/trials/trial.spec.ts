// How a trial parses the command line, and its error messages for invalid options.

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readReadme } from '../support/repository/readme.ts';
import { start } from '../support/system/process.ts';
import { chosenOf, defineTrial, listOf } from './trial.ts';

const parts = { flood: { about: 'sends' }, churn: { about: 'comes and goes' } };

/** Defines a trial and returns what it was run with. */
async function runWith(...args: string[]): Promise<unknown> {
  let seen: unknown;
  const trial = defineTrial({
    about: 'tries',
    options: { rounds: ['how many', 7, 2], days: ['how long', Infinity], client: ['which', 'careful'] },
    parts: { all: parts, short: ['churn'] },
    async run(values, { isShort, parts }) {
      seen = [values.rounds, values.days, values.client, isShort, ...parts.map(([name]) => name)];
      return true;
    },
  });
  await trial.run(args);
  return seen;
}

test('an option has its value at full size, at the short size, or as given', async (t) => {
  t.deepEqual(await runWith(), [7, Infinity, 'careful', false, 'flood', 'churn']);
  t.deepEqual(await runWith('--short'), [2, Infinity, 'careful', true, 'churn']);
  t.deepEqual(await runWith('--short', '--rounds', '5', '--client', 'naive', 'flood'), [
    5,
    Infinity,
    'naive',
    true,
    'flood',
  ]);
});

test('a run at the short size tries some of its parts, another run other ones', async (t) => {
  const seen = new Set<string>();
  const trial = defineTrial({
    about: 'tries',
    options: {},
    parts: { all: parts, short: ['flood', 'churn'], shortCount: 1 },
    async run(_, { parts }) {
      seen.add(parts.map(([name]) => name).join());
      return true;
    },
  });
  for (let round = 0; round < 100 && seen.size < 2; round++) await trial.run(['--short']);
  t.deepEqual([...seen].sort(), ['churn', 'flood']);
  await trial.run([]);
  t.true(seen.has('flood,churn'), 'at full size it tries all');
});

test('an invalid number is refused, and so are an unknown option and name', async (t) => {
  for (const text of ['x', '-1', 'Infinity', ''])
    await t.throwsAsync(runWith(`--rounds=${text}`), {
      message: `--rounds: expected a number from 0, got "${text}"`,
    });
  await t.throwsAsync(runWith('--turns', '3'), { message: /Unknown option '--turns'/ });
  await t.throwsAsync(runWith('tide'), { message: 'expected one of flood, churn, got "tide"' });
});

test('trials can be selected by name', (t) => {
  t.deepEqual(chosenOf(parts, []), Object.entries(parts));
  t.throws(() => chosenOf(parts, ['toString']), { message: 'expected one of flood, churn, got "toString"' });
  t.is(listOf(parts), 'flood: sends\nchurn: comes and goes');
});

const run = (t: ExecutionContext, ...args: string[]) =>
  start(t, args, { program: join(import.meta.dirname, 'run.ts') }).ended();

test('npm run trial lists every trial, the README describes each, and --help says what its options are at both sizes', async (t) => {
  const list = await run(t);
  t.is(list.status, 0, list.errors);
  const names = [...list.output.matchAll(/^([\w-]+): /gm)].map(([, name]) => name);
  for (const name of ['fuzz', 'abuse', 'kills', 'faults', 'store', 'domain']) t.true(names.includes(name), name);
  const readme = readReadme('spec/trials/README.md');
  const described = [...readme.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  t.deepEqual(described.sort(), names.filter((name) => !['store', 'domain'].includes(name!)).sort());
  const help = await run(t, 'fuzz', '--help');
  t.regex(help.output, /^ {2}--inputs <n> +the number of requests and frames to send \(500000; short: 3000\)$/m);
  const unknown = await run(t, 'fuz');
  t.is(unknown.status, 1);
  t.regex(unknown.output, /^expected one of abuse, .*, got "fuz"$/m);
});
