// Shadow mode as a user of the console sees it: rules are changed in the rule sheet of a running hub and tried in shadow while a studio
// works; then they are applied, and the same events happen again. The differences that the page listed must be those that then occur.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import JSON5 from 'json5';
import { type Hub, startHub } from '../../../lib/hub/index.ts';
import { counted, roundToSignificant } from '../../../lib/model/digits.ts';
import { keptDeviations } from '../../../lib/model/reports/reload-report.ts';
import type { Value } from '../../../lib/model/value.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import type { ShadowReport } from '../../../lib/wire/http/operation.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { desktop } from '../../support/browser/console.ts';
import { createLogRecorder } from '../../support/connection.ts';
import { inTemporaryFolder } from '../../support/folder.ts';
import { api, portsOf, writer } from '../../support/hub.ts';
import { Random } from '../../support/random.ts';
import { Hand } from '../editing/hand.ts';
import { notify } from '../trial.ts';
import { type Edit, nextWrites, randomEdit, type StudioRule, studioOfPage } from './studio.ts';

export interface PageOptions {
  readonly rounds: number;
  /** The number of the first round: a seed makes the same edit in the same round. */
  readonly first: number;
  readonly seed: number;
  /** How long the studio works in shadow, and again after the take-over, in virtual time. */
  readonly playedMs: number;
  /** How long something may take to be seen. */
  readonly deadlineMs: number;
}

/** A parameter has changed, or a trigger has fired. */
interface Event {
  readonly atMs: number;
  readonly address: string;
  readonly isTrigger: boolean;
  readonly value: Value;
}

interface Played {
  /** The values of all parameters before. */
  readonly before: ReadonlyMap<string, Value | undefined>;
  readonly events: readonly Event[];
}

/** Between two rounds everything comes to rest, and timers with pulses begin anew. */
const restMs = 60_000;
const shownAtMost = 20;
/** How many digits of a number the console shows. */
const shownDigits = 7;
const file = 'studio.json5';

/** Resolves to whether the page was right in every round. */
export function compareAtPage(options: PageOptions): Promise<boolean> {
  return inTemporaryFolder('shadow-page', async (folder) => {
    const clock = new VirtualClock();
    const epochMs = Math.ceil(Date.now() / restMs) * restMs;
    const now = () => epochMs + clock.now();
    await writeFile(join(folder, 'api.json5'), JSON5.stringify({ connections: { api } }));
    await writeFile(join(folder, file), textOf(studioOfPage.rules));
    const log = createLogRecorder();
    const hub = await startHub({ paths: [folder], log, scheduler: clock, now });
    const browser = await launchBrowser();
    try {
      const context = await browser.newContext({ viewport: desktop });
      context.setDefaultTimeout(options.deadlineMs);
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${portsOf(log)[0]}/hub/#/connections`);
      const desk = { hub, clock, hand: new Hand(page), folder };
      let [failed, all, silent] = [0, 0, 0];
      for (let round = options.first; round < options.first + options.rounds; round++) {
        const { about, difference, deviations } = await tryRound(desk, new Random(options.seed, round), options);
        if (difference !== undefined) failed++;
        if (deviations === 0) silent++;
        all += deviations;
        notify(`| ${round}: ${about} | ${deviations} | ${difference ?? 'as the page has listed'} |`);
      }
      notify(`${options.rounds} changes at the page, ${silent} without a difference, ${all} differences`);
      if (all === 0) notify('no change of a rule has changed anything');
      return failed === 0 && all > 0;
    } finally {
      await browser.close();
      await hub.stop();
    }
  });
}

interface Desk {
  readonly hub: Hub;
  readonly clock: VirtualClock;
  readonly hand: Hand;
  readonly folder: string;
}

