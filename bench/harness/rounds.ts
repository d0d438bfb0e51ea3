// Runs the rounds of a case: every contender once per round, in an order that is reversed each round, so that neither
// warmth nor the load of the machine favours one. A round that goes wrong is told, and the others go on.

import { messageOf } from '../../lib/model/error.ts';
import { type Summary, summarize } from './statistics.ts';
import type { Case, Measurement, Role } from './subject.ts';

export interface CaseResult {
  readonly name: string;
  readonly contenders: readonly ContenderResult[];
  /** What went wrong, one sentence each; empty when every answer of every round was right. */
  readonly mistakes: readonly string[];
}

export interface ContenderResult {
  readonly name: string;
  readonly role: Role;
  /** One per round; undefined where the round went wrong. */
  readonly samples: readonly (Measurement | undefined)[];
}

/** Runs a case; `tell` hears of each measurement as it is there. */
export async function runRounds(
  { name, contenders }: Case,
  rounds: number,
  tell: (line: string) => void,
): Promise<CaseResult> {
  const samples = contenders.map((): (Measurement | undefined)[] => []);
  const mistakes: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = [...contenders.entries()];
    if (round % 2 === 1) order.reverse();
    for (const [index, contender] of order) {
      if (round >= (contender.rounds ?? rounds)) continue;
      const title = `${name}, round ${round + 1}, ${contender.name}`;
      try {
        const sample = await contender.measure();
        samples[index]![round] = sample;
        tell(`${title}: ${formatSample(sample)}`);
      } catch (error) {
        samples[index]![round] = undefined;
        mistakes.push(`${title}: ${messageOf(error)}`);
        tell(`${title}: WRONG: ${messageOf(error)}`);
      }
    }
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
