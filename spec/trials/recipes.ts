// npm run trial -- recipes: mutates each rule of each recipe of the cookbook in every way that changes its behaviour, and checks that a
// test of the recipe fails. Exit status 1, with the rule, if none does.

import { cp, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import JSON5 from 'json5';
import { findFlowFiles } from '../../lib/flow/files/find.ts';
import { MistakeList } from '../../lib/json5/mistake.ts';
import { runFlowTests } from '../../lib/testing/run-tests.ts';
import { createTemporaryFolder } from '../support/folder.ts';
import { defineTrial, notify } from './trial.ts';

interface Rule {
  enabled?: boolean;
  rules?: Rule[];
  name?: string;
  map?: string;
  when?: string;
  to?: unknown;
}

/** Each breaks a rule, and returns false where it has nothing to break. */
const ways: Readonly<Record<string, (rule: Rule) => boolean>> = {
  'without the rule': (rule) => {
    rule.enabled = false;
    return true;
  },
  'its condition turned around': (rule) => {
    if (rule.when === undefined) return false;
    rule.when = `!(${rule.when})`;
    return true;
  },
  'its condition left out': (rule) => {
    const had = rule.when !== undefined;
    delete rule.when;
    return had;
  },
};

export const trial = defineTrial({
  about: 'breaks each rule in each recipe of the cookbook: a test of the recipe must then fail',
  options: { most: ['how many ways are tried', Infinity, 40] },
  run,
});

async function run({ most }: { readonly most: number }): Promise<boolean> {
  const paths = await findFlowFiles(['flows/cookbook'], new MistakeList());
  const { path: folder, remove } = await createTemporaryFolder('recipes');
  let tried = 0;
  let missed = 0;
  try {
    for (const path of paths.filter((one) => one.endsWith('.json5'))) {
      const text = await readFile(path, 'utf8');
      const { length } = rulesOf(JSON5.parse<Rule>(text).rules);
      for (let index = 0; index < length; index++)
        for (const [name, breakRule] of Object.entries(ways)) {
          const flow = JSON5.parse<Rule>(text);
          const rule = rulesOf(flow.rules)[index]!;
          if (tried >= most || !breakRule(rule)) continue;
          tried++;
          if (await fails(join(folder, String(tried)), path, flow)) continue;
          missed++;
          notify(`${path}: rule "${rule.name ?? index}", ${name}: no test fails`);
        }
    }
  } finally {
    await remove();
  }
  notify(`${paths.length} recipes, ${tried} broken rules, ${missed} that no test sees`);
  return missed === 0 && tried > 0;
}

function rulesOf(items: Rule[] = []): Rule[] {
  return items.flatMap((item) => (item.rules === undefined ? [item] : rulesOf(item.rules)));
}

/** Whether a test of a flow file fails that is other than it was, beside what its folder has. */
async function fails(folder: string, path: string, flow: object): Promise<boolean> {
  await cp(dirname(path), folder, { recursive: true });
  const changed = join(folder, basename(path));
  await writeFile(changed, JSON.stringify(flow));
  for await (const { isPassed } of runFlowTests([changed])) if (!isPassed) return true;
  return false;
}
