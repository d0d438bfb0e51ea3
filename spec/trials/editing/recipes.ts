// Recipes of the cookbook, created with the wizard: each slot gets a parameter of the house.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import JSON5 from 'json5';
import { thisTree } from '../../support/folder.ts';
import { notify } from '../trial.ts';
import { expectSound } from './check.ts';
import type { Hand } from './hand.ts';

/** A page of the console at a hub with a folder of its own. */
export interface Desk {
  readonly hand: Hand;
  readonly folder: string;
  /** Writes a file, and waits until the hub runs it. */
  put(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** The present value of a parameter of the hub. */
  value(address: string): unknown;
  read(name: string): Promise<string>;
}

const names = [
  'tally/two-microphones',
  'timers/lamp-stays-on',
  'timers/debounce-a-contact',
  'alarms/escalate-silence',
  'alarms/keep-until-acknowledged',
  'alarms/report-silence',
  'buttons/toggle-a-light',
  'buttons/press-three-times',
  'levels/scale-a-fader',
  'machines/lock-two-doors',
];

interface Recipe {
  readonly variables: Readonly<Record<string, string>>;
  readonly connections: Readonly<Record<string, { readonly type: string; readonly parameters?: readonly string[] }>>;
}

/** Errors: the first recipe whose file is not sound, or has other addresses. */
export async function rebuildRecipes(desk: Desk, most: number): Promise<string> {
  let [clicks, keys, tests] = [0, 0, 0];
  const chosen = names.slice(0, most);
  for (const name of chosen) {
    const recipe = JSON5.parse<Recipe>(readFileSync(join(thisTree, `flows/cookbook/${name}.json5`), 'utf8'));
    const parameters = Object.entries(recipe.connections).flatMap(([id, { type, parameters = [] }]) =>
      type === 'dummy' && !id.includes('${') ? parameters.map((parameter) => `${id}/${parameter}`) : [],
    );
    await desk.put('house.json5', JSON5.stringify({ connections: { house: { type: 'dummy', parameters } } }));
    const own = await make(desk, name, recipe);
    tests += await expectSound([desk.folder]);
    const counted = desk.hand.count();
    notify(`  ${name}: ${counted.clicks} clicks, ${counted.keys} keys`);
    if (counted.hesitations.length > 0) throw new Error(`${name}: ${counted.hesitations.join('\n')}`);
    clicks += counted.clicks;
    keys += counted.keys;
    await desk.remove(own);
  }
  return `${chosen.length} recipes, ${tests} tests pass, ${clicks} clicks, ${keys} keys`;
}

/** Fills the slots and saves; resolves to the name of the file. */
async function make({ hand, read }: Desk, name: string, recipe: Recipe): Promise<string> {
  const { page } = hand;
  const own = basename(name);
  await hand.press('Flows');
  await page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor();
  await hand.press('Recipes');
  await hand.press(own.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase()));
  await page.locator('.slot input').first().waitFor();
  const slots = await page.locator('.slot input').all();
  const labels = await Promise.all(slots.map((slot) => slot.getAttribute('aria-label')));
  for (const [index, [variable, usual]] of Object.entries(recipe.variables).entries()) {
    if (!usual.includes('/')) continue;
    await hand.fill(labels[index]!, `house/${usual}`);
    await hand.key('Tab');
    await page.getByLabel('Text changes').getByText(`${variable}: 'house/${usual}'`).first().waitFor();
  }
  await hand.see('No errors');
  await hand.press('Apply');
  await page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor();
  const { variables } = JSON5.parse<Recipe>(await read(`${own}.json5`));
  for (const [variable, usual] of Object.entries(recipe.variables)) {
    const expected = usual.includes('/') ? `house/${usual}` : usual;
    if (variables[variable] !== expected)
      throw new Error(`${name}: ${variable}: expected ${expected}, got ${variables[variable]}`);
  }
  return `${own}.json5`;
}