async function tryRound(desk: Desk, random: Random, options: PageOptions) {
  const { hub, hand, folder } = desk;
  await writeFile(join(folder, file), textOf(studioOfPage.rules));
  await hub.reload();
  let edit: Edit;
  do edit = randomEdit(random);
  while (!(await enter(hand, edit)));
  const inputs = draw(random, options.playedMs);

  rest(desk);
  const live = begin(desk);
  await hand.pressWhenReady('Try in shadow');
  await hand.page.getByText(/^In shadow since \d/).waitFor();
  play(desk, inputs, options.playedMs);
  const { count, deviations, shown } = await listed(desk);
  const done = live.end();

  rest(desk);
  const taken = begin(desk);
  await hand.pressWhenReady('Apply');
  if (edit.rule !== undefined) await hand.see(/^Saved/);
  else await hand.page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor();
  play(desk, inputs, options.playedMs);
  const would = taken.end();

  const expected = differences(done, would);
  return {
    about: edit.about,
    deviations: expected.length,
    difference: firstDifference(done, would, expected, { count, deviations, shown }),
  };
}

/** What is not as it should be; undefined: all is. */
function firstDifference(
  done: Played,
  would: Played,
  expected: readonly string[],
  { count, deviations, shown }: Listed,
): string | undefined {
  const moved = [...done.before].find(([address, value]) => would.before.get(address) !== value);
  if (moved !== undefined)
    return `**no comparison: ${moved[0]} was ${moved[1]}, later ${would.before.get(moved[0])}, before anything happened**`;
  const listed = deviations.toSorted();
  const kept = count <= keptDeviations ? expected : expected.filter((line) => listed.includes(line));
  const at = kept.findIndex((line, index) => line !== listed[index]);
  if (at >= 0 || kept.length !== listed.length) {
    const place = at < 0 ? kept.length : at;
    return `**${kept.length} and ${listed.length} listed, at ${place}: ${kept[place]}, listed: ${listed[place]}**`;
  }
  if (count !== expected.length) return `**${expected.length} differences, ${count} counted**`;
  const newest = deviations.slice(-shownAtMost).map((line) => line.replace(/^\d+ /, ''));
  return isDeepStrictEqual(shown, newest.reverse())
    ? undefined
    : `**the page shows ${JSON.stringify(shown)}, expected ${JSON.stringify(newest)}**`;
}

/** Opens the sheet of the rule and makes the edit there. Returns whether the hub has no objection. */
async function enter(hand: Hand, edit: Edit): Promise<boolean> {
  const { page } = hand;
  await hand.press('Flows');
  await page.getByRole('heading', { level: 1, name: 'Flows' }).waitFor();
  await hand.press('List');
  if (edit.opened === undefined) {
    await hand.press('+ Rule');
    await page.getByRole('heading', { level: 1, name: 'New rule' }).waitFor();
    await hand.press(file);
  } else {
    await hand.click(page.getByRole('link', { name: `Edit ${edit.opened}`, exact: true }));
    await page.getByRole('heading', { level: 1, name: 'Rule', exact: true }).waitFor();
  }
  if (edit.rule === undefined) await hand.press('Delete the rule');
  else {
    await hand.click(page.getByLabel('JSON5 of the rule'));
    await hand.key('ControlOrMeta+a');
    await hand.type(JSON5.stringify(edit.rule));
  }
  const objection = page.locator('.save .error').first();
  const agreement = page.locator('.save .holds');
  await agreement.or(objection).first().waitFor();
  if (await agreement.isVisible()) return true;
  const text = await objection.textContent();
  if (!/loop|itself|circle|type|expected|unknown name/.test(text ?? '')) throw new Error(`${edit.about}: ${text}`);
  await hand.press('Discard');
  return false;
}

/** Brings the studio to the state from which a comparison starts. */
function rest({ hub, clock }: Desk): void {
  for (const values of studioOfPage.exercise) {
    hub.turn(() => {
      for (const [address, value] of Object.entries(values)) hub.write(address, value, writer);
    });
    clock.advanceTo(clock.now() + restMs);
  }
  clock.advanceTo(Math.ceil((clock.now() + 1) / restMs) * restMs);
}

