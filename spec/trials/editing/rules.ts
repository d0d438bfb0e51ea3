// Rules of the cookbook, removed from their files and then entered again.

import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import JSON5 from 'json5';
import type { Rule } from '../../../lib/console/editor/rule-fields.ts';
import { editJson5 } from '../../../lib/json5/edit-json5.ts';
import { readTree } from '../../../lib/json5/json5-tree.ts';
import { thisTree } from '../../support/folder.ts';
import { notify } from '../trial.ts';
import { expectSound } from './check.ts';
import type { Desk } from './recipes.ts';
import { enterRule, openNewRule, takeOver } from './sheet.ts';

const longestLine = 120;
/** Of a rule, and the comma behind it. */
const indent = 5;
const cookbook = join(thisTree, 'flows/cookbook');

/** Enters the rules of recipes in their order. Errors: the first text that is another than the cookbook's. */
export async function rebuildRules(desk: Desk, most: number): Promise<string> {
  const { hand } = desk;
  let entered = 0;
  let [clicks, keys] = [0, 0];
  const wrong: string[] = [];
  const hesitations = new Set<string>();
  const names = globSync('*/*.json5', { cwd: cookbook }).sort();
  for (const name of names) {
    if (entered >= most) break;
    const text = readFileSync(join(cookbook, name), 'utf8');
    const { rules = [] } = JSON5.parse<{ rules?: Rule[] }>(text);
    if (basename(name).startsWith('_') || rules.length === 0 || rules.some((rule) => 'rules' in rule)) continue;
    if (/instances:|type: 'rest-api'|remote|keyboard/.test(text)) continue;
    const file = basename(name);
    const empty = editJson5(
      text,
      rules.map(() => ({ path: 'rules[0]', remove: true as const })),
    ).text; // the head of the file stays
    await desk.put(file, empty);
    for (const rule of rules) {
      try {
        await openNewRule(hand, file, rule === rules[0]);
        await enterRule(hand, rule);
        await takeOver(hand);
      } catch (error) {
        wrong.push(`${name}: ${rule.name}: ${String(error).slice(0, 600)}`);
        const rest = JSON5.parse<{ rules: Rule[] }>(await desk.read(file)).rules.length;
        await desk.put(file, editJson5(await desk.read(file), [{ path: `rules[${rest}]`, insert: rule }]).text);
      }
      entered++;
      const counted = hand.count();
      clicks += counted.clicks;
      keys += counted.keys;
      for (const one of counted.hesitations) hesitations.add(one);
      notify(`  ${name}: “${rule.name}”: ${counted.clicks} clicks, ${counted.keys} keys`);
    }
    const made = await desk.read(file);
    for (const [index, theirs] of rulesIn(text).entries()) {
      const ours = rulesIn(made)[index] ?? '';
      if (!readsAs(ours, theirs)) wrong.push(`${name}: expected ${theirs}\ngot ${ours}`);
    }
    await expectSound([desk.folder]);
    await desk.remove(file);
  }
  for (const one of hesitations) wrong.push(one);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return `${entered} rules, ${clicks} clicks, ${keys} keys`;
}

/** The text of each rule of a file. */
function rulesIn(text: string): string[] {
  const rules = readTree(text).children.find(({ key }) => key?.name === 'rules');
  return rules!.children.map(({ start, end }) => text.slice(start, end));
}

/** Whether a text is what a person wrote: byte for byte, unless that person broke lines otherwise than at 120 characters. */
function readsAs(ours: string, theirs: string): boolean {
  const joined = onOneLine(theirs);
  const isUsual = joined.length + indent < longestLine === !theirs.includes('\n');
  return isUsual ? ours === theirs : onOneLine(ours) === joined;
}

function onOneLine(text: string): string {
  return text
    .replace(/,?\s*\n\s*(?=[}\]])/g, (end) => (end.trimStart().startsWith(',') ? ' ' : end))
    .replace(/\s+/g, ' ')
    .replace(/\[ /g, '[')
    .replace(/ \]/g, ']');
}
