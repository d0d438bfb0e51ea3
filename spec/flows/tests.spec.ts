// The tests of all example flows pass, and they are worth something: without any one rule of a file some test of it fails,
// and its timeline names what the rule writes.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import test from 'ava';
import JSON5 from 'json5';
import { test as runTests } from '../../lib/command/test.ts';
import { findFlowFiles } from '../../lib/flow/files/find.ts';
import { MistakeList } from '../../lib/json5/mistake.ts';
import { type FlowTestResult, runFlowTests } from '../../lib/testing/run-tests.ts';
import { createFolder } from '../support/folder.ts';

interface Item {
  enabled?: boolean;
  rules?: Item[];
  name?: string;
  to?: string | string[] | Record<string, string>;
  instances?: { template: string };
  variables?: Record<string, unknown>;
}

function rulesOf(items: Item[] = []): Item[] {
  return items.flatMap((item) => (item.rules === undefined ? [item] : rulesOf(item.rules)));
}

async function resultsOf(path: string): Promise<FlowTestResult[]> {
  const results = [];
  for await (const result of runFlowTests([path])) results.push(result);
  return results;
}

const paths = await findFlowFiles(['flows'], new MistakeList());
const files = await Promise.all(paths.map(async (path) => ({ path, parts: await partsOf(path) })));

/** The texts of a flow file, of the template that it names, and of what stands beside it under its name, by their names in its folder. */
async function partsOf(path: string): Promise<[name: string, text: string][]> {
  if (path.endsWith('.ts')) return []; // its rules are made by a function
  const text = await readFile(path, 'utf8');
  const { instances } = JSON5.parse<Item>(text);
  const mirrors = path.replace('.json5', '.types.json');
  const others = [
    ...(instances === undefined ? [] : [join(dirname(path), instances.template)]),
    ...(existsSync(mirrors) ? [mirrors] : []),
  ];
  const texts = others.map(async (one): Promise<[string, string]> => [basename(one), await readFile(one, 'utf8')]);
  return [[basename(path), text], ...(await Promise.all(texts))];
}

for (const { path, parts } of files) {
  test(`${path}: has tests, and they pass`, async (t) => {
    const results = await resultsOf(path);
    t.true(results.length > 0);
    for (const { isPassed, name, timeline } of results) t.true(isPassed, `${name}\n${timeline}`);
  });

  for (const [part, partText] of parts)
    for (const [index, { name, to }] of rulesOf(JSON5.parse<Item>(partText).rules).entries())
      test(`${path}: without rule "${name ?? index}" of ${part} a test fails and names what it writes`, async (t) => {
        const flow = JSON5.parse<Item>(partText);
        rulesOf(flow.rules)[index]!.enabled = false;
        const folder = await createFolder(t, { ...Object.fromEntries(parts), [part]: flow });
        const [address] = typeof to === 'object' && !Array.isArray(to) ? Object.keys(to) : [to!].flat();
        const whole = address!.replace(/\$\{(\w+)\}/g, (all, name) => String(flow.variables?.[name] ?? all));
        const written = whole.split(/\$\{.*?\}/); // what is around the variables of its instance
        t.true(written.some((part) => part.length > 1));
        let others = 'all tests pass';
        for await (const { isPassed, timeline } of runFlowTests([folder])) {
          if (isPassed) continue;
          if (/^>> /m.test(timeline) && written.every((part) => timeline.includes(part))) return t.pass();
          others = timeline;
        }
        t.fail(others);
      });
}

test('the cookbook has an index by topic with each recipe, and each recipe describes itself in three lines', async (t) => {
  const index = await readFile('flows/README.md', 'utf8');
  const recipes = paths.filter((path) => path.startsWith('flows/cookbook/'));
  t.true(recipes.length >= 45);
  for (const path of recipes) {
    t.true(index.includes(`](${path.replace('flows/', '')})`), path);
    t.regex(await readFile(path, 'utf8'), /^(\/\/ [A-Z`].*[.]\n){3}(?!\/\/)/, path);
  }
});

test('the command prints a line per test and a count, and has exit status 0', async (t) => {
  const lines: string[] = [];
  const console = { print: (line: string) => void lines.push(line), printError: t.fail };
  t.is(await runTests(['flows/demo.json5'], {}, console), 0);
  t.deepEqual(lines.slice(-2), ['ok    flows/demo.json5: the fader is shown in percent', '5 tests passed']);
});

test('the command prints the timeline of a failure, and has exit status 1', async (t) => {
  const flow = JSON5.parse<Item>(await readFile('flows/demo.json5', 'utf8'));
  rulesOf(flow.rules)[5]!.enabled = false;
  const folder = await createFolder(t, { 'demo.json5': flow });
  const lines: string[] = [];
  t.is(await runTests([folder], {}, { print: (line) => void lines.push(line), printError: t.fail }), 1);
  const failure = lines.find((line) => line.startsWith('FAIL'))!;
  t.regex(failure, /^FAIL {2}.*demo\.json5:\d+:\d+: the doorbell lights the lamp for three seconds/);
  t.regex(
    failure,
    /^>> {2}0:00:05\.000 {2}desk\/door-lamp +expected false, got true, since 0:00:00\.000 by rule "doorbell/m,
  );
  t.is(lines.at(-1), '4 tests passed, 1 failed');
});

test('without any test the command has exit status 1', async (t) => {
  const folder = await createFolder(t, { 'empty.json5': {} });
  const errors: string[] = [];
  t.is(await runTests([folder], {}, { print: t.fail, printError: (line) => void errors.push(line) }), 1);
  t.deepEqual(errors, ['expected flow files with tests, got none']);
});
