// Runs the rounds of a case: every contender once per round, or once in each of its turns, in an order that is reversed each
// time, so that neither warmth nor the load of the machine favours one. What goes wrong is told, and the others go on.

import { messageOf } from '../../lib/model/error.ts';
import { type Summary, summarize } from '../../spec/support/statistics.ts';
import type { Case, Contender, Measurement, Role, Started } from './subject.ts';

export interface CaseResult {
  readonly name: string;
  readonly contenders: readonly ContenderResult[];
  /** What went wrong, one sentence each; empty when every answer of every round was right. */
  readonly mistakes: readonly string[];
}

export interface ContenderResult {
  readonly name: string;
  readonly role: Role;
  /** One per round, or turn of a round; undefined where it went wrong. */
  readonly samples: readonly (Measurement | undefined)[];
}

/** Runs a case; `tell` hears of each measurement as it is there. */
export async function runRounds(
  { name, contenders, turns }: Case,
  rounds: number,
  notify: (line: string) => void,
): Promise<CaseResult> {
  const samples = contenders.map((): (Measurement | undefined)[] => []);
  const mistakes: string[] = [];
  const attempt = async (title: string, work: () => Promise<string>): Promise<void> => {
    try {
      notify(`${title}: ${await work()}`);
    } catch (error) {
      mistakes.push(`${title}: ${messageOf(error)}`);
      notify(`${title}: WRONG: ${messageOf(error)}`);
    }
  };
  const measureAll = async (all: readonly Pick<Contender, 'measure'>[], title: string, number: number) => {
    const order = [...all.entries()];
    if (number % 2 === 1) order.reverse();
    for (const [index, contender] of order) {
      const { name: whose, rounds: most = rounds } = contenders[index]!;
      if (number >= most * (turns ?? 1)) continue;
      samples[index]![number] = undefined; // a round that goes wrong has its place too
      await attempt(`${title}, ${whose}`, async () => {
        const sample = await contender.measure();
        samples[index]![number] = sample;
        return formatSample(sample);
      });
    }
  };
  for (let round = 0; round < rounds; round++) {
    const title = `${name}, round ${round + 1}`;
    if (turns === undefined) await measureAll(contenders, title, round);
    else
      await attempt(title, () =>
        sideBySide(contenders, async (started) => {
          for (let turn = 0; turn < turns; turn++)
            await measureAll(started, `${title}, turn ${turn + 1}`, round * turns + turn);
          return `${turns} turns`;
        }),
      );
    if (contenders.some(({ isNeeded }, index) => isNeeded && !samples[index]!.some((sample) => sample !== undefined)))
      break;
  }
  return {
    name,
    mistakes,
    contenders: contenders.map((contender, index) => ({
      name: contender.name,
      role: contender.role,
      samples: samples[index]!,
    })),
  };
}

/** Starts all contenders, works with them and stops them, whatever happens. */
async function sideBySide<Result>(
  contenders: readonly Contender[],
  work: (started: readonly Started[]) => Promise<Result>,
): Promise<Result> {
  const started: Started[] = [];
  try {
    for (const { name, start } of contenders) {
      if (start === undefined) throw new Error(`expected ${name} to be one that is measured in turn with others`);
      started.push(await start());
    }
    return await work(started);
  } finally {
    await Promise.all(started.map(({ stop }) => stop()));
  }
}

/** A metric over all right rounds in which there was a figure; undefined when there is none. */
export function summaryOf({ samples }: ContenderResult, key: string): Summary | undefined {
  const values = samples.flatMap((sample) => sample?.[key] ?? []).filter(Number.isFinite);
  return values.length === 0 ? undefined : summarize(values);
}

/** What the one has of the other, round by round: two that ran side by side share the weather of the machine. */
export function ratioOf(one: ContenderResult, other: ContenderResult, key: string): Summary | undefined {
  const ratios = one.samples.flatMap((sample, round) => {
    const value = sample?.[key];
    const reference = other.samples[round]?.[key];
    return value === undefined || reference === undefined ? [] : value / reference;
  });
  const finite = ratios.filter(Number.isFinite);
  return finite.length === 0 ? undefined : summarize(finite);
}

function formatSample(sample: Measurement): string {
  return Object.entries(sample)
    .map(
      ([key, value]) =>
        `${key} ${Number.isFinite(value) ? Number(value.toPrecision(4)).toLocaleString('en') : 'unknown'}`,
    )
    .join(', ');
}
