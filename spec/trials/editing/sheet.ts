// A rule as a person enters it in the rule sheet: part by part, from the top.

import { comparisonNames, readLiteral, readRows, renameIn } from '../../../lib/console/editor/conditions.ts';
import {
  isNamed,
  otherSteps,
  type Rule,
  type SourceEnd,
  sourcesOf,
  targetsOf,
  timeSteps,
} from '../../../lib/console/editor/rule-fields.ts';
import type { Hand } from './hand.ts';

/** Opens the sheet of a new rule: from Flows, or from the rule that was saved last. */
export async function openNewRule(hand: Hand, file: string, isFirst: boolean): Promise<void> {
  if (isFirst) {
    await hand.press('Flows');
    await hand.page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor();
  }
  await hand.press('+ Rule');
  await hand.page.getByRole('heading', { level: 1, name: 'New rule' }).waitFor();
  if (isFirst) await hand.press(file);
}

/** Saves the rule. Errors: what the sheet says against it. */
export async function takeOver(hand: Hand): Promise<void> {
  const { page } = hand;
  try {
    await hand.see('No errors');
  } catch (error) {
    throw new Error((await page.getByRole('alert').allTextContents()).join(' '), { cause: error });
  }
  await hand.press('Apply');
  await hand.see(/^Saved/);
  await page.getByRole('heading', { level: 1, name: 'Rule', exact: true }).waitFor();
}

/** Enters a rule into the open sheet of a new rule. */
export async function enterRule(hand: Hand, rule: Rule): Promise<void> {
  await hand.fill('Name', rule.name ?? '');
  await enterSources(hand, rule);
  if (rule.when !== undefined) await enterCondition(hand, rule.when);
  const [only, ...more] = sourcesOf(rule);
  const isOneNamed = isNamed(rule) && more.length === 0;
  if (isOneNamed) {
    await enterMap(hand, { from: only!.address, map: renameIn(rule.map ?? '', only!.name, 'value') });
  } else await enterMap(hand, rule);
  for (const [index, step] of (rule.pipe ?? []).entries()) await enterStep(hand, index + 1, step);
  await enterTargets(hand, rule);
  await enterMore(hand, rule);
  if (!isOneNamed) return;
  await hand.press('Add a name');
  await enterNames(hand, [only!]);
}

async function enterSources(hand: Hand, rule: Rule): Promise<void> {
  const ends = sourcesOf(rule);
  for (const [index, { address }] of ends.entries()) {
    if (index > 0) await hand.open('+ Source', `Source ${index + 1}`);
    await hand.fill(`Source ${index + 1}`, address);
    await hand.key('Tab');
  }
  if (!isNamed(rule) && ends.length > 1) return hand.press('Without names');
  if (isNamed(rule) && ends.length > 1) await enterNames(hand, ends);
}

async function enterNames(hand: Hand, ends: readonly SourceEnd[]): Promise<void> {
  for (const [index, { name }] of ends.entries()) {
    const label = `Name of source ${index + 1} in expressions`;
    if ((await hand.page.getByLabel(label).inputValue()) === name) continue;
    await hand.correct(label, name);
    await hand.key('Tab');
  }
}

async function enterCondition(hand: Hand, when: string): Promise<void> {
  await hand.press('+ Condition');
  const part = hand.page.getByRole('group', { name: 'only if', exact: true });
  await hand.click(part.getByRole('button', { name: 'Expression', exact: true }));
  await hand.fill('Condition as an expression', when);
}

async function enterMap(hand: Hand, { map, from }: Rule): Promise<void> {
  const kinds = hand.page.getByLabel('What it writes', { exact: true });
  if (map === undefined) return;
  const usual = typeof from === 'object' && !Array.isArray(from) ? Object.keys(from).join(' || ') : undefined;
  if (map === usual) return;
  const literal = readLiteral(map);
  if (literal !== undefined) {
    await hand.choose('What it writes', 'always the same');
    await hand.fill('Value to write', String(literal));
    await hand.key('Tab');
    return;
  }
  const [row, ...more] = readRows(map)?.rows ?? [];
  if (row !== undefined && more.length === 0 && /^[<>]=?$/.test(row.comparison)) {
    await hand.choose('What it writes', 'whether');
    await hand.choose('Row 1: comparison', comparisonNames[row.comparison]);
    await hand.fill('Row 1: value', String(row.values[0]));
    await hand.key('Tab');
    return;
  }
  if ((await kinds.inputValue()) === 'expression') return void (await hand.fill('Expression to write', map));
  await hand.choose('What it writes', 'an expression');
  await hand.fill('Expression to write', map);
}

async function enterStep(hand: Hand, number: number, step: Readonly<Record<string, unknown>>): Promise<void> {
  const [name = '', setting] = Object.entries(step)[0]!;
  await hand.open('+ Delay, hold, debounce …', `Step ${number}`);
  const words = typeof setting === 'object' ? undefined : { ...timeSteps, ...otherSteps }[name];
  await hand.choose(`Step ${number}`, words ?? 'another step');
  if (words === undefined) await hand.fill(`Step ${number} as JSON5`, JSON.stringify(step));
  else if (setting !== true)
    await hand.fill(
      `Step ${number}: ${name in timeSteps ? 'time, such as 2s or 1m30s' : 'expression'}`,
      String(setting),
    );
  await hand.key('Tab');
}

async function enterTargets(hand: Hand, rule: Rule): Promise<void> {
  const ends = targetsOf(rule);
  for (const [index, { address }] of ends.entries()) {
    if (index > 0) await hand.open('+ Destination', `Destination ${index + 1}`);
    await hand.fill(`Destination ${index + 1}`, address);
    await hand.key('Tab');
  }
  if (ends[0]!.expression === '') return;
  await hand.press('A value for each');
  for (const [index, { expression }] of ends.entries()) {
    await hand.correct(`Expression for destination ${index + 1}`, expression);
    await hand.key('Tab');
  }
}

async function enterMore(hand: Hand, { atStart, hear }: Rule): Promise<void> {
  if (atStart === undefined && hear === undefined) return;
  await hand.click(hand.page.getByText('More', { exact: true }));
  if (atStart === true) await hand.click(hand.page.getByLabel('Also run once when the hub starts'));
  if (hear === 'writes')
    await hand.click(hand.page.getByLabel('Also run when a source is written but its value stays the same'));
}