function begin({ hub, clock }: Desk): { end(): Played } {
  const sinceMs = clock.now();
  const before = new Map([...hub.parameters()].map(({ address, value }) => [address, value]));
  const events: Event[] = [];
  const subscription = hub.changes$.subscribe(({ parameter, value }) => {
    const { address, type } = parameter;
    events.push({ atMs: clock.now() - sinceMs, address, isTrigger: type === 'T', value });
  });
  const end = () => {
    subscription.unsubscribe();
    return { before, events };
  };
  return { end };
}

type Inputs = readonly { readonly atMs: number; readonly writes: readonly (readonly [string, unknown])[] }[];

function draw(random: Random, playedMs: number): Inputs {
  const inputs: { atMs: number; writes: [string, unknown][] }[] = [];
  for (let atMs = 0; ; ) {
    const { afterMs, writes } = nextWrites(random);
    atMs += afterMs;
    if (atMs >= playedMs) return inputs;
    inputs.push({ atMs, writes });
  }
}

function play({ hub, clock }: Desk, inputs: Inputs, playedMs: number): void {
  const startMs = clock.now();
  for (const { atMs, writes } of inputs) {
    clock.advanceTo(startMs + atMs);
    hub.turn(() => {
      for (const [address, value] of writes) hub.write(address, value, writer);
    });
  }
  clock.advanceTo(startMs + playedMs);
}

/** The differences as the hub answers the page, and those that the page shows, which are the newest ones. */
interface Listed {
  readonly count: number;
  readonly deviations: readonly string[];
  readonly shown: readonly string[];
}

async function listed({ hub, hand }: Desk): Promise<Listed> {
  const { page } = hand;
  const count = hub.shadow()?.count ?? 0;
  const text = count === 0 ? 'No differences so far.' : `${counted(count, 'difference')} so far.`;
  await page.getByText(text).waitFor();
  const report = await page.evaluate<ShadowReport>("fetch('/hub/shadow').then((answer) => answer.json())");
  const sinceMs = Date.parse(report.since);
  const deviations = report.deviations.map(({ time, parameter, done, would }) =>
    lineOf(Date.parse(time) - sinceMs, parameter, done.value, would.value),
  );
  const items = await page.locator('section.shadow li').allTextContents();
  const shown = items.map((text) => text.replace(/^\S+ /, '').replaceAll(',', ''));
  return { count, deviations, shown };
}

/** What is different in the second run, moment by moment: `1200 desk/lamp is true would be false`, in the order of texts. */
function differences(done: Played, would: Played): string[] {
  const lines: string[] = [];
  for (const address of new Set([...done.events, ...would.events].map((event) => event.address))) {
    const [a, b] = [done.events, would.events].map((events) => events.filter((event) => event.address === address));
    let [is, be] = [done.before.get(address), would.before.get(address)];
    for (const atMs of new Set([...a!, ...b!].map((event) => event.atMs).sort((one, other) => one - other))) {
      const [here, there] = [a!, b!].map((events) => events.filter((event) => event.atMs === atMs));
      const isTrigger = [...here!, ...there!][0]!.isTrigger;
      const [wasEqual, before] = [is === be, [is, be]];
      [is, be] = isTrigger ? [here!.length, there!.length] : [here!.at(-1)?.value ?? is, there!.at(-1)?.value ?? be];
      const hasChanged = isTrigger || is !== before[0] || be !== before[1];
      if (hasChanged && (is !== be || !(isTrigger || wasEqual))) lines.push(lineOf(atMs, address, is, be));
    }
  }
  return lines.sort();
}

function lineOf(atMs: number, address: string, done: Value | null | undefined, would: Value | null | undefined) {
  return `${atMs} ${address} is ${shownValue(done)} would be ${shownValue(would)}`;
}

function shownValue(value: Value | null | undefined): string {
  if (value === undefined || value === null || value === '') return 'unknown';
  return String(typeof value === 'number' ? roundToSignificant(value, shownDigits) : value);
}

function textOf(rules: readonly StudioRule[]): string {
  return JSON5.stringify({ connections: studioOfPage.connections, rules }, undefined, 2);
}
